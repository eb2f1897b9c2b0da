package quorumbully

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// changing is a harsh script in which hosts ask again and again for changes of the voters. All processes are asked, and the
// one that leads obeys.
func changing(seed uint64) simulate.Options {
	o := harsh(seed)
	source := random.New(seed, random.Choices)
	n := 3 + source.Below(3)
	o.Instance = network.Setup{IDs: members(int(n)), Parameters: o.Instance.Parameters}
	o.Instance.Parameters["standby"] = fmt.Sprint(source.Below(n))
	for at, every := source.Below(40), 4+source.Below(30); at < 400; at += 1 + source.Below(every) {
		c := election.Command{Order: election.Enlist, Member: election.ID(1 + source.Below(n))}
		if source.Below(2) == 0 {
			c.Order = election.Dismiss
		}
		for p := range int(n) {
			o.Commands = append(o.Commands, simulate.Command{Process: p, At: election.Units(at), Command: c})
		}
	}
	return o
}

// stepping is the algorithm with something done around each step that a message or a command causes.
func stepping(a *algorithm, around func(p *Process, step func())) {
	a.Receive = func(p *Process, port election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
		around(p, func() { p.Receive(port, kind, m, out) })
	}
	a.Command = func(p *Process, c election.Command, out *election.Out[Message]) {
		around(p, func() { p.Command(c, out) })
	}
}

// careless are mutants that break a part of rule 9 each.
var careless = []struct {
	name   string
	mutate func(*algorithm)
}{
	{"the next change does not wait until a majority keeps the voters", func(a *algorithm) {
		stepping(a, func(p *Process, step func()) {
			if p.Keeps != nil {
				p.Keeps = slices.Repeat([]bool{true}, int(p.Members))
			}
			step()
		})
	}},
	{"a leader changes voters that it has not made its own", func(a *algorithm) {
		stepping(a, func(p *Process, step func()) {
			if p.Role == Leader && p.Kept.Voters.Term != p.Term {
				p.Kept.Voters.Term, p.Keeps = p.Term, slices.Repeat([]bool{true}, int(p.Members))
			}
			step()
		})
	}},
	{"a Claim to older voters is granted", func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if kind == Claim && p.Kept.Voters.after(&m.Voters) {
				m.Voters = p.Kept.Voters
			}
			return true
		})
	}},
	{"the voters do not survive a crash", func(a *algorithm) {
		a.Recover = func(p *Process, out *election.Out[Message]) {
			p.Kept.Voters = Voters{}
			p.Recover(out)
		}
	}},
	{"a claim goes on with newer voters", func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if p.Role == Candidate && kind != Grant && m.Voters.after(&p.Kept.Voters) {
				p.Kept.Voters = m.Voters
			}
			return true
		})
	}},
	{"a leader adopts voters", func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if p.leads() && kind != Grant && m.Voters.after(&p.Kept.Voters) {
				p.Kept.Voters = m.Voters
			}
			return true
		})
	}},
	{"two voters change at once", func(a *algorithm) {
		stepping(a, func(p *Process, step func()) {
			version := p.Kept.Voters.Version
			step()
			if now := &p.Kept.Voters; p.Role == Leader && now.Version > version && len(now.Members) > 2 {
				other := slices.IndexFunc(now.Members, func(x election.ID) bool { return x != p.ID })
				now.Members = slices.Delete(slices.Clone(now.Members), other, other+1)
			}
		})
	}},
	{"the grant of a member without a vote counts", func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool {
			for y := election.ID(1); kind == Grant && y <= p.Members && p.mine(&m.Request) && !p.votes(x); y++ {
				if y != p.ID && p.votes(y) {
					return p.Role == Follower || func() bool { p.granted(y, m, out); return false }()
				}
			}
			return true
		})
	}},
	{"voters are adopted, and the term that made them is not known to be won", func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if kind != Grant && p.Role == Follower && m.Voters.after(&p.Kept.Voters) {
				p.Kept.Voters = m.Voters
			}
			return true
		})
	}},
}

// counting counts how far changes come.
func counting(a *algorithm, seen map[string]int) {
	stepping(a, func(p *Process, step func()) {
		kept := func() bool { return p.Keeps != nil && p.count(p.Keeps) >= p.majority() }
		before, was := p.Kept.Voters, kept()
		step()
		switch now := &p.Kept.Voters; {
		case now.Version > before.Version && p.leads():
			seen["made"]++
		case now.after(&before) && p.leads():
			seen["stamped"]++
		case now.after(&before):
			seen["adopted"]++
		case kept() && !was && now.Version > 0:
			seen["kept by a majority"]++
		}
	})
}

func TestChangesOfVotersAreSafe(t *testing.T) {
	a, seen := Algorithm, map[string]int{}
	counting(&a, seen)
	for seed := range uint64(2000) {
		r, err := simulate.Run(a, changing(seed))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Faults) > 0 {
			t.Fatalf("seed %d: %s", seed, strings.Join(r.Faults, "; "))
		}
	}
	t.Log(seen)
	for _, what := range []string{"made", "stamped", "adopted", "kept by a majority"} {
		if seen[what] < 1000 {
			t.Errorf("%s: only %d times", what, seen[what])
		}
	}
}

func TestTheSimulatorCatchesCarelessChanges(t *testing.T) {
	for _, mutant := range careless {
		t.Run(mutant.name, func(t *testing.T) {
			a := Algorithm
			mutant.mutate(&a)
			const most = 4000
			for seed := range uint64(most) {
				r, err := simulate.Run(a, changing(seed))
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Faults) > 0 {
					t.Logf("seed %d: %s", seed, strings.Join(r.Faults, "; "))
					return
				}
			}
			t.Errorf("not found in %d runs", most)
		})
	}
}
