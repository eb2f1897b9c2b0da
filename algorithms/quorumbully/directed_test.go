package quorumbully_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/proofs/refine"
)

type (
	algorithm = election.Algorithm[quorumbully.Process, quorumbully.Message]
	out       = election.Out[quorumbully.Message]
)

// directed is a group whose schedule a test directs, step by step. Messages stay where they are until they are delivered; timers may be late.
type directed struct {
	t         *testing.T
	algorithm algorithm
	log       *refine.Log
	now       uint64
	locals    []election.Local
	members   []*quorumbully.Process
	timers    []map[election.Timer]uint64
	letters   []letter
}

// letter is a message on its way.
type letter struct {
	from, to election.ID
	kind     election.Kind
	message  quorumbully.Message
}

// direct returns a group of so many members, of which 2 and 3 may lead, and the last ones have no vote at first. Nobody has started.
func direct(t *testing.T, a algorithm, members, standby int) *directed {
	t.Helper()
	p, err := a.Set(map[string]string{"lease": "20", "rho": "0", "asking": "no", "standby": fmt.Sprint(standby)})
	if err != nil {
		t.Fatal(err)
	}
	d := &directed{t: t, log: &refine.Log{Clocks: refine.Right{}}}
	d.algorithm = refine.Watched(a, d.log.Add)
	for id := 1; id <= members; id++ {
		local := election.Local{ID: election.ID(id), Degree: members, Parameters: p}
		if id == 2 || id == 3 {
			local.Priority = 1
		}
		member := a.New(local)
		d.locals = append(d.locals, local)
		d.members, d.timers = append(d.members, &member), append(d.timers, map[election.Timer]uint64{})
	}
	return d
}

// step makes a step of a member.
func (d *directed) step(id election.ID, do func(p *quorumbully.Process, out *out)) {
	collect, timers := &election.Collector[quorumbully.Message]{}, d.timers[id-1]
	collect.Clock(election.Units(d.now))
	collect.Choices(func(uint32) uint32 { return 0 })
	do(d.members[id-1], collect.Out())
	for _, m := range collect.Sent() {
		d.letters = append(d.letters, letter{id, election.From(election.Port(m.On())), m.Kind(), m.M})
	}
	for _, e := range collect.Effects() {
		switch e.Op {
		case election.SetTimer:
			timers[e.Timer] = d.now + e.Ticks.Lo
		case election.StopTimer:
			delete(timers, e.Timer)
		}
	}
}

func (d *directed) start(id election.ID) { d.step(id, d.algorithm.Start) }

func (d *directed) command(id election.ID, c election.Command) {
	d.step(id, func(p *quorumbully.Process, out *out) { d.algorithm.Command(p, c, out) })
}

// expires lets a timer expire. It may be late.
func (d *directed) expires(id election.ID, timer election.Timer) {
	d.t.Helper()
	at, runs := d.timers[id-1][timer]
	if !runs {
		d.t.Fatalf("timer %d of %d does not run", timer, id)
	}
	d.now = max(d.now, at)
	delete(d.timers[id-1], timer)
	d.step(id, func(p *quorumbully.Process, out *out) { d.algorithm.Timeout(p, timer, out) })
}

// early lets a timer expire now.
func (d *directed) early(id election.ID, timer election.Timer) {
	d.t.Helper()
	d.timers[id-1][timer] = d.now
	d.expires(id, timer)
}

// delivers delivers the newest message of a kind between two members, and leaves it where it is: it may come again.
func (d *directed) delivers(from, to election.ID, kind election.Kind) {
	d.t.Helper()
	for _, l := range slices.Backward(d.letters) {
		if l.from == from && l.to == to && l.kind == kind {
			d.step(to, func(p *quorumbully.Process, out *out) {
				d.algorithm.Receive(p, election.To(from), kind, l.message, out)
			})
			return
		}
	}
	d.t.Fatalf("no message of kind %d from %d to %d is on its way", kind, from, to)
}

func (d *directed) receives(l letter) {
	d.step(l.to, func(p *quorumbully.Process, out *out) {
		d.algorithm.Receive(p, election.To(l.from), l.kind, l.message, out)
	})
}

