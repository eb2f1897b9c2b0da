package verify

import (
	"fmt"
	"testing"

	"ringleader.example/ringleader/election"
)

// impatient is a process that tells both neighbours its identifier, and knocks at one of them if the lesser of theirs comes first.
type impatient struct {
	ID, First, Greatest election.ID
	Started             bool
	Heard, Rolled       uint32
}

func (p *impatient) start(out calls) {
	if p.Started {
		return
	}
	p.Started = true
	for port := range election.Port(2) {
		out.Send(port, ring, call{uint32(p.ID)})
	}
}

func impatience(counts election.Counts, starts election.Starts, sides uint32) election.Algorithm[impatient, call] {
	return election.Algorithm[impatient, call]{
		Declaration: election.Declaration{
			Name: "impatience", Topology: election.Ring, FIFO: true, Winner: election.Largest, Counts: counts, Starts: starts,
			Kinds: []election.MessageKind{{Name: "ring"}, {Name: "knock"}},
		},
		New: func(l election.Local) impatient { return impatient{ID: l.ID, Greatest: l.ID} },
		Start: func(p *impatient, out calls) {
			if p.start(out); sides > 0 {
				p.Rolled = out.Choose(sides)
			}
		},
		Receive: func(p *impatient, _ election.Port, kind election.Kind, m call, out calls) {
			if kind == knock {
				return
			}
			p.start(out)
			id := election.ID(m.Number)
			p.Greatest = max(p.Greatest, id)
			if p.Heard++; p.Heard == 1 {
				p.First = id
				return
			}
			if p.First < id {
				out.Send(0, knock, call{})
			}
			if p.Greatest == p.ID {
				out.Lead(0)
			} else {
				out.Follow(p.Greatest, 0)
			}
		},
	}
}

// Every claim that counts do not depend on the schedule is judged in the runs of which it speaks, and in no others.
func TestADeclarationOfCountsIsJudged(t *testing.T) {
	weakest := func(needed election.Counts) func(election.Counts) bool {
		return func(declared election.Counts) bool { return declared >= needed }
	}
	never := func(election.Counts) bool { return false }
	for _, test := range []struct {
		name     string
		o        Options
		starts   election.Starts
		sides    uint32
		anyOrder bool
		wrong    func(declared election.Counts) bool
	}{
		{name: "all first", wrong: weakest(election.CountsAllFirst)},
		{name: "all first, of those that all start", starts: election.AllStart, wrong: weakest(election.CountsAllFirst)},
		{name: "one first", o: Options{Initiators: []int{1}}, wrong: weakest(election.CountsStartFirst)},
		{name: "one first, the others at any time", o: Options{Initiators: []int{1}}, starts: election.AllStart, wrong: weakest(election.CountsFixed)},
		{name: "all at any time", o: Options{Starts: AnyTime}, starts: election.AllStart, wrong: weakest(election.CountsFixed)},
		{name: "each before its first message", o: Options{Starts: Each}, wrong: weakest(election.CountsFixed)},
		{name: "the schedule picks who", o: Options{Starts: AnyTime}, wrong: never},
		{name: "every set", o: Options{Starts: EverySet}, wrong: never},
		{name: "only safety", o: Options{SafetyOnly: true}, wrong: never},
		{name: "chance", sides: 1, wrong: never},
		{name: "links outside the model", o: Options{Unordered: true}, wrong: never},
		{name: "links without order that the model allows", o: Options{Unordered: true}, anyOrder: true, wrong: weakest(election.CountsAllFirst)},
	} {
		for counts := range election.CountsFixed + 1 {
			t.Run(fmt.Sprintf("%s/%s", test.name, counts), func(t *testing.T) {
				a := impatience(counts, test.starts, test.sides)
				a.FIFO = !test.anyOrder
				for _, reduce := range []Reduction{NoReduction, AnyReduction} {
					o := test.o
					o.Size, o.Reduce = 3, reduce
					if !test.wrong(counts) {
						holds(t, a, o)
						continue
					}
					report, err := Run(a, o)
					if err != nil || report.Violation == nil || report.Violation.Property != CountsVary {
						t.Fatalf("reduced %s: %+v, %v", reduce, report, err)
					}
					v := report.Violation
					if want := "9 total messages, and 6 under another schedule; the counts are declared to be " + counts.String(); v.Detail != want {
						t.Errorf("%s; want %s", v.Detail, want)
					}
					sent := 0
					for _, s := range v.Record.Steps {
						sent += len(s.Sent)
					}
					if sent != 9 {
						t.Errorf("a run with %d messages shows it; want 9", sent)
					}
				}
			})
		}
	}
}
