//go:build linux

// Failover measures how long groups of processes are without a leader, for ringleader and for other systems, in one run:
// after kill -9, SIGSTOP and SIGTERM of the leader, a loop inside of it, cuts of its network, and a frozen disk. It also counts changes of leaders that no
// fault asks for, and what a group costs that does nothing. README.md beside it explains what is compared.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ringleader.example/ringleader/internal/serve/certificates"
)

const usage = `Failover measures the time without a leader, for ringleader and for other systems.

  go run . [flags]

Each node is a process of its own. The systems take turns: in each round each of them is started, and faults happen to its
leader, again and again until its slice of time is used up, each at least once. The table holds the median in ms, the least
and the greatest, how many there were, the ratio to the first system's median, and for how long two led at worst.

Faults: kill, stop (SIGSTOP), hang (a loop inside of it), term (SIGTERM), cut (off), in (nothing reaches it), out (it reaches
nothing), disk (its file system is frozen).

As root, each node has a network namespace of its own (ip and nft must be installed), and for the fault disk a file system of
its own (mkfs.ext4 and fsfreeze); otherwise all are on loopback, nothing is cut, and nothing frozen. The folder must be bench/failover of the source tree: the nodes are built first, which takes minutes
where the build cache is empty.

Examples:
  go run . --systems ringleader --rounds 1 --slice 10s       only ringleader, quickly
  go run . --systems ringleader,etcd-10-100 --parts failover
  go run . --systems ringleader --faults kill --rounds 1 --slice 3m --most 100
  go run . --systems ringleader,etcd-10-100 --members 3 --parts failover --faults hang,cut,in,out,disk
  go run . --parts steady --steady 10m --systems ringleader  no fault: all cores loaded, loss, a cut link
  go run . --json results.json --svg results.svg             all; half an hour
  go run . --systems ringleader-unrecorded,ringleader --members 3 --parts failover --faults kill --rounds 60 --slice 20s
                                                             what the record costs a failover; 46 minutes
  go run . --systems ringleader-unrecorded,ringleader --members 3 --parts idle --idle 30s --idle-rounds 20
                                                             what it costs an idle group; 23 minutes
  go run . --draw results.json --svg results.svg             only draws and prints earlier results

Systems: %s

Flags:
`

// options are the flags.
type options struct {
	Systems       []string      `json:"systems"`
	Parts         []string      `json:"parts"`
	Faults        []string      `json:"faults"`
	States        []string      `json:"steady_states"`
	Members       []int         `json:"members"`
	OthersMembers []int         `json:"members_of_others"`
	Rounds        int           `json:"rounds"`
	Slice         time.Duration `json:"slice_ns"`
	Most          int           `json:"most_of_a_fault_in_a_slice"`
	Steady        time.Duration `json:"steady_ns"`
	Idle          time.Duration `json:"idle_ns"`
	IdleRounds    int           `json:"idle_rounds"`
	Namespaces    bool          `json:"network_namespaces"`

	json, svg, draw, markdown string
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == burn {
		for sum := [sha256.Size]byte{}; ; {
			sum = sha256.Sum256(sum[:])
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "failover:", err)
		os.Exit(1)
	}
}