// recover lets a member crash and recover at once.
func (d *directed) recover(id election.ID) {
	p := d.members[id-1]
	again := d.algorithm.New(d.locals[id-1])
	again.Kept = p.Kept
	*p = again
	clear(d.timers[id-1])
	d.log.Ended(id)
	d.step(id, d.algorithm.Recover)
}

// asks lets members grant the newest request of one, which counts their answers.
func (d *directed) asks(from election.ID, kind election.Kind, of ...election.ID) {
	d.t.Helper()
	for _, id := range of {
		d.delivers(from, id, kind)
		d.delivers(id, from, quorumbully.Grant)
	}
}

// leads fails unless a member leads.
func (d *directed) leads(id election.ID) {
	d.t.Helper()
	if d.members[id-1].Role != quorumbully.Leader {
		d.t.Fatalf("%d does not lead: %+v", id, *d.members[id-1])
	}
}

// led is such a group, in which 3 leads by the grant of 1, and the others have not started.
func led(t *testing.T, a algorithm, members, standby int) *directed {
	t.Helper()
	d := direct(t, a, members, standby)
	d.start(1)
	d.start(3)
	d.asks(3, quorumbully.Claim, 1)
	d.leads(3)
	return d
}

// lapses is a leader whose lease has run out, and whose timers are late. Then its host asks for something.
func lapses(c election.Command) func(t *testing.T, a algorithm) *directed {
	return func(t *testing.T, a algorithm) *directed {
		d := led(t, a, 3, 0)
		d.now += 20
		d.command(3, c)
		return d
	}
}

// renewsLapsed lets the timer of the next renewal expire when the lease has run out.
func renewsLapsed(t *testing.T, a algorithm) *directed {
	d := led(t, a, 3, 0)
	d.now += 20
	d.early(3, quorumbully.Renewal)
	return d
}

// stops is a leader that stops its work while its lease runs out. Then an answer comes.
func stops(t *testing.T, a algorithm) *directed {
	d := led(t, a, 3, 0)
	d.command(3, election.Command{Order: election.Resign})
	d.now += 10
	d.expires(3, quorumbully.Renewal)
	d.delivers(3, 1, quorumbully.Renew)
	d.now += 15
	d.delivers(1, 3, quorumbully.Grant)
	return d
}

// claimsOnce lets 2 claim in term 2, in vain, follow 3 in term 1, and then receive the Claim of that term.
func claimsOnce(t *testing.T, a algorithm) *directed {
	d := led(t, a, 3, 0)
	d.start(2)
	for _, id := range []election.ID{1, 3} {
		d.delivers(2, id, quorumbully.Claim)
		d.delivers(id, 2, quorumbully.Nack)
	}
	d.expires(2, quorumbully.StageEnd)
	d.delivers(3, 2, quorumbully.Renew)
	if p := d.members[1]; p.Given.Holder != 3 || p.Kept.Promise != 2 {
		t.Fatalf("2 does not follow 3 with a promise above its term: %+v", *p)
	}
	d.delivers(3, 2, quorumbully.Claim)
	return d
}

// livesAgain is claimsOnce, after which the leader crashes, and 2 hears of its next life while it is bound to the one before.
func livesAgain(t *testing.T, a algorithm) *directed {
	d := claimsOnce(t, a)
	d.recover(3)
	d.delivers(2, 3, quorumbully.Claim)
	d.delivers(3, 2, quorumbully.Nack)
	return d
}

