package quorumbully

import (
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

type algorithm = election.Algorithm[Process, Message]

// receiving is the algorithm with something done before each message; false: the message is dealt with.
func receiving(a *algorithm, before func(p *Process, x election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool) {
	a.Receive = func(p *Process, port election.Port, kind election.Kind, m Message, out *election.Out[Message]) {
		if before(p, election.From(port), kind, &m, out) {
			p.Receive(port, kind, m, out)
		}
	}
}

// mutants break a rule of safety each: the rows of the specification's section 2. Of these, 4, 11 and 12 and the second
// half of 9 are about hosts: a clock that is read too early, two processes with one identifier, a clock that stands still
// in suspension, and a proof of death that comes before the work is dead.
var mutants = []struct {
	name   string
	row    int
	faults string // one of the complaints
	mutate func(*algorithm)
}{
	{"a term is granted again when its grant has run out", 1, "has led in term", func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool {
			if kind == Claim && m.Request.Term == p.Kept.Promise && p.Given.Holder == 0 {
				p.Kept.Promise--
			}
			return true
		})
	}},
	{"a candidate's own grant obeys no rule", 2, "while the lease", func(a *algorithm) {
		a.Timeout = func(p *Process, timer election.Timer, out *election.Out[Message]) {
			if timer == StageEnd && p.Role == Follower {
				p.Given = Given{}
			}
			p.Timeout(timer, out)
		}
	}},
	{"an answer counts from the newest request", 3, "while the lease", func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if kind == Grant {
				m.Request.Number = p.Number
			}
			return true
		})
	}},
	{"an answer counts from when it arrives", 3, "while the lease", func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool {
			if kind == Grant && p.mine(&m.Request) {
				p.Sent[m.Request.Number%requests] = out.Deadline(election.Units(p.Settings.Entitled))
			}
			return true
		})
	}},
	{"a restarted member waits for a shorter lease than it promised", 5, "while the lease", func(a *algorithm) {
		a.Recover = func(p *Process, out *election.Out[Message]) {
			p.Kept.Longest /= 2
			p.Recover(out)
		}
	}},
	{"a restarted member does not wait", 5, "while the lease", func(a *algorithm) {
		a.Recover = func(p *Process, out *election.Out[Message]) {
			longest := p.Kept.Longest
			p.Kept.Longest = 0
			p.Recover(out)
			p.Kept.Longest = max(longest, p.Kept.Longest)
		}
	}},
	{"a lapse is not for good", 7, "whose lease had ended", func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool {
			if kind == Grant && p.Role == Leader && out.Passed(p.deadline()) {
				p.granted(x, m, out)
				return false
			}
			return true
		})
		a.Timeout = func(p *Process, timer election.Timer, out *election.Out[Message]) {
			if timer == Lapse && p.Role == Leader {
				return
			}
			p.Timeout(timer, out)
		}
	}},
	{"a claim given up counts late grants", 8, "while the lease", func(a *algorithm) {
		a.Timeout = func(p *Process, timer election.Timer, out *election.Out[Message]) {
			if timer == StageEnd && p.Stage == Claiming {
				p.release(p.Term, 0, out)
				p.Stage = Pausing
				return
			}
			p.Timeout(timer, out)
		}
	}},
	{"a release voids every grant to its sender", 8, "while the lease", func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, _ *Message, out *election.Out[Message]) bool {
			if kind == Release && p.Given.Holder == x {
				p.unbind(out)
			}
			return true
		})
	}},
	{"a new incarnation is proof that the old one's work is dead", 9, "while the lease", func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, _ election.Kind, m *Message, out *election.Out[Message]) bool {
			if p.Given.Holder == x && p.Given.Incarnation < m.Sender.Incarnation {
				p.unbind(out)
			}
			return true
		})
	}},
	{"a proof of death names no incarnation", 9, "while the lease", func(a *algorithm) {
		a.Command = func(p *Process, c election.Command, out *election.Out[Message]) {
			if c.Order == election.Died && p.Given.Holder == c.Member {
				p.unbind(out)
			}
			p.Command(c, out)
		}
	}},
	{"a promise does not survive a crash", 10, "has led in term", func(a *algorithm) {
		a.Recover = func(p *Process, out *election.Out[Message]) {
			p.Kept = Kept{Incarnation: p.Kept.Incarnation}
			p.Recover(out)
		}
	}},
	{"a renewal of a lower term takes the place of a higher grant", 20, "while the lease", func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if kind == Renew && p.Given.Holder == x {
				p.F = 0
			}
			return true
		})
	}},
	{"work is released before it has stopped", 0, "while the lease", func(a *algorithm) {
		a.Command = func(p *Process, c election.Command, out *election.Out[Message]) {
			p.Command(c, out)
			if c.Order == election.Resign && p.Role == Stopping {
				p.release(p.Term, 0, out)
			}
		}
	}},
	{"a suspicion voids a grant", 6, "while the lease", func(a *algorithm) {
		a.Suspect = func(p *Process, port election.Port, out *election.Out[Message]) {
			if p.Given.Holder == election.From(port) {
				p.unbind(out)
			}
			p.Suspect(port, out)
		}
	}},
}

func TestTheSimulatorCatchesEachMutant(t *testing.T) {
	for _, mutant := range mutants {
		t.Run(mutant.name, func(t *testing.T) {
			a := Algorithm
			mutant.mutate(&a)
			const most = 20_000
			for seed := range uint64(most) {
				r, err := simulate.Run(a, script(seed, []int{3, 5}[seed%2]))
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Faults) > 0 {
					t.Logf("row %d, seed %d: %s", mutant.row, seed, strings.Join(r.Faults, "; "))
					return
				}
			}
			t.Errorf("row %d: not found in %d runs", mutant.row, most)
		})
	}
}

// few bounds claims and renewals, and leaves the Bully stage out, so that the checker comes to an end.
func few(n int) verify.Options {
	o := verify.Options{Size: n, SafetyOnly: true}
	o.Instance.Parameters = map[string]string{
		"terms": "2", "renewals": "1", "lease": "5", "rho": "0", "renewal": "2",
		"answer-timeout": "1", "deferral": "2", "claim-timeout": "2", "asking": "no",
	}
	return o
}
