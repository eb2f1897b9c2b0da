package quorumbully

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

var (
	first = flag.Uint64("seed", 0, "of the first random script")
	seeds = flag.Uint64("seeds", 250, "how many random scripts")
	long  = flag.Bool("long", false, "check every schedule of large models, too")
)

// members are 1 … n.
func members(n int) election.List {
	ids := make(election.List, n)
	for i := range ids {
		ids[i] = uint64(i + 1)
	}
	return ids
}

// script is a random script of all that can go wrong among n members: crashes, some amid a step, recoveries, partitions
// and cuts, processes that pause or are slow, wrong suspicions, messages that are lost, repeated, overtaken or late,
// clocks that drift, leaders that resign or hand over, and hosts that stop work slowly. All faults have ended by 300.
func script(seed uint64, n int) simulate.Options {
	const until = 300
	source := random.New(seed, random.Choices)
	below := func(n int) int { return int(source.Below(uint64(n))) }
	o := simulate.Options{Seed: seed, AnyTime: below(2) == 0, Wardens: below(2) == 0, StopTime: source.Below(30), Limit: 2_000_000}
	o.Setup = network.Setup{IDs: members(n), Parameters: map[string]string{
		"preemption": [...]string{"no", "yes"}[below(2)], "rho": "1/10", "lease": fmt.Sprint(20 + below(30)), "delay": "1",
	}}
	o.Delay = 1 + source.Below(3)
	if below(3) == 0 {
		o.Delay = 20 // far more than assumed
	}
	f := &o.Faults
	for p := range n {
		now := uint64(0)
		for range below(4) {
			now += 1 + source.Below(80)
			f.Crashes = append(f.Crashes, faults.Crash{Process: p, At: election.Units(now), Amid: below(3) == 0, Sends: below(n)})
			now += 1 + source.Below(60)
			f.Recoveries = append(f.Recoveries, faults.Recovery{Process: p, At: election.Units(now)})
		}
		switch below(3) { // ε is at most 5 %, for which ρ is 1/10
		case 0:
			f.Drifts = append(f.Drifts, faults.Drift{Process: p, Times: 20, Of: 21})
		case 1:
			f.Drifts = append(f.Drifts, faults.Drift{Process: p, Times: 21, Of: 20})
		}
	}
	for range below(4) {
		c := simulate.Command{Process: below(n), At: election.Units(source.Below(until))}
		if below(2) == 0 {
			c.Command = election.Command{Order: election.Transfer, Member: election.ID(1 + below(n))}
		}
		o.Commands = append(o.Commands, c)
	}
	if n > 1 {
		f.Random = faults.Budget{
			Partitions: below(3), Cuts: below(3), Slow: below(2), Pauses: below(3), Suspicions: below(3), Until: election.Units(until),
		}
	}
	f.Unordered = below(2) == 0
	if below(2) == 0 {
		f.Lose = faults.Chance{Times: 1, Of: 5}
	}
	if below(2) == 0 {
		f.Duplicate = faults.Chance{Times: 1, Of: 5}
	}
	return o
}

// harsh is a script in which messages take as long as a lease lasts, lives are short, and half of the members claim without asking.
func harsh(seed uint64) simulate.Options {
	const until, n = 400, 3
	source := random.New(seed, random.Choices)
	below := func(n int) int { return int(source.Below(uint64(n))) }
	o := simulate.Options{
		Seed: seed, Wardens: below(2) == 0, StopTime: source.Below(12), Delay: 2 + source.Below(9),
		Until: election.Units(until), Limit: 2_000_000,
	}
	lease, renewal := 8+below(8), 1+below(4)
	if below(2) == 0 {
		lease = 16 + below(20)
	}
	if below(2) == 0 {
		renewal = 1 + below(lease)
	}
	o.Setup = network.Setup{IDs: members(n), Parameters: map[string]string{
		"rho": "0", "lease": fmt.Sprint(lease), "renewal": fmt.Sprint(renewal), "delay": fmt.Sprint(1 + below(4)),
		"asking": [...]string{"no", "yes"}[below(2)],
	}}
	f := &o.Faults
	f.Unordered = below(3) > 0
	for p := range n {
		for now := source.Below(60); now < until && below(12) > 0; now += 1 + source.Below(60) {
			f.Crashes = append(f.Crashes, faults.Crash{Process: p, At: election.Units(now), Amid: below(4) == 0, Sends: below(n)})
			now += 1 + source.Below(8)
			f.Recoveries = append(f.Recoveries, faults.Recovery{Process: p, At: election.Units(now)})
		}
	}
	for range below(6) {
		o.Commands = append(o.Commands, simulate.Command{Process: below(n), At: election.Units(source.Below(until))})
	}
	f.Random = faults.Budget{Partitions: below(3), Cuts: below(5), Slow: below(6), Pauses: below(3), Suspicions: below(9), Until: election.Units(until)}
	if below(2) == 0 {
		f.Lose = faults.Chance{Times: 1, Of: 4}
	}
	if below(2) == 0 {
		f.Duplicate = faults.Chance{Times: 1, Of: 3}
	}
	for at := uint64(0); at < until; at += 1 + source.Below(30) { // members connect again, and the one that leads reminds them
		o.Commands = append(o.Commands, reminders(n, at)...)
	}
	return o
}

