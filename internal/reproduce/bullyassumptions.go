package reproduce

import (
	"fmt"
	"slices"
	"strings"

	bullying "ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
)

// printed is the parameter that makes rule 5 what S4 prints.
const printed = "bullying=no"

// assumption is what an algorithm is run under, and without.
type assumption struct {
	kept    []trial
	dropped []dropped
}

// dropped is a run without an assumption.
type dropped struct {
	what string
	trial
	another func(election.Algorithm[bullying.Process, bullying.Message]) election.Algorithm[bullying.Process, bullying.Message] // runs instead; may be nil
	refused bool                                                                                                                // there can be no such run
	seeds   uint64                                                                                                              // so many are tried until one goes wrong; 0: one
}

// machine is Bully's state machine.
type machine = election.Algorithm[bullying.Process, bullying.Message]

// breaks finds that an assumption is needed: all is right with it, and wrong without.
func (b *Bench) breaks(a assumption) Finding {
	var wrong doubt
	for _, t := range a.kept {
		r := b.run(t)
		wrong.unless(end(r) == right, "with it, too: %s: %s", t.replay(), end(r))
	}
	var found []string
	replay := ""
	for _, d := range a.dropped {
		got, t := b.drop(d)
		wrong.unless(got != right, "%s: that does no harm", d.what)
		found = append(found, d.what+": "+got)
		if replay == "" && d.another == nil && !d.refused {
			replay = t.replay()
		}
	}
	f := holdsUnless(wrong.first, "with it, runs that end right: %d; %s", len(a.kept), strings.Join(found, "; "))
	f.Replay = replay
	return f
}

// drop runs without an assumption, and says how that ends.
func (b *Bench) drop(d dropped) (how string, t trial) {
	t = d.trial
	if d.refused {
		if _, err := b.algorithm(t.algorithm).Simulate(t.options()); err != nil {
			return "refused, as " + err.Error()[strings.LastIndex(err.Error(), ": ")+2:], t
		}
		return right, t
	}
	for seed := range max(1, d.seeds) {
		t.seed = seed + 1
		if d.another != nil {
			how = end(variant(d.another(bullying.Algorithm), t.options()))
		} else {
			how = end(b.run(t))
		}
		if how != right {
			break
		}
	}
	return how, t
}

// five are 5 processes under S4 as printed.
func five(set ...string) subject { return among(5, "bully", append(slices.Clone(set), printed)...) }

// usual is how runs go if nothing is amiss: each alone starts; all start and the coordinator crashes.
func usual(set ...string) (trials []trial) {
	for _, id := range upTo(5) {
		trials = append(trials, five(set...).starting(id).run())
	}
	return append(trials, five(set...).run("crash 5 at 50"))
}

// within has delays of up to 6, which are expected.
func within() (trials []trial) {
	for seed := range uint64(100) {
		t := five("delay=6").run("crash 5 at 100")
		t.seed = seed
		trials = append(trials, t)
	}
	return trials
}

var slowMessages = assumption{
	kept: within(),
	dropped: []dropped{
		{what: "delays up to 6 where 1 is expected", trial: slow(five().run(), 6), seeds: 100},
		{what: "waiting for 4 units where question and answer take up to 4", trial: slow(five("delay=2", "answer-timeout=4").starting(1, 2, 3, 4).run("dead 5"), 2), seeds: 3000},
	},
}

// slow is a trial with longer delays.
func slow(t trial, delay uint64) trial {
	t.delay = delay
	return t
}

var slowHandling = assumption{
	kept:    usual(),
	dropped: []dropped{{what: "5 stands still until 50", trial: five().starting(1).run("pause 5 from 0 until 50")}},
}

var fastClock = assumption{
	kept:    usual(),
	dropped: []dropped{{what: "the clock of 4 counts 3 units for 1", trial: five().starting(4).run("drift 4 by 3")}},
}

// unbelieving is S4 as printed, which says nothing of a suspicion that was wrong.
func unbelieving(m machine) machine {
	m.Trust = func(*bullying.Process, election.Port, *election.Out[bullying.Message]) {}
	return m
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

var goesOn = assumption{
	kept: append(usual(), five().run("crash 5 at 50")),
	dropped: []dropped{
		{what: "5 stands still for ever, and still leads", trial: five().run(standsStill(0)...)},
		{what: "it goes on at 100", trial: five().run(standsStill(100)...), another: unbelieving},
	},
}

var replaced = assumption{
	kept: []trial{five().run("crash 5 at 50", "recover 5 at 51")},
	dropped: []dropped{{
		what: "5 is another one that does not begin by rule 1", trial: five().run("crash 5 at 50", "recover 5 at 51"),
		another: func(m machine) machine {
			m.Recover = func(*bullying.Process, *election.Out[bullying.Message]) {}
			return m
		},
	}},
}

var noDetector = assumption{
	kept: usual(),
	dropped: []dropped{
		{
			what: "there is none", trial: five().run("crash 5 at 50"),
			another: func(m machine) machine {
				m.Suspect, m.Trust = nil, nil
				return m
			},
		},
		{what: "it errs", trial: five("known-dead=skipped").run("suspect 4 of 5 from 50"), another: unbelieving},
		{what: "it errs, and winners tell lower ones only", trial: five("known-dead=skipped", "victory=lower").run("suspect 4 of 5 from 50")},
	},
}

var lostMessages = assumption{
	kept: usual(),
	dropped: []dropped{
		{what: "one in five is lost", trial: five().starting(1).run("lose 1/5"), seeds: 1000},
		{what: "two parts", trial: five().run("partition 1,2 | 3,4,5 from 50")},
		{what: "nobody hears 5", trial: five().run("cut 5 -> 1,2,3,4 from 50")},
	},
}

var unknownMember = assumption{
	kept: usual(),
	dropped: []dropped{
		{what: "two of one id", trial: subject{algorithm: "bully", ids: []uint64{1, 2, 2}}.run(), refused: true},
		{
			what: "4 does not know 5, and starts", trial: five().starting(4).run(),
			another: func(m machine) machine {
				m.New = func(l election.Local) bullying.Process {
					if l.ID == 4 {
						l.Degree = 4
					}
					return bullying.New(l)
				}
				return m
			},
		},
	},
}

