package reproduce

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// subject is what S2 and S4 speak of: an algorithm among processes, of whom some start. Runs and checks of it can
// be written as calls of the command line, so that whoever reads a row can see for themselves what it found.
type subject struct {
	algorithm string
	ids       []uint64 // clockwise on a ring, increasing on a complete graph
	set       []string // parameters, as name=value
	start     []uint64 // who starts before anything is delivered; nil: all
	anyTime   bool     // the schedule decides who starts when
}

// upTo is 1 … n.
func upTo(n int) []uint64 {
	ids := make([]uint64, n)
	for p := range ids {
		ids[p] = uint64(p) + 1
	}
	return ids
}

// among is an algorithm among 1 … n.
func among(n int, algorithm string, set ...string) subject {
	return subject{algorithm: algorithm, ids: upTo(n), set: set}
}

// starting is the subject when only these start.
func (s subject) starting(ids ...uint64) subject {
	s.start = ids
	return s
}

func (s *subject) instance() network.Setup {
	i := network.On(s.ids...)
	i.Parameters = map[string]string{}
	for _, text := range s.set {
		name, value, _ := strings.Cut(text, "=")
		i.Parameters[name] = value
	}
	return i
}

// initiators are the positions of those that start.
func (s *subject) initiators() (positions []int) {
	for _, id := range s.start {
		positions = append(positions, slices.Index(s.ids, id))
	}
	return positions
}

// call is what the calls that are about the subject have in common.
func (s *subject) call(command string) []string {
	words := []string{"ringleader", command, s.algorithm}
	if slices.Equal(s.ids, upTo(len(s.ids))) {
		words = append(words, "--n", fmt.Sprint(len(s.ids)))
	} else {
		words = append(words, "--ids", numbers(s.ids))
	}
	switch {
	case s.anyTime:
		words = append(words, "--start", "any")
	case s.start != nil:
		words = append(words, "--start", numbers(s.start))
	}
	if len(s.set) > 0 {
		words = append(words, "--param", strings.Join(s.set, ","))
	}
	return words
}

// numbers is a list as the command line has it.
func numbers(ids []uint64) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", ",")
}

// trial is one run of a subject.
type trial struct {
	subject
	faults   []string // a line each, as faults.Reader reads them
	schedule simulate.Schedule
	delay    uint64
	limit    uint64
	until    uint64
	seed     uint64
	equal    bool // identifiers may be
	record   bool
}

// run is a trial of the subject under these faults.
func (s subject) run(faults ...string) trial { return trial{subject: s, faults: faults, seed: 1} }

// recorded is the trial with a record.
func (t trial) recorded() trial {
	t.record = true
	return t
}

// options are those of the simulation.
func (t *trial) options() simulate.Options {
	o := simulate.Options{
		Instance: t.instance(), Initiators: t.initiators(), AnyTime: t.anyTime, Schedule: t.schedule, Delay: t.delay,
		Seed: t.seed, Limit: t.limit, Until: election.Units(t.until), Record: t.record,
	}
	o.Instance.Duplicates = t.equal
	r := faults.NewReader(o.Instance.IDs)
	for _, line := range t.faults {
		must(0, r.Line(line))
	}
	o.Faults = r.Script
	return o
}

// replay is the call that does the same.
func (t *trial) replay() string {
	words := t.call("run")
	for _, flag := range []struct {
		name  string
		value uint64
		usual uint64
	}{{"delay", t.delay, 0}, {"limit", t.limit, 0}, {"until", t.until, 0}, {"seed", t.seed, 1}} {
		if flag.value != flag.usual {
			words = append(words, "--"+flag.name, fmt.Sprint(flag.value))
		}
	}
	if t.schedule != simulate.FIFO {
		words = append(words, "--schedule", t.schedule.String())
	}
	if t.equal {
		words = append(words, "--allow-duplicate-ids")
	}
	for _, line := range t.faults {
		words = append(words, "--fault", "'"+line+"'")
	}
	return strings.Join(words, " ")
}

