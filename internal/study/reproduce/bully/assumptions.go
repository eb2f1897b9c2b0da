package bully

import (
	"fmt"
	"slices"
	"strings"

	bullying "ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
)

// Printed is the parameter that makes rule 5 what S4 prints.
const Printed = "bullying=no"

// Assumption holds the runs that keep an assumption, and those that violate it. Those below are functions: they are hundreds of runs, and
// each start of the program would make them.
type Assumption struct {
	Kept    []reproduce.Trial
	Dropped []Dropped
}

// Dropped is a run without an assumption.
type Dropped struct {
	What string
	reproduce.Trial
	Another Variant // runs instead; nil: Bully itself
	Refused bool    // there can be no such run
	Seeds   uint64  // so many are tried until one goes wrong; 0: one
}

// Breaks finds that an assumption is needed: all is right with it, and wrong without.
func Breaks(b *reproduce.Bench, a Assumption) reproduce.Finding {
	var wrong reproduce.Doubt
	for _, t := range a.Kept {
		r := b.Run(t)
		wrong.Unless(reproduce.End(r) == reproduce.Right, "kept, but: %s: %s", t.Replay(), reproduce.End(r))
	}
	var found []string
	replay := ""
	for _, d := range a.Dropped {
		got, t := drop(b, d)
		wrong.Unless(got != reproduce.Right, "%s: the run ends right", d.What)
		found = append(found, d.What+": "+got)
		if replay == "" && d.Another == nil && !d.Refused {
			replay = t.Replay()
		}
	}
	f := reproduce.HoldsUnless(wrong.First, "kept: every run of %d ends right; dropped: %s", len(a.Kept), strings.Join(found, "; "))
	f.Replay = replay
	return f
}

// drop runs without an assumption, and returns how that ends.
func drop(b *reproduce.Bench, d Dropped) (how string, t reproduce.Trial) {
	t = d.Trial
	if d.Refused {
		if _, err := b.Algorithm(t.Algorithm).Simulate(t.Options()); err != nil {
			return "refused, as " + err.Error()[strings.LastIndex(err.Error(), ": ")+2:], t
		}
		return reproduce.Right, t
	}
	for seed := range max(1, d.Seeds) {
		t.Seed = seed + 1
		if d.Another != nil {
			how = reproduce.End(d.Another(t.Options()))
		} else {
			how = reproduce.End(b.Run(t))
		}
		if how != reproduce.Right {
			break
		}
	}
	return how, t
}

// Five are 5 processes under S4 as printed.
func Five(set ...string) reproduce.Subject {
	return reproduce.Among(5, "bully", append(slices.Clone(set), Printed)...)
}

// usual returns runs under all assumptions: each process initiates alone; all initiate and the coordinator crashes.
func usual(set ...string) (trials []reproduce.Trial) {
	for _, id := range reproduce.UpTo(5) {
		trials = append(trials, Five(set...).Starting(id).Run())
	}
	return append(trials, Five(set...).Run("crash 5 at 50"))
}

// within has delays of up to 6, which are expected.
func within() (trials []reproduce.Trial) {
	for seed := range uint64(100) {
		t := Five("delay=6").Run("crash 5 at 100")
		t.Seed = seed
		trials = append(trials, t)
	}
	return trials
}

// SlowMessages: messages take longer than is known.
func SlowMessages() Assumption {
	return Assumption{
		Kept: within(),
		Dropped: []Dropped{
			{What: "delays up to 6 where 1 is expected", Trial: Slow(Five().Run(), 6), Seeds: 100},
			{What: "an answer timeout of 4 where question and answer take up to 4", Trial: Slow(Five("delay=2", "answer-timeout=4").Starting(1, 2, 3, 4).Run("dead 5"), 2), Seeds: 3000},
		},
	}
}

// Slow is a trial with longer delays.
func Slow(t reproduce.Trial, delay uint64) reproduce.Trial {
	t.Delay = delay
	return t
}