// overtakes lets 3 add 4 and remove it again, of which nobody hears the second, while 2 is elected by what was before. Then 1, which keeps what 2 has
// made, receives a Claim to what 3 has made.
func overtakes(t *testing.T, a algorithm) *directed {
	d := led(t, a, 4, 1)
	d.start(4)
	d.start(2)
	d.expires(2, quorumbully.StageEnd)
	d.command(3, election.Command{Order: election.Enlist, Member: 4})
	d.asks(3, quorumbully.Renew, 1, 2)
	d.asks(3, quorumbully.Renew, 1, 2, 4)
	d.command(3, election.Command{Order: election.Dismiss, Member: 4})
	if v := d.members[2].Kept.Voters; v.Term != 1 || v.Version != 2 {
		t.Fatalf("3 keeps the voters %+v", v)
	}
	d.now += 20
	for _, id := range []election.ID{1, 4, 2} {
		d.expires(id, quorumbully.Bound)
	}
	d.expires(3, quorumbully.Lapse)
	d.command(3, election.Command{Order: election.Stopped})
	d.asks(2, quorumbully.Claim, 1, 4)
	d.leads(2)
	d.command(2, election.Command{Order: election.Enlist, Member: 4})
	d.command(2, election.Command{Order: election.Dismiss, Member: 3})
	d.delivers(2, 1, quorumbully.Renew)
	if v := d.members[0].Kept.Voters; v.Term != 2 || v.Version != 1 {
		t.Fatalf("1 keeps the voters %+v", v)
	}
	d.delivers(3, 1, quorumbully.Claim)
	return d
}

// claimsLater is overtakes, after which 3 claims in a term above the promise of 1, which is bound no more.
func claimsLater(t *testing.T, a algorithm) *directed {
	d := overtakes(t, a)
	d.expires(3, quorumbully.StageEnd)
	d.expires(3, quorumbully.StageEnd)
	if p := d.members[2]; p.Role != quorumbully.Candidate || p.Term != 3 {
		t.Fatalf("3 does not claim in term 3: %+v", *p)
	}
	d.expires(1, quorumbully.Bound)
	d.delivers(3, 1, quorumbully.Claim)
	return d
}

// answersCross lets the answer to an earlier request come after that to a later one.
func answersCross(t *testing.T, a algorithm) *directed {
	d := led(t, a, 3, 0)
	for range 2 {
		d.now += 5
		d.early(3, quorumbully.Renewal)
		d.delivers(3, 1, quorumbully.Renew)
	}
	d.delivers(1, 3, quorumbully.Grant)
	last := len(d.letters) - 1
	for l := d.letters[last]; l.kind != quorumbully.Grant; l = d.letters[last] {
		last--
	}
	d.letters = slices.Delete(d.letters, last, last+1)
	d.delivers(1, 3, quorumbully.Grant)
	return d
}

// renewsLate lets 1 grant a Claim of 2 in term 2, while a Renew of 3 in term 1 is on its way. That Renew comes now, and again when 1 has crashed and waits.
func renewsLate(t *testing.T, a algorithm) *directed {
	d := led(t, a, 3, 0)
	d.now += 20
	d.expires(1, quorumbully.Bound)
	d.start(2)
	for _, id := range []election.ID{1, 3} {
		d.delivers(2, id, quorumbully.Claim)
		d.delivers(id, 2, quorumbully.Nack)
	}
	d.delivers(2, 1, quorumbully.Claim)
	if p := d.members[0]; p.Given.Holder != 2 || p.Given.Term != 2 {
		t.Fatalf("1 has not granted term 2: %+v", *p)
	}
	d.delivers(3, 1, quorumbully.Renew)
	d.recover(1)
	d.delivers(3, 1, quorumbully.Renew)
	return d
}

// answersLate lets an answer come after so many newer requests that its leader has forgotten when the request left.
func answersLate(t *testing.T, a algorithm) *directed {
	d := led(t, a, 3, 0)
	d.delivers(3, 1, quorumbully.Renew)
	for range 8 {
		d.now++
		d.early(3, quorumbully.Renewal)
	}
	d.delivers(1, 3, quorumbully.Grant)
	return d
}

// renewsEarly lets the host of a candidate ask for its lease, and for a repetition.
func renewsEarly(t *testing.T, a algorithm) *directed {
	d := direct(t, a, 3, 0)
	d.start(1)
	d.start(3)
	d.command(3, election.Command{Order: election.Confirm, Member: 1})
	d.command(3, election.Command{Order: election.Confirm})
	for _, l := range d.letters {
		if l.to == 1 && l.kind == quorumbully.Renew {
			d.receives(l)
		}
	}
	return d
}