// recordedSteps are more than any recorded trial takes in which nothing is amiss. With an error in the algorithm one need
// not end, and its states may grow.
const recordedSteps = 2000

// run runs a trial.
func (b *Bench) run(t trial) *simulate.Result {
	o := t.options()
	if t.record && o.Limit == 0 {
		o.Limit = recordedSteps
	}
	return b.simulate(t.algorithm, o)
}

// proof is a check of every schedule of a subject; of 1 … n in every order on a ring.
type proof struct {
	subject
	everySet   bool // each set of processes starts in turn
	crashes    int
	recoveries int
	delay      int
}

// options are those of the checker.
func (p *proof) options() verify.Options {
	o := verify.Options{
		Instance: p.instance(), Initiators: p.initiators(), Crashes: p.crashes, Recoveries: p.recoveries, Delay: p.delay,
	}
	switch {
	case p.everySet:
		o.Starts = verify.EverySet
	case p.anyTime:
		o.Starts = verify.AnyTime
	}
	if slices.Equal(p.ids, upTo(len(p.ids))) {
		o.Size, o.Instance.IDs = len(p.ids), nil
	}
	return o
}

// replay is the call that does the same.
func (p *proof) replay() string {
	words := p.call("verify")
	if p.everySet {
		words = append(words, "--start", "every-set")
	}
	for _, flag := range []struct {
		name  string
		value int
	}{{"crash", p.crashes}, {"recover", p.recoveries}, {"delay", p.delay}} {
		if flag.value != 0 {
			words = append(words, "--"+flag.name, fmt.Sprint(flag.value))
		}
	}
	return strings.Join(words, " ")
}

// prove checks every schedule, and says what is violated; "" if nothing is.
func (b *Bench) prove(p proof) (report *verify.Report, violation string) {
	report = b.verify(p.algorithm, p.options())
	switch {
	case report.Violation != nil:
		violation = report.Violation.Property + ": " + report.Violation.Detail
	case !report.Complete:
		violation = fmt.Sprintf("not finished after %d states", report.States)
	}
	return report, violation
}

// end says how a run ended, with identifiers of the processes: right, or what is wrong.
func end(r *simulate.Result) string {
	switch {
	case len(r.Leaders) > 1:
		var ids []string
		for _, p := range r.Leaders {
			ids = append(ids, fmt.Sprint(r.Prepared.Real(p)))
		}
		return strings.Join(ids, " and ") + " lead"
	case !r.Complete:
		return "it does not end"
	case len(r.Leaders) == 0:
		return "nobody leads"
	case r.Right:
		return right
	case r.Decided < r.Live && r.Prepared.Declaration().Decides == election.EveryProcess:
		return "somebody is undecided"
	case !r.Agreed:
		return "somebody follows another"
	}
	return fmt.Sprintf("%d leads, which is not the one", r.Prepared.Real(r.Leaders[0]))
}

// right is the end of a run that went well.
const right = "right"

// sends are the messages of a kind that a step sent.
func sentOf(s *trace.Step, kind string) (sent []trace.Sent) {
	for _, m := range s.Sent {
		if m.Kind == kind {
			sent = append(sent, m)
		}
	}
	return sent
}

// receivers are the identifiers of those that messages went to.
func receivers(r *trace.Record, sent []trace.Sent) (ids []uint64) {
	for _, m := range sent {
		ids = append(ids, r.IDs[m.To])
	}
	return ids
}

// leads says whether a step made its process the leader.
func leads(s *trace.Step) bool {
	return slices.ContainsFunc(s.Decided, func(d trace.Decision) bool { return d.Role == "leader" })
}

// subsets yields the non-empty subsets of some identifiers, in their order.
func subsets(ids []uint64) iter.Seq[[]uint64] {
	return func(yield func([]uint64) bool) {
		for set := 1; set < 1<<len(ids); set++ {
			var chosen []uint64
			for i, id := range ids {
				if set>>i&1 == 1 {
					chosen = append(chosen, id)
				}
			}
			if !yield(chosen) {
				return
			}
		}
	}
}