// reminders are commands by which the process that leads repeats its newest request to each other one.
func reminders(n int, at uint64) (all []simulate.Command) {
	for p := range n {
		for x := range n {
			all = append(all, simulate.Command{Process: p, At: election.Units(at), Command: election.Command{Order: election.Confirm, Member: election.ID(x + 1)}})
		}
	}
	return all
}

// healing is a script after which nothing is wrong any more, and all that is assumed of time holds.
func healing(seed uint64, n int) simulate.Options {
	o := script(seed, n)
	o.Delay = 1 + seed%2
	o.Setup.Parameters["delay"] = fmt.Sprint(o.Delay)
	o.Setup.Parameters["lease"] = fmt.Sprint(40 * o.Delay)
	o.Faults.Lose = faults.Chance{}
	return o
}

func TestThereIsALeaderAgainAfterHealingAndTheHighestIfItPreempts(t *testing.T) {
	for seed := *first; seed < *first+*seeds; seed++ {
		n := 1 + int(seed%5)
		o := healing(seed, n)
		r := electiontest.Run(t, Algorithm, o)
		if highest := r.Decisions[n-1].Role == network.Leader; !r.Right || o.Setup.Parameters["preemption"] == "yes" && !highest {
			t.Fatalf("seed %d: leaders at %v, %d of %d decided, %v\n%v\n%v", seed, r.Leaders, r.Decided, r.Live, r.Faults, r.Script.Lines(r.Prepared), o.Setup.Parameters)
		}
	}
}

func TestNoTwoLeasesEverRunAtOneTimeAndTermsRise(t *testing.T) {
	elected := uint64(0)
	for seed := *first; seed < *first+*seeds; seed++ {
		for _, o := range []simulate.Options{harsh(seed), script(seed, 3+2*int(seed%2))} {
			r := electiontest.Run(t, Algorithm, o)
			if len(r.Faults) > 0 || !r.Complete {
				t.Fatalf("seed %d: %v, complete %v\n%v\n%v", seed, r.Faults, r.Complete, r.Script.Lines(r.Prepared), o.Setup.Parameters)
			}
			if !r.Time.Elected.IsZero() {
				elected++
			}
		}
	}
	if 10*elected < 12**seeds {
		t.Errorf("%d of %d runs had a leader", elected, 2**seeds)
	}
}

// The times of the stage double, and a random choice has at most 2³² - 1 values.
func TestTheLongestTimesCanDouble(t *testing.T) {
	for _, timeout := range []string{"1073741824", "2147483648"} {
		o := led(1, "crash 1,2 at 0")
		o.Until = election.Units(1 << 40)
		o.Setup.Parameters = map[string]string{"answer-timeout": timeout, "lease": "549755813888", "renewal": "1099511627", "claim-timeout": "1"}
		if _, err := simulate.Must(simulate.OfSmall(&Algorithm)).Run(o); err != nil {
			t.Errorf("answer-timeout %s: %v", timeout, err)
		}
	}
}

// The leader has stopped its work, and crashes when one of its two Releases has left.
func TestWorkThatHasStoppedDoesNotCountAfterACrashAmidItsRelease(t *testing.T) {
	o := led(1, "crash 3 at 40 after 1 sends")
	o.Commands = []simulate.Command{{Process: 2, At: election.Units(40), Command: election.Command{Order: election.Transfer, Member: 1}}}
	o.Until, o.Record = election.Units(60), true
	r := electiontest.Run(t, Algorithm, o)
	amid := slices.ContainsFunc(r.Record.Steps, func(s trace.Step) bool { return s.Event == trace.Crash && s.Text == "after 1 of 2 messages" })
	if !amid || r.Decisions[0].Role != network.Leader || len(r.Faults) > 0 {
		t.Errorf("amid a step: %v; %v; %v", amid, r.Decisions, r.Faults)
	}
}
