package reproduce

import (
	"fmt"
	"slices"
	"strings"

	bullying "ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
)

// s4Assumptions are the assumptions of S4. Each is kept, and S4 as printed elects; and then not.
var s4Assumptions = []Row{
	{
		Where: "assumption 1, messages", Claim: "the system is synchronous: messages take no longer than is known",
		How: "as printed: delays up to 6, where 6 are expected, and where 1 is", Check: func(b *Bench) Finding { return b.breaks(slowMessages) },
	},
	{
		Where: "assumption 1, processes", Claim: "the system is synchronous: processes handle what they get in time",
		How: "as printed: the highest of 5 handles nothing for 50 units", Check: func(b *Bench) Finding { return b.breaks(slowHandling) },
	},
	{
		Where: "assumption 1, clocks", Claim: "the system is synchronous: clocks run alike",
		How: "as printed: the clock of 4 of 5 is three times as fast", Check: func(b *Bench) Finding { return b.breaks(fastClock) },
	},
	{
		Where: "assumption 2", Claim: "processes may fail at any time, also during the algorithm",
		How: "as printed: every schedule of 3 with two crashes; and winners of 2 to 8 that die after each message of their announcement", Check: failAtAnyTime,
	},
	{
		Where: "assumption 3, stopping", Claim: "a process fails by stopping",
		How: "as printed: 5 of 5 is taken for dead and stands still, and goes on where it was", Check: func(b *Bench) Finding { return b.breaks(goesOn) },
	},
	{
		Where: "assumption 3, restarting", Claim: "a process returns from failure by restarting",
		How: "as printed: 5 of 5 is replaced before anybody suspects it, and does what rule 1 says, or does not", Check: func(b *Bench) Finding { return b.breaks(replaced) },
	},
	{
		Where: "assumption 4", Claim: "a failure detector detects failed processes",
		How: "as printed: 5 of 5 crashes, and nobody says so; or it lives, and 4 is told that it crashed and does not ask it", Check: func(b *Bench) Finding { return b.breaks(noDetector) },
	},
	{
		Where: "assumption 5", Claim: "message delivery is reliable",
		How: "as printed: one message in five is lost; the network is in two parts; nobody hears 5", Check: func(b *Bench) Finding { return b.breaks(lostMessages) },
	},
	{
		Where: "assumption 6", Claim: "each process knows its own id and address and those of all others",
		How: "two of one id; and 4 of 5 does not know 5", Check: func(b *Bench) Finding { return b.breaks(unknownMember) },
	},
}

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
	f := holds(wrong.first, "with it, runs that end right: %d; %s", len(a.kept), strings.Join(found, "; "))
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

func failAtAnyTime(b *Bench) Finding {
	var wrong doubt
	p := proof{subject: among(3, "bully", printed), crashes: 2}
	report, violation := b.prove(p)
	wrong.unless(violation == "", "%s", violation)
	runs := 0
	for n := 2; n <= 8; n++ {
		for sends := range n - 1 {
			t := among(n, "bully", printed).run(fmt.Sprintf("crash %d at 0 after %d sends", n, sends))
			runs++
			r := b.run(t)
			wrong.unless(end(r) == right && len(r.Dead) == 1, "%s: %s", t.replay(), end(r))
		}
	}
	f := holds(wrong.first, "%d states with up to two crashes, %d runs in which the winner dies amid its announcement: the highest that is left leads", report.States, runs)
	f.Replay = p.replay()
	return f
}
