package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
)

// Seed is that of a run which is given none.
const Seed = 1

// Input holds what the commands on one algorithm share: the network.
type Input struct {
	IDs        string
	N          int
	Order      string
	first      uint64
	Seed       uint64
	Parameters []string
	Duplicates bool
	Start      string
	Streamed   bool // rings are not written out, so that they may be larger than networks are
	shape
	ballots
}

// Flags adds the flags for the network.
func (in *Input) Flags(command *cobra.Command, p *Program) {
	f := command.Flags()
	f.StringVar(&in.IDs, "ids", "", "identifiers, clockwise on a ring: 5,4,3,2,1")
	option.Number(f, &in.N, "n", "n", 0, "number of processes, with identifiers 1 … n in --order, or from --first on")
	f.StringVar(&in.Order, "order", "", "order of identifiers: "+strings.Join(order.Names[:], ", ")+" (default increasing)")
	option.Number(f, &in.first, "first", "", 1, "smallest identifier with --n; the others are consecutive")
	option.Number(f, &in.Seed, "seed", "", Seed, "seed of everything random: order, schedule, delays, choices")
	f.StringSliceVar(&in.Parameters, "param", nil, "parameter of the algorithm: name=value, repeated or comma-separated")
	in.shape.flags(command)
	in.ballots.flags(command)
	option.Offer(command, "order", order.Names[:]...)
}

// Setup reads the arrangement of identifiers, and the parameters.
func (in *Input) Setup(e *catalogue.Entry) (network.Setup, error) {
	i := network.Setup{Duplicates: in.Duplicates}
	var err error
	if i.Parameters, err = Pairs(in.Parameters); err != nil {
		return i, err
	}
	if i.IDs, err = in.arrangement(e); err != nil {
		return i, err
	}
	if !in.Streamed || in.orientation != agreed { // before anything is made that is as large
		if err := network.Check(e.Topology, i.IDs.Len()); err != nil {
			return i, fmt.Errorf("cannot run %s: %w", e.Name, err)
		}
	}
	if err := in.fit(e, &i, in.Seed); err != nil {
		return i, err
	}
	if in.votes == "" && in.Scores == "" { // then no list of them all is needed
		return i, nil
	}
	return i, in.read(e, &i, in.Given(i))
}

// arrangement reads the identifiers, position by position.
func (in *Input) arrangement(e *catalogue.Entry) (election.Arrangement, error) {
	arranged := in.Order != "" || in.first != 1
	switch {
	case e.Identifiers == election.Anonymous && (in.IDs != "" || arranged):
		return nil, fmt.Errorf("%s has no identifiers, so --ids, --order and --first have no effect; give the number of processes with --n", e.Name)
	case e.Identifiers == election.Anonymous && in.N > 0:
		return nameless(in.N), nil
	case in.IDs != "" && (in.N != 0 || arranged):
		return nil, errors.New("--ids gives all identifiers; leave out --n, --order and --first")
	case in.IDs != "":
		return in.listed(e)
	case in.N == 0:
		return nil, errors.New("processes are missing: --ids 5,4,3,2,1, or --n 5 with an --order; at least 1 is needed")
	}
	return in.ordered(e)
}

// listed reads the identifiers of --ids.
func (in *Input) listed(e *catalogue.Entry) (election.Arrangement, error) {
	ids, err := numbers(in.IDs)
	if err != nil {
		return nil, fmt.Errorf("--ids: %w", err)
	}
	if e.Topology == election.Complete {
		slices.Sort(ids) // as positions are there
	}
	return election.List(ids), nil
}

// ordered makes the identifiers that --n, --order and --first ask for.
func (in *Input) ordered(e *catalogue.Entry) (election.Arrangement, error) {
	name := in.Order
	if name == "" {
		name = order.Names[0]
	}
	if e.Topology == election.Complete && name != order.Names[0] {
		return nil, fmt.Errorf("a complete graph has no order of processes, so --order %s has no effect", name)
	}
	ids, err := order.Parse(name, in.N, in.Seed)
	if err != nil {
		return nil, err
	}
	moved, err := ids.From(in.first)
	if err != nil {
		return nil, err
	}
	return order.Accepted(e.Declaration, moved, in.first), nil
}

// Size is the number of processes that the flags ask for.
func (in *Input) Size() int {
	if in.IDs == "" {
		return in.N
	}
	return strings.Count(in.IDs, ",") + 1
}

// Given returns the identifiers by position, before a complete graph sorts them.
func (in *Input) Given(i network.Setup) []uint64 {
	if ids, err := numbers(in.IDs); err == nil {
		return ids
	}
	ids := make([]uint64, i.IDs.Len())
	for q := range ids {
		ids[q] = i.IDs.At(q)
	}
	return ids
}

// nameless is a number of processes without identifiers, which positions name.
type nameless int

func (n nameless) Len() int               { return int(n) }
func (n nameless) At(position int) uint64 { return uint64(position) }
func (n nameless) Dense() bool            { return false }

// positions returns the positions of the identifiers of a list; without identifiers, the list is of positions.
func positions(i network.Setup, list string) ([]int, error) {
	ids, err := numbers(list)
	if err != nil {
		return nil, err
	}
	var found []int
	for _, id := range ids {
		before := len(found)
		for p := range i.IDs.Len() {
			if i.IDs.At(p) == id {
				found = append(found, p)
			}
		}
		if len(found) == before {
			return nil, fmt.Errorf("there is no process %d; %s", id, network.Extent(i.IDs))
		}
	}
	return found, nil
}

// Initiators returns the initiators of --start, by position, which is the order of their starts.
func (in *Input) Initiators(i network.Setup) (starters []int, anyTime bool, err error) {
	switch in.Start {
	case "", "all":
		return nil, false, nil
	case "any":
		return nil, true, nil
	}
	starters, err = positions(i, in.Start)
	if err != nil {
		return nil, false, fmt.Errorf("--start: %w", err)
	}
	slices.Sort(starters)
	return slices.Compact(starters), false, nil
}

func numbers(list string) ([]uint64, error) {
	var all []uint64
	for text := range strings.SplitSeq(list, ",") {
		number, err := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%.40q is not an identifier; they are natural numbers up to 2^64 - 1", strings.TrimSpace(text))
		}
		all = append(all, number)
	}
	return all, nil
}

// Pairs reads parameters, each as name=value.
func Pairs(list []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range list {
		name, value, found := strings.Cut(text, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("--param %q is not name=value", text)
		}
		if _, twice := all[name]; twice {
			return nil, fmt.Errorf("--param %s is given twice", name)
		}
		all[name] = value
	}
	return all, nil
}

// Word returns the index of a word among those that a flag takes.
func Word(flag, given string, words ...string) (int, error) {
	if i := slices.Index(words, given); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("--%s is one of %s, not %q", flag, strings.Join(words, ", "), given)
}

// Subject returns the part of the input that results show.
func (in *Input) Subject(e *catalogue.Entry) report.Subject {
	return report.Subject{Entry: e, Listed: in.IDs != "", Order: in.Order, First: in.first, Seed: in.Seed, Start: cmp.Or(in.Start, "all")}
}
