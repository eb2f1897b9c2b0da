package quorumbully_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/proofs/refine"
)

// wild is a run in which clocks do what they want: a timer may expire at any time after it was set, and the clock on which a member reads
// deadlines goes on now and then. Messages are lost, repeated and reordered; members crash and recover.
func wild(t *testing.T, a algorithm, members int, seed uint64) *directed {
	t.Helper()
	source := random.New(seed, random.Choices)
	below := func(n int) int { return int(source.Below(uint64(n))) }
	d := direct(t, a, members, 0)
	clocks := make([]uint64, members)
	for id := range members {
		d.start(election.ID(id + 1))
	}
	for range 600 {
		id := election.ID(1 + below(members))
		d.now = clocks[id-1]
		switch below(40) {
		case 0:
			d.recover(id)
		case 1, 2:
			clocks[id-1] += 1 + source.Below(4)
		case 3, 4, 5, 6:
			d.command(id, election.Command{Order: election.Confirm})
		case 7, 8, 9, 10:
			if timers := slices.Sorted(maps.Keys(d.timers[id-1])); len(timers) > 0 {
				d.early(id, timers[below(len(timers))])
			}
		default:
			d.letters = d.letters[max(0, len(d.letters)-60):]
			if len(d.letters) == 0 {
				continue
			}
			at := below(len(d.letters))
			l := d.letters[at]
			if below(8) > 0 {
				d.letters = slices.Delete(d.letters, at, at+1)
			}
			d.now = clocks[l.to-1]
			d.receives(l)
		}
	}
	return d
}

// elects lets 3 lead in term 1, and 2 be elected in term 2 by a member whose timers are too early. Then 3 asks for its lease.
func elects(t *testing.T, a algorithm, by election.ID) *directed {
	t.Helper()
	d := direct(t, a, 3, 0)
	d.start(1)
	d.start(3)
	d.asks(3, quorumbully.Claim, 1)
	d.leads(3)
	d.early(by, quorumbully.Bound)
	d.start(2)
	for _, id := range []election.ID{1, 3} {
		d.delivers(2, id, quorumbully.Claim)
		d.delivers(id, 2, quorumbully.Nack)
	}
	d.asks(2, quorumbully.Claim, by)
	d.leads(2)
	d.early(by, quorumbully.Bound)
	d.now++
	d.command(3, election.Command{Order: election.Confirm})
	d.asks(3, quorumbully.Renew, 1)
	d.leads(3)
	return d
}

// unsure are mutants whose VerifyLeader promises too much.
var unsure = map[string]func(a *algorithm){
	"a promise above its term is not told": func(a *algorithm) {
		receive := a.Receive
		a.Receive = func(p *quorumbully.Process, port election.Port, kind election.Kind, m quorumbully.Message, out *out) {
			if kind == quorumbully.Grant {
				m.Standing.Promise = 0
			}
			receive(p, port, kind, m, out)
		}
	},
	"the leader's own promise does not matter": func(a *algorithm) {
		membership := a.Membership
		a.Membership = func(p *quorumbully.Process) election.Membership {
			other := *p
			other.Kept.Promise = p.Term
			return membership(&other)
		}
	},
	"an answer counts from the newest request": func(a *algorithm) {
		receive := a.Receive
		a.Receive = func(p *quorumbully.Process, port election.Port, kind election.Kind, m quorumbully.Message, out *out) {
			if kind == quorumbully.Grant {
				m.Request.Number = p.Number
			}
			receive(p, port, kind, m, out)
		}
	},
}

// VerifyLeader needs no clock: the code does nothing that verify-leader.model does not allow, in runs of 3 and 5 members whose clocks do what they
// want, and in all that the checker visits with right clocks.
func TestVerifyLeaderRefinesItsModel(t *testing.T) {
	for _, by := range []election.ID{1, 3} {
		if _, err := elects(t, quorumbully.Algorithm, by).log.CheckVerified(quorumbully.Algorithm); err != nil {
			t.Errorf("a leader is elected by %d: %v", by, err)
		}
	}
	happened := map[string]int{}
	seeds := uint64(50)
	if quorumbully.Long() {
		seeds = 3000
	}
	for seed := range seeds {
		v, err := wild(t, quorumbully.Algorithm, 3+2*int(seed%2), seed).log.CheckVerified(quorumbully.Algorithm)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for name, times := range v.Happened {
			happened[name] += times
		}
	}
	t.Log(happened)
	for _, name := range refine.Actions("verify-leader") {
		if happened[name] == 0 {
			t.Errorf("%s never happened", name)
		}
	}
	e, err := refine.ExploreVerified(quorumbully.Algorithm, quorumbully.Few(2, 0))
	if err != nil || !e.Complete {
		t.Fatal(e, err)
	}
	t.Logf("%d states, %d transitions; %s; %v", e.States, e.Transitions, e.Things, e.Happened)
}

func fails(d *directed, a algorithm) bool {
	_, err := d.log.CheckVerified(a)
	return err != nil
}

func TestMutantsOfVerifyLeaderAreFound(t *testing.T) {
	for name, schedule := range map[string]func(t *testing.T, a algorithm) *directed{
		"a promise above its term is not told":     func(t *testing.T, a algorithm) *directed { return elects(t, a, 1) },
		"the leader's own promise does not matter": func(t *testing.T, a algorithm) *directed { return elects(t, a, 3) },
		"an answer counts from the newest request": func(t *testing.T, a algorithm) (d *directed) {
			for seed := range uint64(300) { // the first of these shows it
				if d = wild(t, a, 3, 38+seed); fails(d, a) {
					break
				}
			}
			return d
		},
	} {
		a := quorumbully.Algorithm
		unsure[name](&a)
		if _, err := schedule(t, a).log.CheckVerified(a); err == nil {
			t.Errorf("%s: not found", name)
		} else {
			t.Logf("%s: %s", name, strings.SplitN(err.Error(), "\n", 2)[0])
		}
	}
}
