package quorumbully

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// vary lets the lengths of requests vary as much as they may, whatever is measured: each renewal is for the longest lease, or for the
// shortest that counts as long as the request before it.
func vary(a *algorithm) {
	a.New = func(l election.Local) Process {
		p := New(l)
		p.Settings.Fall = 1
		return p
	}
	timeout := a.Timeout
	a.Timeout = func(p *Process, timer election.Timer, out *election.Out[Message]) {
		if timer == Renewal && p.varies() && p.leads() {
			p.Late = uint64(out.Choose(2)) * p.Settings.Lease
			p.Lengths.Shares = slices.Repeat([]election.Deadline{out.Deadline(election.Units(p.Settings.Entitled))}, int(p.Members)) // no answer is late
		}
		timeout(p, timer, out)
		p.Late = 0 // so that there are no more states than lengths need
	}
}

// varied is harsh with leases of different lengths, and frequent renewals.
func varied(seed uint64) simulate.Options {
	o := harsh(seed)
	o.Setup.Parameters["shortest-lease"], o.Setup.Parameters["renewal"] = fmt.Sprint(2+seed%6), fmt.Sprint(1+seed%3)
	return o
}

// What counts is rounded down, and no product is too large.
func TestAnAnswerCountsNoLongerThanItsLengthAllows(t *testing.T) {
	p := Process{Settings: Settings{Lease: 1 << 40, Entitled: 1<<40 - 3, Renewal: 1 << 38, Shortest: 1}}
	for length, want := range map[uint64]uint64{1 << 40: 1<<40 - 3, 1 << 39: 1<<39 - 2, 3: 2, 1: 0} {
		if got := p.entitled(length); got != want {
			t.Errorf("%d: %d, not %d", length, got, want)
		}
	}
	p.Lengths.Lease = 2
	if got := p.interval(); got != 1 {
		t.Errorf("an interval of %d", got)
	}
}

// A length falls so slowly that no request counts shorter than one before it, whenever the next one leaves and with any rounding.
func TestNoRequestEndsBeforeAnEarlierOne(t *testing.T) {
	for entitled := uint64(1); entitled <= 40; entitled++ {
		for passed := range entitled {
			p := Process{
				Role: Leader, Settings: Settings{Lease: 40, Entitled: entitled, Shortest: 1, Fall: 1, Renewal: 40},
				Lengths: Lengths{Lease: 40, Shares: make([]election.Deadline, 1)},
			}
			var c election.Collector[Message]
			c.Clock(election.Units(100))
			p.Sent[0] = c.Out().Deadline(election.Units(entitled))
			p.Lengths.Sent[0], p.Lengths.Shares[0] = p.Sent[0], p.Sent[0]
			p.Members, p.Settings.First = 1, 1
			c.Clock(election.Units(100 + passed))
			p.measure(c.Out())
			if next := c.Out().Deadline(election.Units(p.entitled(p.Lengths.Lease))); next.Before(p.Sent[0]) {
				t.Errorf("%d of 40 count, and %d have passed: the next request is for %d, which counts for %d", entitled, passed, p.Lengths.Lease, p.entitled(p.Lengths.Lease))
			}
		}
	}
}

// The next answer may be later than the worst one before: renewals are three times as far apart.
func TestRenewalsAreThreeTimesAsFarApartAsAnswersWereLate(t *testing.T) {
	for late, want := range map[uint64]uint64{0: 10, 3: 10, 4: 12, 6: 18, 30: 90, 33: 99, 34: 100, 1000: 100} {
		p := Process{
			Role: Leader, Late: late, Settings: Settings{Lease: 1000, Entitled: 1000, Shortest: 100, Fall: 2, Renewal: 100},
			Lengths: Lengths{Lease: 100, Shares: make([]election.Deadline, 1)},
		}
		var c election.Collector[Message]
		c.Clock(election.Units(100))
		p.Lengths.Sent[0] = c.Out().Deadline(election.Units(p.Settings.Entitled))
		p.measure(c.Out())
		if got := p.interval(); got != want {
			t.Errorf("answers were late by %d: renewals are %d apart, not %d", late, got, want)
		}
	}
}

