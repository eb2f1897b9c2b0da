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

// Subject is the subject of statements of S2 and S4: an algorithm among processes, some of which initiate. Its runs
// and checks can be written as calls of the command line, with which a reader can repeat a row.
type Subject struct {
	Algorithm string
	IDs       []uint64 // clockwise on a ring, increasing on a complete graph
	Set       []string // parameters, as name=value
	Start     []uint64 // the initiators, before any delivery; nil: all
	AnyTime   bool     // the schedule decides when each process starts
}

// UpTo returns 1 … n.
func UpTo(n int) []uint64 {
	ids := make([]uint64, n)
	for p := range ids {
		ids[p] = uint64(p) + 1
	}
	return ids
}

// Among returns an algorithm among 1 … n.
func Among(n int, algorithm string, set ...string) Subject {
	return Subject{Algorithm: algorithm, IDs: UpTo(n), Set: set}
}

// Starting returns the subject with only these initiators.
func (s Subject) Starting(ids ...uint64) Subject {
	s.Start = ids
	return s
}

// Setup returns the network that the subject runs on.
func (s *Subject) Setup() network.Setup {
	i := network.On(s.IDs...)
	i.Parameters = map[string]string{}
	for _, text := range s.Set {
		name, value, _ := strings.Cut(text, "=")
		i.Parameters[name] = value
	}
	return i
}

// Initiators returns the positions of the initiators.
func (s *Subject) Initiators() (positions []int) {
	for _, id := range s.Start {
		positions = append(positions, slices.Index(s.IDs, id))
	}
	return positions
}

// Call returns the common part of calls about the subject.
func (s *Subject) Call(command string) []string {
	words := []string{"ringleader", command, s.Algorithm}
	if slices.Equal(s.IDs, UpTo(len(s.IDs))) {
		words = append(words, "--n", fmt.Sprint(len(s.IDs)))
	} else {
		words = append(words, "--ids", Numbers(s.IDs))
	}
	switch {
	case s.AnyTime:
		words = append(words, "--start", "any")
	case s.Start != nil:
		words = append(words, "--start", Numbers(s.Start))
	}
	if len(s.Set) > 0 {
		words = append(words, "--param", strings.Join(s.Set, ","))
	}
	return words
}

// Numbers returns a list in the command line's form.
func Numbers(ids []uint64) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(ids), "[]"), " ", ",")
}

// Trial is one run of a subject.
type Trial struct {
	Subject
	Faults   []string // a line each, as faults.Reader reads them
	Schedule simulate.Schedule
	Delay    uint64
	Limit    uint64
	Until    uint64
	Seed     uint64
	Equal    bool // identifiers may be
	Record   bool
}

// Run returns a trial of the subject under these faults.
func (s Subject) Run(faults ...string) Trial { return Trial{Subject: s, Faults: faults, Seed: 1} }

// Recorded returns the trial with a record.
func (t Trial) Recorded() Trial {
	t.Record = true
	return t
}

// Options returns the options of the simulation.
func (t *Trial) Options() simulate.Options {
	o := simulate.Options{
		Setup: t.Setup(), Initiators: t.Initiators(), AnyTime: t.AnyTime, Schedule: t.Schedule, Delay: t.Delay,
		Seed: t.Seed, Limit: t.Limit, Until: election.Units(t.Until), Record: t.Record,
	}
	o.Setup.Duplicates = t.Equal
	r := faults.NewReader(o.Setup.IDs)
	for _, line := range t.Faults {
		Must(0, r.Line(line))
	}
	o.Faults = r.Script
	return o
}

// Replay is the call that does the same.
func (t *Trial) Replay() string {
	words := t.Call("run")
	for _, flag := range []struct {
		name  string
		value uint64
		usual uint64
	}{{"delay", t.Delay, 0}, {"limit", t.Limit, 0}, {"until", t.Until, 0}, {"seed", t.Seed, 1}} {
		if flag.value != flag.usual {
			words = append(words, "--"+flag.name, fmt.Sprint(flag.value))
		}
	}
	if t.Schedule != simulate.FIFO {
		words = append(words, "--schedule", t.Schedule.String())
	}
	if t.Equal {
		words = append(words, "--allow-duplicate-ids")
	}
	for _, line := range t.Faults {
		words = append(words, "--fault", "'"+line+"'")
	}
	return strings.Join(words, " ")
}

// recordedSteps is more than any correct recorded trial takes. With an error in the algorithm a trial need not end,
// and its states may grow.
const recordedSteps = 2000