// keepsWithoutVote lets 4, which has no vote, be the first to keep the voters that 3 has made its own. Then 1 keeps them, and 4 votes.
func keepsWithoutVote(t *testing.T, a algorithm) *directed {
	d := led(t, a, 4, 1)
	d.start(4)
	d.command(3, election.Command{Order: election.Enlist, Member: 4})
	d.asks(3, quorumbully.Renew, 4, 1)
	if v := d.members[2].Kept.Voters; v.Version != 1 {
		t.Errorf("3 keeps the voters %+v", v)
	}
	return d
}

// dismisses lets 3 take votes away, one after the other, and in the end its own.
func dismisses(t *testing.T, a algorithm) *directed {
	d := claimsOnce(t, a)
	d.delivers(2, 3, quorumbully.Grant)
	for _, id := range []election.ID{1, 2, 3} {
		d.command(3, election.Command{Order: election.Dismiss, Member: id})
		d.asks(3, quorumbully.Renew, 2)
	}
	if v := d.members[2].Kept.Voters; v.Version != 2 {
		t.Errorf("3 keeps the voters %+v", v)
	}
	return d
}

// claimsOutdated lets 3 lead again, in term 2, and give that term to the voters. Then 2 claims in term 1, and a Nack tells it of them. In the end 3 must
// not lead any more.
func claimsOutdated(t *testing.T, a algorithm) *directed {
	d := led(t, a, 4, 1)
	d.command(3, election.Command{Order: election.Resign})
	d.command(3, election.Command{Order: election.Stopped})
	d.delivers(3, 1, quorumbully.Release)
	d.expires(3, quorumbully.StageEnd)
	d.asks(3, quorumbully.Claim, 1)
	d.leads(3)
	d.command(3, election.Command{Order: election.Enlist, Member: 4})
	d.delivers(3, 1, quorumbully.Renew)
	d.start(2)
	d.delivers(2, 1, quorumbully.Claim)
	d.delivers(1, 2, quorumbully.Nack)
	if v := d.members[1].Kept.Voters; v.Term != 2 {
		t.Errorf("2 keeps the voters %+v", v)
	}
	d.command(3, election.Command{Order: election.Weigh})
	return d
}

// directions are schedules to which explorations do not come, and runs of the simulator rarely or never. Each is for some guards: without one, the mutant
// of that name, or a planted bug, does what the model does not allow.
var directions = map[string]func(t *testing.T, a algorithm) *directed{
	"no lapse before a host asks for the lease":        lapses(election.Command{Order: election.Confirm}),
	"no lapse before a host changes voters":            lapses(election.Command{Order: election.Dismiss, Member: 1}),
	"a renewal after the lease":                        renewsLapsed,
	"no lapse of a leader that stops":                  stops,
	"a Claim is repeated in a term below the promise":  claimsOnce,
	"voters of a later version are newer in any terms": overtakes,
	"a Claim to older voters is granted":               claimsLater,
	"a share becomes shorter":                          answersCross,
	"renewals of a lower term":                         renewsLate,
	"an answer to a forgotten request":                 answersLate,
	"a candidate that renews":                          renewsEarly,
	"a grant to an earlier life":                       livesAgain,
	"voters that a member without a vote keeps":        keepsWithoutVote,
	"votes are taken away":                             dismisses,
	"voters of a term above the promise":               claimsOutdated,
}

func TestDirectedSchedulesRefineTheModel(t *testing.T) {
	for name, schedule := range directions {
		t.Run(name, func(t *testing.T) {
			if _, err := schedule(t, quorumbully.Algorithm).log.Check(t.Context(), 1); err != nil {
				t.Error(err)
			}
			a := quorumbully.Algorithm
			mutate, is := quorumbully.Unguarded[name]
			if !is {
				return
			}
			mutate(&a)
			if _, err := schedule(t, a).log.Check(t.Context(), 1); err == nil {
				t.Error("the mutant is not found")
			} else {
				t.Log(strings.SplitN(err.Error(), "\n", 2)[0])
			}
		})
	}
}