// A successor on a busy machine claims late. If the others claim meanwhile, a member leads that is perhaps not prepared, or none for longer.
func TestASuccessorHasTheTimeByWhichSomethingWasLate(t *testing.T) {
	for late, want := range map[uint64]uint64{0: 15, 20: 35, 400: 125} {
		p := Process{ID: 1, Members: 3, Late: late, Peers: make([]Peer, 3), Settings: Settings{Lease: 500, Defer: 15, Answers: 5, Asks: true}}
		var c election.Collector[Message]
		p.released(3, &Message{Request: Request{Term: 1, Incarnation: 1}, Successor: 2}, c.Out())
		if e := c.Effects(); p.Stage != Deferring || len(e) == 0 || e[len(e)-1].Ticks != election.Units(want) {
			t.Errorf("something was late by %d: the stage is %v, and its end in %+v, not %d", late, p.Stage, e, want)
		}
	}
}

func TestNoTwoLeasesOfDifferentLengthsRunAtOneTime(t *testing.T) {
	a := Algorithm
	vary(&a)
	for seed := *first; seed < *first+*seeds; seed++ {
		r := electiontest.Run(t, a, varied(seed))
		if len(r.Faults) > 0 || !r.Complete {
			t.Fatalf("seed %d: %v, complete %v", seed, r.Faults, r.Complete)
		}
	}
}

// twoLengths are mutants of rule 3. Each breaks how it counts requests of different lengths.
var twoLengths = []struct {
	name   string
	mutate func(*algorithm)
}{
	{"a granter takes the shorter end: a late request shortens a grant", func(a *algorithm) {
		receiving(a, func(p *Process, _ election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if kind == Renew && m.Varies {
				p.Asked = 0
			}
			return true
		})
	}},
	{"a length falls at once", func(a *algorithm) {
		timeout := a.Timeout
		a.Timeout = func(p *Process, timer election.Timer, out *election.Out[Message]) {
			if timer == Renewal && p.varies() && p.leads() {
				p.Lengths.Lease = p.Settings.Shortest
			}
			timeout(p, timer, out)
		}
	}},
	{"a Renew ends the wait after a restart whatever its length", func(a *algorithm) {
		receiving(a, func(p *Process, x election.ID, kind election.Kind, m *Message, out *election.Out[Message]) bool {
			restarted := p.Restarted
			p.Receive(election.To(x), kind, *m, out)
			if kind == Renew && restarted && p.Given.Holder == x {
				p.Restarted = false
				out.Stop(Wait)
			}
			return false
		})
	}},
}

// With requests of two lengths in one tenure, every schedule of few claims is safe, too. The mutants above need more of them than the
// checker visits: TestMutantsDoNotRefineTheModel finds each.
func TestEveryScheduleOfTwoLengthsIsSafe(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, b := range []budget{
		{terms: 3},
		{crashes: 1, recoveries: 1, terms: 2},
	} {
		a, o := Algorithm, b.few()
		lengths := 0
		vary(&a)
		receiving(&a, func(_ *Process, _ election.ID, kind election.Kind, m *Message, _ *election.Out[Message]) bool {
			if kind == Renew {
				lengths |= 1 << m.Request.Lease
			}
			return true
		})
		o.Setup.Parameters["shortest-lease"], o.Setup.Parameters["renewals"] = "2", "3"
		if o.MaxStates = 60_000; *long {
			o.MaxStates = 5_000_000
		}
		r, err := verify.Run(a, o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Violation != nil || lengths&(1<<4) == 0 || lengths&(1<<6) == 0 {
			t.Errorf("%+v: %+v in %d states, lengths %b", b, r.Violation, r.States, lengths)
		}
		t.Logf("%+v: %d states, complete %v, lengths %b", b, r.States, r.Complete, lengths)
	}
}

func TestALeaseIsAsLongAsItsRenewalsNeedIt(t *testing.T) {
	for _, c := range []struct{ late, renewal, lease, want uint64 }{
		{0, 66, 500, 0}, {32, 66, 500, 242}, {66, 66, 500, 500}, {1 << 40, 1 << 38, 1 << 40, 1 << 42}, {1 << 40, 1, 1 << 40, math.MaxUint64},
	} {
		if got := LengthFor(c.late, c.renewal, c.lease); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// What was late counts for minutes, and a host that asks for confirmation again and again does not shorten that.
func TestWhatWasLateFadesWithRenewalsInTheirTime(t *testing.T) {
	p := Process{Late: 30_000}
	for range 1 << 20 {
		p.forget(1, 60)
	}
	if p.Late != 30_000 {
		t.Errorf("renewals that follow each other at once leave %d", p.Late)
	}
	minute := 0
	for ; p.Late > 0; minute++ {
		for range 60_000 / 60 {
			p.forget(60, 60)
		}
		if minute == 0 && p.Late < 20_000 || minute == 20 && p.Late > 1000 {
			t.Errorf("%d after %d minutes", p.Late, minute+1)
		}
	}
}
