//go:build !race

package sources_test

// What follows makes whole rows run, which is work for processors and not for the race detector.

import (
	"context"
	"testing"

	"ringleader.example/ringleader/algorithms/dolevklawerodeh"
	"ringleader.example/ringleader/algorithms/dolevklawerodehb"
	"ringleader.example/ringleader/algorithms/franklin"
	"ringleader.example/ringleader/algorithms/highamprzytycka"
	hs "ringleader.example/ringleader/algorithms/hirschbergsinclair"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/lelann"
	"ringleader.example/ringleader/algorithms/minmax"
	"ringleader.example/ringleader/algorithms/peterson"
	"ringleader.example/ringleader/algorithms/petersonalternating"
	"ringleader.example/ringleader/algorithms/preferencering"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/algorithms/ringbullysimple"
	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// mutant is an algorithm with an error in it, in the place of the right one of that name.
type mutant struct {
	algorithm, is string
	entry         catalogue.Entry
}

// list has the mutant in its place.
func (m *mutant) list() catalogue.List {
	return changedEach(func(e *catalogue.Entry) {
		if e.Name == m.algorithm {
			*e = m.entry
		}
	})
}

func plant[S, M any](a election.Algorithm[S, M], is string) mutant {
	return planted(program.Must(program.Of(&a)), is)
}

// planted is what plant does whatever the types.
func planted(p program.Program, is string) mutant {
	name := p.Declared().Name
	right, err := all.Algorithms.Find(name)
	if err != nil {
		panic(err)
	}
	e := catalogue.Of(simulate.New(p), right.Count)
	e.Check = right.Check
	return mutant{algorithm: name, is: is, entry: remembering(e)}
}

// crude are errors that any algorithm can have: it does not heed messages of a kind.
func crude[S, M any](right election.Algorithm[S, M]) (mutants []mutant) {
	for kind := range right.Kinds {
		a := right
		a.Receive = func(s *S, port election.Port, k election.Kind, m M, out *election.Out[M]) {
			if int(k) != kind {
				right.Receive(s, port, k, m, out)
			}
		}
		mutants = append(mutants, plant(a, "does not heed "+right.Kinds[kind].Name))
	}
	return mutants
}

// receive is Bully with another way to receive, where that applies.
func receive(is string, other func(*ringbully.Process, election.Port, election.Kind, ringbully.Message, *election.Out[ringbully.Message]) bool) mutant {
	a := ringbully.Algorithm
	a.Receive = func(p *ringbully.Process, port election.Port, kind election.Kind, m ringbully.Message, out *election.Out[ringbully.Message]) {
		if !other(p, port, kind, m, out) {
			p.Receive(port, kind, m, out)
		}
	}
	return plant(a, is)
}

type (
	bullyMessage = ringbully.Message
	bullyOut     = *election.Out[ringbully.Message]
)

// subtle are errors in Bully that are easily made; most elect the right leader all the same.
func subtle() []mutant {
	return []mutant{
		receive("L11: terminate is sent clockwise", func(p *ringbully.Process, _ election.Port, kind election.Kind, m bullyMessage, out bullyOut) bool {
			wins := kind == ringbully.Probe && m.ID == p.ID && p.Leader == 0
			if wins {
				var discarded election.Collector[bullyMessage]
				p.Receive(0, kind, m, discarded.Out())
				out.Send(ringbully.CW, ringbully.Terminate, bullyMessage{})
				out.Lead(0)
			}
			return wins
		}),
		receive("L14: ttl does not matter", func(p *ringbully.Process, port election.Port, kind election.Kind, m bullyMessage, out bullyOut) bool {
			if kind != ringbully.Probe || m.ID <= p.ID || m.TTL == 0 {
				return false
			}
			out.Send(1-port, ringbully.Probe, m)
			return true
		}),
		receive("L15: ttl - 2", func(p *ringbully.Process, port election.Port, kind election.Kind, m bullyMessage, out bullyOut) bool {
			if kind != ringbully.Probe || m.ID <= p.ID || m.TTL < 2 {
				return false
			}
			m.TTL -= 2
			out.Send(1-port, ringbully.Probe, m)
			return true
		}),
		receive("L25: one reply is enough", func(p *ringbully.Process, _ election.Port, kind election.Kind, m bullyMessage, _ bullyOut) bool {
			if kind == ringbully.Reply && m.ID == p.ID {
				p.Replied = [2]bool{true, true}
			}
			return false
		}),
		receive("L25: the phase is one too high", func(p *ringbully.Process, port election.Port, kind election.Kind, m bullyMessage, out bullyOut) bool {
			if kind != ringbully.Reply || m.ID != p.ID {
				return false
			}
			m.Phase++
			p.Receive(port, kind, m, out)
			return true
		}),
		receive("a processor that has terminated serves no other", func(p *ringbully.Process, _ election.Port, kind election.Kind, _ bullyMessage, _ bullyOut) bool {
			return p.Leader != 0 && kind != ringbully.Terminate
		}),
		receive("a processor that is asleep answers all", func(p *ringbully.Process, port election.Port, kind election.Kind, m bullyMessage, out bullyOut) bool {
			asleep := !p.Awake && kind == ringbully.Probe && m.ID < p.ID
			if asleep {
				out.Send(port, ringbully.Reply, bullyMessage{ID: m.ID, Phase: m.Phase})
			}
			return asleep
		}),
	}
}

// patient is Hirschberg and Sinclair's, and waits for a no even if it shall withdraw early.
func patient() mutant {
	a := hs.Algorithm
	a.New = func(l election.Local) hs.Process {
		p := hs.Algorithm.New(l)
		p.Early = false
		return p
	}
	return plant(a, "never withdraws early")
}

// Of the algorithms that are in none of S1 and S3, Burns' adversary is what rows are about.
func TestAPlantedErrorTurnsAVerdict(t *testing.T) {
	plants(t)
	asks := asks(t)
	mutants := append(subtle(), patient())
	for _, more := range [][]mutant{
		crude(ringbullysimple.Algorithm), crude(ringbully.Algorithm), crude(hs.Algorithm), crude(lcr.Algorithm),
		crude(lelann.Algorithm)[:1], // its leader message is not sent, unless a process is late
		crude(preferencering.Algorithm), crude(franklin.Algorithm), crude(peterson.Algorithm), crude(petersonalternating.Algorithm),
		crude(dolevklawerodeh.Algorithm), crude(dolevklawerodehb.Algorithm), crude(minmax.Algorithm), crude(highamprzytycka.Algorithm),
	} {
		mutants = append(mutants, more...)
	}
	verdicts := committed(t)
	for _, m := range mutants {
		turned := ""
		for r := range reproduce.Run(t.Context(), asks[m.algorithm], m.list()) {
			if name := r.Source + " " + r.Where; r.Err != nil || r.Verdict.String() != verdicts[name] {
				turned = name
				break
			}
		}
		if turned == "" {
			t.Errorf("%s: %s, and no verdict of S1 or S3 turns", m.algorithm, m.is)
		}
	}
}

func TestTheVerdictsOnS1AndS3(t *testing.T) {
	if len(asks(t)) == 0 {
		t.Error("no row asks for an algorithm")
	}
}

// asks are the quick rows of S1 and S3 that ask for an algorithm, by its name. The verdict of each has to be the one on the
// page: otherwise a verdict that turns would prove nothing.
func asks(t *testing.T) map[string][]reproduce.Row {
	asks, verdicts := map[string][]reproduce.Row{}, committed(t)
	for _, row := range quick("S1", "S3") {
		e := examine(t, row)
		if !e.judged {
			continue
		}
		for name := range e.asks {
			asks[name] = append(asks[name], row)
		}
		r := e.result
		if want := verdicts[row.Source+" "+row.Where]; r.Err != nil || r.Verdict.String() != want {
			t.Errorf("%s %s: %s %v %s, and docs/reproduction.md has %q; go generate ./... makes it", row.Source, row.Where, r.Verdict, r.Err, r.Measured, want)
		}
	}
	return asks
}

// noteUse records that an algorithm is run, checked or counted.
func noteUse(e *catalogue.Entry, note func()) {
	run, verified, counted := e.Simulate, e.Verify, e.Count
	e.Simulate = func(o simulate.Options) (*simulate.Result, error) {
		note()
		return run(o)
	}
	e.Verify = func(o verify.Options) (*verify.Report, error) {
		note()
		return verified(o)
	}
	if counted != nil {
		e.Count = func(ctx context.Context, ids election.Arrangement, set election.Parameters, progress func(int, int)) (*count.Result, error) {
			note()
			return counted(ctx, ids, set, progress)
		}
	}
}