// SlowHandling: a process handles what it gets too late.
func SlowHandling() Assumption {
	return Assumption{
		Kept:    usual(),
		Dropped: []Dropped{{What: "5 is paused until 50", Trial: Five().Starting(1).Run("pause 5 from 0 until 50")}},
	}
}

// FastClock: a clock runs faster than the others.
func FastClock() Assumption {
	return Assumption{
		Kept:    usual(),
		Dropped: []Dropped{{What: "the clock of 4 counts 3 units for 1", Trial: Five().Starting(4).Run("drift 4 by 3")}},
	}
}

// standsStill lasts until then; 0 is for ever.
func standsStill(until int) (faults []string) {
	over := ""
	if until > 0 {
		over = fmt.Sprintf(" until %d", until)
	}
	faults = []string{"pause 5 from 50" + over}
	for p := 1; p <= 4; p++ {
		faults = append(faults, fmt.Sprintf("suspect %d of 5 from 55%s", p, over))
	}
	return faults
}

// GoesOn: a process that was considered dead continues in its old state.
func GoesOn() Assumption {
	return Assumption{
		Kept: append(usual(), Five().Run("crash 5 at 50")),
		Dropped: []Dropped{
			{What: "5 stays paused, and remains a leader", Trial: Five().Run(standsStill(0)...)},
			{What: "5 resumes at 100", Trial: Five().Run(standsStill(100)...), Another: unbelieving},
		},
	}
}

// Replaced: a process recovers without the step of rule 1.
func Replaced() Assumption {
	return Assumption{
		Kept: []reproduce.Trial{Five().Run("crash 5 at 50", "recover 5 at 51")},
		Dropped: []Dropped{{
			What: "5 restarts without rule 1", Trial: Five().Run("crash 5 at 50", "recover 5 at 51"),
			Another: changed(func(m *machine) {
				m.Recover = func(*bullying.Process, *election.Out[bullying.Message]) {}
			}),
		}},
	}
}

// NoDetector: failures are not reported, or wrongly.
func NoDetector() Assumption {
	return Assumption{
		Kept: usual(),
		Dropped: []Dropped{
			{
				What: "no failure detector", Trial: Five().Run("crash 5 at 50"),
				Another: changed(func(m *machine) {
					m.Suspect, m.Trust = nil, nil
				}),
			},
			{What: "a wrong suspicion", Trial: Five("known-dead=skipped").Run("suspect 4 of 5 from 50"), Another: unbelieving},
			{What: "a wrong suspicion, where winners announce to lower processes only", Trial: Five("known-dead=skipped", "victory=lower").Run("suspect 4 of 5 from 50")},
		},
	}
}

// LostMessages: messages are lost.
func LostMessages() Assumption {
	return Assumption{
		Kept: usual(),
		Dropped: []Dropped{
			{What: "one message in five lost", Trial: Five().Starting(1).Run("lose 1/5"), Seeds: 1000},
			{What: "a partition", Trial: Five().Run("partition 1,2 | 3,4,5 from 50")},
			{What: "all messages from 5 lost", Trial: Five().Run("cut 5 -> 1,2,3,4 from 50")},
		},
	}
}

// UnknownMember: identifiers are not unique, or not known to all.
func UnknownMember() Assumption {
	return Assumption{
		Kept: usual(),
		Dropped: []Dropped{
			{What: "one identifier twice", Trial: reproduce.Subject{Algorithm: "bully", IDs: []uint64{1, 2, 2}}.Run(), Refused: true},
			{
				What: "4 does not know 5, and initiates", Trial: Five().Starting(4).Run(),
				Another: changed(func(m *machine) {
					m.New = func(l election.Local) bullying.Process {
						if l.ID == 4 {
							l.Degree = 4
						}
						return bullying.New(l)
					}
				}),
			},
		},
	}
}