func parse(arguments []string) (o options, err error) {
	flags := flag.NewFlagSet("failover", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), usage, strings.Join(names(), ", "))
		flags.PrintDefaults()
	}
	chosen := flags.String("systems", strings.Join(names(), ","), "what is measured; the ratios are to the first one")
	parts := flags.String("parts", "failover,steady,idle", "what is measured of each")
	chosenFaults := flags.String("faults", strings.Join(faults, ","), "what happens to leaders")
	chosenStates := flags.String("states", strings.Join(states, ","), "the steady states")
	members := flags.String("members", "3,5,25", "the sizes of groups of ringleader")
	others := flags.String("others-members", "3", "the sizes of groups of the other systems")
	flags.IntVar(&o.Rounds, "rounds", 5, "how often each system has its turn")
	flags.DurationVar(&o.Slice, "slice", 12*time.Second, "how long a turn is")
	flags.IntVar(&o.Most, "most", 25, "the most faults of one kind in a turn")
	flags.DurationVar(&o.Steady, "steady", 30*time.Second, "how long each steady state lasts")
	flags.DurationVar(&o.Idle, "idle", 10*time.Second, "for how long an idle group is watched")
	flags.IntVar(&o.IdleRounds, "idle-rounds", 1, "how often an idle group of each system is watched, in turn")
	flags.BoolVar(&o.Namespaces, "namespaces", os.Geteuid() == 0, "each node has a network namespace, so that it can be cut off; only as root")
	flags.StringVar(&o.json, "json", "", "write the results into this `file`")
	flags.StringVar(&o.svg, "svg", "", "draw the results into this `file`, .svg, .png or .pdf")
	flags.StringVar(&o.markdown, "markdown", "", "write the tables into this `file`, as Markdown")
	flags.StringVar(&o.draw, "draw", "", "measure nothing; read the results from this JSON `file`")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	for _, list := range []struct {
		flag, text string
		valid      []string
		into       *[]string
	}{
		{"systems", *chosen, names(), &o.Systems},
		{"parts", *parts, []string{"failover", "steady", "idle"}, &o.Parts},
		{"faults", *chosenFaults, faults, &o.Faults},
		{"states", *chosenStates, states, &o.States},
	} {
		*list.into = strings.Split(list.text, ",")
		for _, name := range *list.into {
			if !slices.Contains(list.valid, name) {
				return o, fmt.Errorf("--%s: %q is none of %s", list.flag, name, strings.Join(list.valid, ", "))
			}
		}
	}
	for text, sizes := range map[*string]*[]int{members: &o.Members, others: &o.OthersMembers} {
		for field := range strings.SplitSeq(*text, ",") {
			n, err := strconv.Atoi(field)
			if err != nil || n < 3 || n > 200 {
				return o, fmt.Errorf("a group has from 3 to 200 members, not %q", field)
			}
			*sizes = append(*sizes, n)
		}
	}
	return o, nil
}

func run(ctx context.Context, arguments []string) error {
	o, err := parse(arguments)
	if err != nil {
		return err
	}
	var r *results
	if o.draw != "" {
		r, err = read(o.draw)
	} else {
		r, err = measure(ctx, o)
	}
	if r != nil { // what has been measured until an interruption is shown, too
		tables := r.tables()
		show(os.Stdout, tables)
		err = errors.Join(err, r.write(o.json), r.drawTo(o.svg), mark(o.markdown, tables))
	}
	return err
}

// bench holds what the parts share.
type bench struct {
	options
	folder  string // for binaries and data
	noDisks string // why no file system can be frozen here; empty: they can
	systems
	*results
}

func measure(ctx context.Context, o options) (*results, error) {
	folder, err := os.MkdirTemp("", "bench-failover")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	b := &bench{options: o, folder: folder, results: &results{Options: o, Machine: describe()}}
	b.systems, b.Problems = choose(o.Systems, o.Namespaces)
	if slices.Contains(o.Parts, "failover") && slices.Contains(o.Faults, disk) {
		if b.noDisks = tryDisk(folder); b.noDisks != "" {
			b.Problems = append(b.Problems, "the fault disk is skipped: "+b.noDisks)
		}
	}
	for _, line := range b.Problems {
		fmt.Fprintln(os.Stderr, line)
	}
	if err := b.build(ctx); err != nil {
		return nil, err
	}
	certified := certificates.Order{Directory: filepath.Join(folder, "tls"), Group: group, Lasts: 24 * time.Hour}
	for id := range max(severedMembers, slices.Max(o.Members)) {
		certified.IDs = append(certified.IDs, uint64(id+1))
	}
	if _, err := certificates.Make(certified); err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"idle", b.idle}, {"failover", b.failover}, {"steady", b.steady}} {
		if slices.Contains(o.Parts, part.name) {
			if err := part.run(ctx); err != nil {
				return b.results, err
			}
		}
	}
	b.Machine.LoadAfter = load()
	return b.results, nil
}

func (r *results) write(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

func read(path string) (*results, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(results)
	return r, json.Unmarshal(text, r)
}