// Run runs a trial.
func (b *Bench) Run(t Trial) *simulate.Result {
	o := t.Options()
	if t.Record && o.Limit == 0 {
		o.Limit = recordedSteps
	}
	return b.Simulate(t.Algorithm, o)
}

// Proof is a check of every schedule of a subject; of 1 … n in every order on a ring.
type Proof struct {
	Subject
	EverySet   bool // each set of processes starts in turn
	Crashes    int
	Recoveries int
	Delay      int
}

// Options returns the options of the checker.
func (p *Proof) Options() verify.Options {
	o := verify.Options{
		Setup: p.Setup(), Initiators: p.Initiators(), Crashes: p.Crashes, Recoveries: p.Recoveries, Delay: p.Delay,
	}
	switch {
	case p.EverySet:
		o.Starts = verify.EverySet
	case p.AnyTime:
		o.Starts = verify.AnyTime
	}
	if slices.Equal(p.IDs, UpTo(len(p.IDs))) {
		o.Size, o.Setup.IDs = len(p.IDs), nil
	}
	return o
}

// Replay is the call that does the same.
func (p *Proof) Replay() string {
	words := p.Call("verify")
	if p.EverySet {
		words = append(words, "--start", "every-set")
	}
	for _, flag := range []struct {
		name  string
		value int
	}{{"crash", p.Crashes}, {"recover", p.Recoveries}, {"delay", p.Delay}} {
		if flag.value != 0 {
			words = append(words, "--"+flag.name, fmt.Sprint(flag.value))
		}
	}
	return strings.Join(words, " ")
}

// Prove checks every schedule, and returns the violation; "" if there is none.
func (b *Bench) Prove(p Proof) (report *verify.Report, violation string) {
	report = b.Verify(p.Algorithm, p.Options())
	switch {
	case report.Violation != nil:
		violation = report.Violation.Property + ": " + report.Violation.Detail
	case !report.Complete:
		violation = fmt.Sprintf("not finished after %d states", report.States)
	}
	return report, violation
}

// End returns how a run ended, with identifiers of the processes: right, or what is wrong.
func End(r *simulate.Result) string {
	switch {
	case len(r.Leaders) > 1:
		var ids []string
		for _, p := range r.Leaders {
			ids = append(ids, fmt.Sprint(r.Prepared.Real(p)))
		}
		return strings.Join(ids, " and ") + " are leaders"
	case !r.Complete:
		return "no end within the limit"
	case len(r.Leaders) == 0:
		return "no leader"
	case r.Right:
		return Right
	case r.Decided < r.Live && r.Prepared.Declaration().Decides == election.EveryProcess:
		return "a process is undecided"
	case !r.Agreed:
		return "a process follows another leader"
	}
	return fmt.Sprintf("%d is leader, the wrong process", r.Prepared.Real(r.Leaders[0]))
}

// Right is the end of a correct run.
const Right = "right"

// SentOf returns the messages of a kind that a step sent.
func SentOf(s *trace.Step, kind string) (sent []trace.Sent) {
	for _, m := range s.Sent {
		if m.Kind == kind {
			sent = append(sent, m)
		}
	}
	return sent
}

// Receivers are the identifiers of those that messages went to.
func Receivers(r *trace.Record, sent []trace.Sent) (ids []uint64) {
	for _, m := range sent {
		ids = append(ids, r.IDs[m.To])
	}
	return ids
}

// Leads reports whether a step made its process the leader.
func Leads(s *trace.Step) bool {
	return slices.ContainsFunc(s.Decided, func(d trace.Decision) bool { return d.Role == "leader" })
}

// Subsets yields the non-empty subsets of some identifiers, in their order.
func Subsets(ids []uint64) iter.Seq[[]uint64] {
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

// OrHolds returns the violation, or that there is none.
func OrHolds(violation string) string {
	if violation == "" {
		return "all properties hold"
	}
	return violation
}

// Without are the identifiers that are not in less.
func Without(ids, less []uint64) []uint64 {
	return slices.DeleteFunc(slices.Clone(ids), func(id uint64) bool { return slices.Contains(less, id) })
}

// Steps returns the steps of a record with the given event.
func Steps(r *trace.Record, event trace.Event) (all []*trace.Step) {
	for i := range r.Steps {
		if r.Steps[i].Event == event {
			all = append(all, &r.Steps[i])
		}
	}
	return all
}
