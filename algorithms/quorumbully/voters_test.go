package quorumbully

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// changing is a script in which hosts ask again and again for changes of the voters, while members are cut off, and some
// crash. All processes are asked, and the one that leads obeys.
func changing(seed uint64) simulate.Options {
	const until = 400
	source := random.New(seed, random.Choices)
	below := func(n int) int { return int(source.Below(uint64(n))) }
	n := 3 + below(3)
	lease := 16 + below(20)
	o := simulate.Options{Seed: seed, Wardens: below(2) == 0, StopTime: source.Below(4), Delay: 1 + source.Below(3), Until: election.Units(until), Limit: 2_000_000}
	o.Setup = network.Setup{IDs: members(n), Parameters: map[string]string{
		"rho": "0", "lease": fmt.Sprint(lease), "renewal": fmt.Sprint(2 + below(6)), "standby": fmt.Sprint(below(n)),
		"asking": [...]string{"no", "yes"}[below(2)],
	}}
	f := &o.Faults
	f.Unordered = below(2) == 0
	for p := range n {
		for now := 20 + source.Below(200); now < until && below(3) == 0; now += 1 + source.Below(200) {
			f.Crashes = append(f.Crashes, faults.Crash{Process: p, At: election.Units(now), Amid: below(4) == 0, Sends: below(n)})
			now += 1 + source.Below(20)
			f.Recoveries = append(f.Recoveries, faults.Recovery{Process: p, At: election.Units(now)})
		}
	}
	f.Random = faults.Budget{Partitions: 2 + below(6), Cuts: below(8), Slow: below(3), Pauses: below(2), Suspicions: below(4), Until: election.Units(until)}
	for at, every := source.Below(40), 1+source.Below(12); at < until; at += 1 + source.Below(every) {
		c := election.Command{Order: election.Enlist, Member: election.ID(1 + below(n))}
		if below(2) == 0 {
			c.Order = election.Dismiss
		}
		for p := range n {
			o.Commands = append(o.Commands, simulate.Command{Process: p, At: election.Units(at), Command: c})
		}
	}
	return o
}

// concurrent lets two leaders in succession change the first voters 1 to 4, each cut off from members that would have to keep
// that: 4 adds 5, and 3 removes 4. Then 1 can elect 4 with 5, unless it has kept what 3 made.
func concurrent(seed uint64) simulate.Options {
	o := led(seed)
	o.Setup = network.Setup{IDs: members(5), Parameters: o.Setup.Parameters}
	o.Setup.Parameters["standby"] = "1"
	cut := 130 + seed%20
	reader := faults.NewReader(o.Setup.IDs)
	for _, line := range []string{"partition 1,2,3 | 4,5 from 50 until " + fmt.Sprint(cut), fmt.Sprintf("partition 1,4,5 | 2,3 from %d until 300", cut)} {
		if err := reader.Line(line); err != nil {
			panic(err)
		}
	}
	o.Faults = reader.Script
	o.Commands = []simulate.Command{
		{Process: 3, At: election.Units(52), Command: election.Command{Order: election.Enlist, Member: 5}},
		{Process: 2, At: election.Units(cut + 2), Command: election.Command{Order: election.Dismiss, Member: 4}},
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
	runs   func(seed uint64) simulate.Options // where it shows; nil: changing
}{
	{"the next change does not wait until a majority keeps the voters", func(a *algorithm) {
		stepping(a, func(p *Process, step func()) {
			if p.Keeps != nil {
				p.Keeps = slices.Repeat([]bool{true}, int(p.Members))
			}
			step()
		})
	}, nil},
	{"a leader changes voters that it has not made its own", func(a *algorithm) {
		a.Command = func(p *Process, c election.Command, out *election.Out[Message]) {
			if p.Role == Leader && p.Kept.Voters.Term != p.Term {
				p.Kept.Voters.Term, p.Keeps = p.Term, slices.Repeat([]bool{true}, int(p.Members))
			}
			p.Command(c, out)
		}
	}, concurrent},
	{"a Claim to older voters is granted", func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if kind == Claim && p.Kept.Voters.after(&m.Voters) {
				m.Voters = p.Kept.Voters
			}
			return true
		})
	}, nil},
	{"the voters do not survive a crash", func(a *algorithm) {
		a.Recover = func(p *Process, out *election.Out[Message]) {
			p.Kept.Voters = Voters{}
			p.Recover(out)
		}
	}, nil},
	{"two voters change at once", func(a *algorithm) {
		stepping(a, func(p *Process, step func()) {
			version := p.Kept.Voters.Version
			step()
			if now := &p.Kept.Voters; p.Role == Leader && now.Version > version && len(now.Members) > 2 {
				other := slices.IndexFunc(now.Members, func(x election.ID) bool { return x != p.ID })
				now.Members = slices.Delete(slices.Clone(now.Members), other, other+1)
			}
		})
	}, nil},
	{"the grant of a member without a vote counts", func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool {
			for y := election.ID(1); kind == Grant && y <= p.Members && p.mine(&m.Request) && !p.votes(x); y++ {
				if y != p.ID && p.votes(y) {
					return p.Role == Follower || func() bool { p.granted(y, m, out); return false }()
				}
			}
			return true
		})
	}, nil},
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
	for seed := range uint64(350) {
		r := electiontest.Run(t, a, changing(seed))
		if len(r.Faults) > 0 {
			t.Fatalf("seed %d: %s", seed, strings.Join(r.Faults, "; "))
		}
	}
	t.Log(seen)
	for _, what := range []string{"made", "stamped", "adopted", "kept by a majority"} {
		if seen[what] < 175 {
			t.Errorf("%s: only %d times", what, seen[what])
		}
	}
}

func TestTheSimulatorCatchesCarelessChanges(t *testing.T) {
	for _, mutant := range careless {
		t.Run(mutant.name, func(t *testing.T) {
			runs := mutant.runs
			if runs == nil {
				runs = changing
			}
			mustCatch(t, mutant.mutate, runs, 1000)
		})
	}
}

// changes are members of which the last ones do not vote at first, with few claims, renewals and changes. The first two may
// lead. A host that asks its leader for something asks for a vote of the first member that has none, and if all have one,
// that the first other member loses its vote.
type changes struct {
	members, standby, commands, terms, renewals, crashes int
}

func (c changes) options() verify.Options {
	o := budget{commands: c.commands, terms: c.terms, crashes: c.crashes, recoveries: c.crashes}.few()
	o.Setup.IDs = members(c.members)
	o.Setup.Priorities = []uint16{1, 1, 0, 0}[:c.members]
	o.Setup.Parameters["standby"] = fmt.Sprint(c.standby)
	o.Setup.Parameters["renewals"] = fmt.Sprint(c.renewals)
	return o
}

// host turns the checker's command into one for a change.
func host(a *algorithm) {
	command := a.Command
	a.Command = func(p *Process, asked election.Command, out *election.Out[Message]) {
		if asked.Order == election.Resign {
			for x := p.Members; x >= 1; x-- {
				if x != p.ID && p.votes(x) && asked.Order != election.Enlist {
					asked.Order, asked.Member = election.Dismiss, x
				}
				if !p.votes(x) {
					asked.Order, asked.Member = election.Enlist, x
				}
			}
		}
		command(p, asked, out)
	}
}

func TestEveryScheduleOfFewChangesIsSafe(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, c := range []changes{
		{members: 2, standby: 1, commands: 2, terms: 2, renewals: 3, crashes: 1}, // 1 → 2 → 1, and a crash
		{members: 3, standby: 2, commands: 3, terms: 2, renewals: 5},             // 1 → 2 → 3 → 2
		{members: 3, standby: 1, commands: 2, terms: 2, renewals: 3, crashes: 1}, // 2 → 3 → 2, and a crash, with -long
		{members: 4, standby: 1, commands: 2, terms: 2, renewals: 3},             // 3 → 4 → 3, with -long
	} {
		a, seen := Algorithm, map[string]int{}
		counting(&a, seen)
		host(&a)
		if (c.members > 3 || c.members == 3 && c.crashes > 0) && !*long {
			continue
		}
		r, err := verify.Run(a, c.options())
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil || !r.Complete {
			t.Errorf("%+v: %+v in %d states", c, r.Violation, r.States)
		}
		if seen["made"] == 0 || seen["adopted"] == 0 || seen["kept by a majority"] == 0 {
			t.Errorf("%+v: %v", c, seen)
		}
		t.Logf("%+v: %d states, %d transitions; %v", c, r.States, r.Transitions, seen)
	}
}

// Members may have numbers in another order at the sender, or in an earlier life.
func TestVotersAreKeptInTheOrderOfThisMember(t *testing.T) {
	var collect election.Collector[Message]
	collect.Choices(func(uint32) uint32 { return 0 })
	p := New(election.Local{ID: 1, Degree: 5, Priority: 1, Parameters: mustSet()})
	p.Start(collect.Out())
	sent := []election.ID{5, 2, 4}
	p.Receive(1, Renew, Message{Sender: Sender{Incarnation: 1, Weight: 1}, Request: Request{Term: 3, Incarnation: 1, Number: 1, Lease: 20}, Voters: Voters{3, 1, sent}}, collect.Out())
	if want := []election.ID{2, 4, 5}; !slices.Equal(p.Kept.Voters.Members, want) || !p.votes(2) || p.votes(1) {
		t.Errorf("it keeps %v, want %v", p.Kept.Voters.Members, want)
	}
	if sent[0] != 5 {
		t.Error("it writes into the message")
	}
	again := New(election.Local{ID: 1, Degree: 5, Priority: 1, Parameters: mustSet()})
	again.Kept = p.Kept
	again.Kept.Voters.Members = sent
	again.Recover(collect.Out())
	if !again.votes(2) || !again.votes(4) {
		t.Errorf("after a restart it keeps %v", again.Kept.Voters.Members)
	}
}

// What a leader has granted, claimed and counted stays as it is.
func TestALeaderThatLearnsOfMoreMembersGoesOn(t *testing.T) {
	var collect election.Collector[Message]
	collect.Choices(func(uint32) uint32 { return 0 })
	out := collect.Out()
	p := New(election.Local{ID: 3, Degree: 3, Priority: 1, Parameters: mustSet()})
	p.Start(out)
	answer := func(x election.ID, kind election.Kind, m Message) {
		m.Sender = Sender{Incarnation: 1, Weight: 1}
		m.Request.Incarnation = 1
		p.Receive(election.To(x), kind, m, out)
	}
	enlarge(&p, 4)
	answer(1, Answer, Message{Episode: p.Episode})
	answer(2, Answer, Message{Episode: p.Episode})
	if p.Role != Candidate {
		t.Fatalf("%+v", p)
	}
	enlarge(&p, 5)
	answer(1, Grant, Message{Request: Request{Term: 1, Number: 1}})
	if p.Role != Leader || p.majority() != 2 {
		t.Fatalf("with 1 and 3 of three voters: %+v", p)
	}
	p.Command(election.Command{Order: election.Enlist, Member: 5}, out)
	enlarge(&p, 6)
	for x := election.ID(1); x <= 6; x++ {
		if x != p.ID {
			answer(x, Grant, Message{Request: Request{Term: 1, Number: p.Number}, Voters: p.Kept.Voters.reference()})
		}
	}
	if got, want := p.Kept.Voters.Members, []election.ID{1, 2, 3, 5}; p.Role != Leader || !slices.Equal(got, want) || len(p.Peers) != 6 || len(p.Share) != 6 || len(p.Keeps) != 6 {
		t.Errorf("the voters are %v, want %v: %+v", got, want, p)
	}
}
