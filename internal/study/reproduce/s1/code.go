package s1

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// s1Code are the local variables and lines 1 to 5 and 9 to 30 of S1's code, with the operators that the scan lost put back. A line with a condition is seen in
// what the block does that it leads to: that happens if the condition holds, and otherwise not. (The text has lines 1-26
// and 27-31 for what are lines 18-25 and 26-30.)
var s1Code = []reproduce.Row{
	{
		Where: "Bully, local variables", Claim: "each processor has five: id, asleep, CWreplied, CCWreplied and leader",
		How:   "their values over each run, " + codeRingsAre,
		Check: localVariables,
	},
	initially(1, "INITIALISATION: of all, before time 0", func(p ringbully.Process, id uint64) bool { return p == ringbully.Process{ID: election.ID(id)} }),
	initially(2, "asleep := TRUE", func(p ringbully.Process, _ uint64) bool { return !p.Awake }),
	initially(3, "CWreplied := FALSE", func(p ringbully.Process, _ uint64) bool { return !p.Replied[ringbully.CW] }),
	initially(4, "CCWreplied := FALSE", func(p ringbully.Process, _ uint64) bool { return !p.Replied[ringbully.CCW] }),
	initially(5, "leader := NIL", func(p ringbully.Process, _ uint64) bool { return p.Leader == undecided }),
	action(9, "PROCESS MESSAGE probe that has arrived on link CW (resp. CCW)", isProbe, func(a *act) bool {
		return (len(a.sent) > 0 || a.after != a.before) == (wins(a) || passes(a) || bounces(a))
	}),
	condition(10, "IF id = ids and leader = NIL", probe, wins, settles),
	action(11, "THEN SEND terminate to link CCW", wins, func(a *act) bool {
		return a.sends(message{ringbully.CCW, terminate, ringbully.Message{}})
	}),
	action(12, "leader := TRUE", wins, func(a *act) bool { return a.after.Leader == isLeader }),
	action(13, "TERMINATE: decided, and never again", decidesAsLeader, func(a *act) bool {
		return slices.Equal(a.decided, []string{network.Leader.String()}) == wins(a) && (wins(a) || len(a.decided) == 0)
	}),
	condition(14, "IF ids > id and ttl > 0", probe, passes, func(a *act) bool { return a.count(probe) > 0 }),
	{
		Where: "Bully, code line 15", Claim: "THEN SEND ⟨probe, ids, phase, ttl⟩ to the other link",
		How: "each probe that is passed on, " + codeRingsAre + "; and total messages compared with Theorem 13.10, with ttl as printed and with ttl - 1, as the text " +
			"has it, on n, 1, n - 1, 2, …",
		Check: line15,
	},
	condition(16, "IF ids > id and ttl = 0", probe, bounces, func(a *act) bool { return a.count(reply) > 0 }),
	action(17, "THEN SEND ⟨reply, ids, phase⟩ to the link that the probe came from", bounces, func(a *act) bool {
		return a.sends(message{a.link, reply, ringbully.Message{ID: a.m.ID, Phase: a.m.Phase}})
	}),
	action(18, "PROCESS MESSAGE reply that has arrived on link CW (resp. CCW)", isReply, func(a *act) bool { return len(a.sent) > 0 || a.after != a.before }),
	condition(19, "IF id ≠ ids", reply, others, func(a *act) bool { return a.count(reply) > 0 }),
	action(20, "THEN SEND ⟨reply, ids, phase⟩ to the other link", andReply(others), func(a *act) bool {
		return a.sends(message{1 - a.link, reply, a.m}) && a.after == a.before
	}),
	action(21, "ELSE CWreplied (resp. CCWreplied) := TRUE", firstReply, func(a *act) bool {
		marked := a.before
		marked.Replied[a.link] = true
		return a.after == marked
	}),
	condition(22, "IF CWreplied and CCWreplied", reply, secondReply, func(a *act) bool { return a.count(probe) > 0 }),
	action(23, "THEN CWreplied := FALSE", secondReply, func(a *act) bool { return !a.after.Replied[ringbully.CW] }),
	action(24, "CCWreplied := FALSE", secondReply, func(a *act) bool { return !a.after.Replied[ringbully.CCW] }),
	action(25, "SEND ⟨probe, id, phase + 1, 2^(phase+1) - 1⟩ to links CW and CCW", secondReply, func(a *act) bool {
		m := ringbully.Message{ID: a.before.ID, Phase: a.m.Phase + 1, TTL: 1<<(a.m.Phase+1) - 1}
		return a.sends(message{ringbully.CW, probe, m}, message{ringbully.CCW, probe, m})
	}),
	action(26, "PROCESS MESSAGE terminate that has arrived on link CW", isTerminate, func(a *act) bool {
		return a.link == ringbully.CW && (a.before.Leader != undecided || settles(a))
	}),
	condition(27, "IF leader = NIL", terminate, ends, settles),
	action(28, "THEN SEND terminate to link CCW", ends, func(a *act) bool { return a.sends(message{ringbully.CCW, terminate, a.m}) }),
	action(29, "leader := FALSE", ends, func(a *act) bool { return a.after.Leader == isNone }),
	action(30, "TERMINATE: decided, and never again", isTerminate, func(a *act) bool {
		return slices.Equal(a.decided, []string{network.Follower.String()}) == ends(a) && (ends(a) || len(a.decided) == 0)
	}),
}

// The kinds of messages.
const (
	probe     = "probe"
	reply     = "reply"
	terminate = "terminate"
)

// What the variable leader is: NIL, TRUE and FALSE.
const (
	undecided = iota
	isLeader
	isNone
)

// act is a message that a processor of S1's Bully processes, and all that it does then.
type act struct {
	link          election.Port
	kind          string
	m             ringbully.Message
	before, after ringbully.Process
	sent          []message
	decided       []string // roles
}

// message is one that is sent to a link.
type message struct {
	link election.Port
	kind string
	m    ringbully.Message
}

// sends reports whether these messages are sent, and no others.
func (a *act) sends(these ...message) bool { return slices.Equal(a.sent, these) }

// count returns the number of sent messages of a kind.
func (a *act) count(kind string) (sent int) {
	for _, m := range a.sent {
		if m.kind == kind {
			sent++
		}
	}
	return sent
}

func (a *act) String() string {
	return fmt.Sprintf("%+v receives %s %+v on link %d, sends %+v and is then %+v, decided: %d",
		a.before, a.kind, a.m, a.link, a.sent, a.after, len(a.decided))
}

// The conditions of the lines.
func wins(a *act) bool {
	return a.kind == probe && a.m.ID == a.before.ID && a.before.Leader == undecided
}

func passes(a *act) bool { return a.kind == probe && a.m.ID > a.before.ID && a.m.TTL > 0 }

func bounces(a *act) bool { return a.kind == probe && a.m.ID > a.before.ID && a.m.TTL == 0 }

func others(a *act) bool { return a.m.ID != a.before.ID }

func firstReply(a *act) bool { return isReply(a) && !others(a) && !a.before.Replied[1-a.link] }

func secondReply(a *act) bool { return isReply(a) && !others(a) && a.before.Replied[1-a.link] }

func ends(a *act) bool { return isTerminate(a) && a.before.Leader == undecided }

func isProbe(a *act) bool { return a.kind == probe }

func isReply(a *act) bool { return a.kind == reply }

func isTerminate(a *act) bool { return a.kind == terminate }

func andReply(condition func(*act) bool) func(*act) bool {
	return func(a *act) bool { return isReply(a) && condition(a) }
}

// decidesAsLeader checks where line 13 is reached, and that it is not reached after a decision.
func decidesAsLeader(a *act) bool { return wins(a) || a.before.Leader == isLeader }

// settles reports whether a processor does anything that makes it the leader or not.
func settles(a *act) bool {
	return a.count(terminate) > 0 || a.after.Leader != a.before.Leader || len(a.decided) > 0
}

// codeRings are the rings on which the lines are watched.
func codeRings(yield func(election.Arrangement) bool) {
	for n := 1; n <= 6; n++ {
		for ids := range reproduce.Rings(n) {
			if !yield(ids) {
				return
			}
		}
	}
	reproduce.LargeRings(8, 16, 33)(yield)
}

const codeRingsAre = "every order of up to 6 identifiers, and ordered and random rings of up to 33, random schedules: processors before and after each message"

// watch runs S1's Bully on these rings, under a random schedule in which messages overtake one another and processors
// wake at any time, and has each step looked at.
func watch(b *reproduce.Bench, each func(id uint64, s *trace.Step, before *ringbully.Process, after ringbully.Process)) {
	for ids := range codeRings {
		n := uint64(ids.Len())
		r := b.Simulate(bully, simulate.Options{
			Setup: network.Setup{IDs: ids}, Schedule: simulate.Random, AnyTime: true, Seed: ids.At(0),
			Faults: faults.Script{Unordered: true}, Limit: 16*n*n + 256, Record: true,
		})
		states := make([]*ringbully.Process, n)
		for i := range r.Record.Steps {
			step := &r.Record.Steps[i]
			after := step.StateValue.Is.(ringbully.Process)
			each(ids.At(step.Process), step, states[step.Process], after)
			states[step.Process] = &after
		}
	}
}

// acts has each message looked at that a processor processes.
func acts(b *reproduce.Bench, each func(*act)) {
	watch(b, func(id uint64, s *trace.Step, before *ringbully.Process, after ringbully.Process) {
		if before == nil { // it is as lines 1 to 5 say
			before = &ringbully.Process{ID: election.ID(id)}
		}
		if s.Event == trace.Receive {
			each(actOf(s, *before, after))
		}
	})
}

// initially is the row of a line that initialises a variable. What a processor is before its first event is seen after it: to wake
// changes asleep alone, and to serve others changes nothing.
func initially(number int, claim string, right func(ringbully.Process, uint64) bool) reproduce.Row {
	return reproduce.Row{
		Where: fmt.Sprintf("Bully, code line %d", number), Claim: claim, How: "each processor's first event, " + codeRingsAre,
		Check: func(b *reproduce.Bench) reproduce.Finding {
			var d reproduce.Doubt
			woken, serving := 0, 0
			watch(b, func(id uint64, s *trace.Step, before *ringbully.Process, after ringbully.Process) {
				if before != nil {
					return
				}
				if s.Event == trace.Start {
					woken++
					after.Awake = false
				} else {
					serving++
				}
				d.Unless(right(after, id), "%d begins as %+v", id, after)
			})
			d.Unless(woken > 0 && serving > 0, "%d processors wake first, and %d serve others first", woken, serving)
			return d.Finding("true of %d processors that wake first, and of %d that serve others first", woken, serving)
		},
	}
}

// localVariables follows each variable through runs.
func localVariables(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	type values struct{ asleep, cw, ccw, decided int } // how often each changes
	var all values
	watch(b, func(id uint64, s *trace.Step, before *ringbully.Process, after ringbully.Process) {
		if before == nil {
			before = &ringbully.Process{ID: election.ID(id)}
		}
		d.Unless(after.ID == election.ID(id), "id of %d becomes %d", id, after.ID)
		woken := s.Event == trace.Start
		d.Unless(before.Awake != after.Awake == woken && (after.Awake || !woken), "%d: asleep changes, or not, in step %+v", id, s)
		d.Unless(before.Leader == after.Leader || before.Leader == undecided, "%d: leader changes again in step %+v", id, s)
		if woken {
			all.asleep++
		}
		if after.Replied[ringbully.CW] != before.Replied[ringbully.CW] {
			all.cw++
		}
		if after.Replied[ringbully.CCW] != before.Replied[ringbully.CCW] {
			all.ccw++
		}
		if after.Leader != before.Leader {
			all.decided++
		}
	})
	d.Unless(all.asleep > 0 && all.cw > 0 && all.ccw > 0 && all.decided == all.asleep, "changes: %+v", all)
	return d.Finding("id never changes; asleep becomes FALSE once, and leader TRUE or FALSE once, at each of %d processors; CWreplied changes %d times, CCWreplied %d times",
		all.asleep, all.cw, all.ccw)
}

// actOf reads a step of a record.
func actOf(step *trace.Step, before, after ringbully.Process) *act {
	a := &act{link: election.Port(step.Port), kind: step.Kind, m: step.MessageValue.Is.(ringbully.Message), before: before, after: after}
	for _, s := range step.Sent {
		a.sent = append(a.sent, message{election.Port(s.Port), s.Kind, s.Value.Is.(ringbully.Message)})
	}
	for _, decision := range step.Decided {
		a.decided = append(a.decided, decision.Role)
	}
	return a
}

// condition is the row of a line with a condition: what it leads to is seen if it holds, and otherwise not, both of which
// has to happen.
func condition(number int, claim, kind string, holds, seen func(*act) bool) reproduce.Row {
	return reproduce.Row{
		Where: fmt.Sprintf("Bully, code line %d", number), Claim: claim, How: "where what it leads to is seen, " + codeRingsAre,
		Check: func(b *reproduce.Bench) reproduce.Finding {
			var d reproduce.Doubt
			true, false := 0, 0
			acts(b, func(a *act) {
				if a.kind != kind {
					return
				}
				if holds(a) {
					true++
				} else {
					false++
				}
				d.Unless(holds(a) == seen(a), "%v", a)
			})
			d.Unless(true > 0 && false > 0, "it is met %d times, and not met %d times", true, false)
			return d.Finding("met %d times, and then only what it leads to happens; not met %d times", true, false)
		},
	}
}

// action is the row of a line that does something: that is seen wherever the line is reached.
func action(number int, claim string, reached, seen func(*act) bool) reproduce.Row {
	return reproduce.Row{
		Where: fmt.Sprintf("Bully, code line %d", number), Claim: claim, How: "what is seen where it is reached, " + codeRingsAre,
		Check: func(b *reproduce.Bench) reproduce.Finding {
			var d reproduce.Doubt
			times := 0
			acts(b, func(a *act) {
				if reached(a) {
					times++
					d.Unless(seen(a), "%v", a)
				}
			})
			d.Unless(times > 0, "it is never reached")
			return d.Finding("reached %d times: true each time", times)
		},
	}
}

// line15 looks at the probes that are passed on, and compares the two readings of the line on orders in which every
// other processor enters phase 1.
func line15(b *reproduce.Bench) reproduce.Finding {
	var d reproduce.Doubt
	passed, unchanged, less := 0, 0, 0
	acts(b, func(a *act) {
		if !passes(a) {
			return
		}
		passed++
		if a.sends(message{1 - a.link, probe, a.m}) {
			unchanged++
		}
		one := a.m
		if one.TTL--; a.sends(message{1 - a.link, probe, one}) {
			less++
		}
	})
	const n = 1024
	ids := make(election.List, n)
	for p := range ids {
		ids[p] = uint64(n - p/2)
		if p%2 == 1 {
			ids[p] = uint64(p/2) + 1
		}
	}
	printed := ringbully.Algorithm
	printed.Receive = func(p *ringbully.Process, port election.Port, kind election.Kind, m ringbully.Message, out *election.Out[ringbully.Message]) {
		if kind == ringbully.Probe && m.ID > p.ID && m.TTL > 0 {
			out.Send(1-port, ringbully.Probe, m)
			return
		}
		p.Receive(port, kind, m, out)
	}
	o := simulate.Options{Setup: network.Setup{IDs: ids}}
	most := ringbully.Algorithm.Bound(election.Worst).Value(n)
	same := reproduce.Variant(printed, o)
	right := b.Simulate(bully, o)
	return reproduce.HoldsCorrected(passed > 0 && unchanged == passed && same.Messages.Total <= most, d.First == "" && passed > 0 && less == passed && right.Right && right.Messages.Total <= most,
		"ttl - 1, as the text has it: otherwise probes of phase 1 run on to a larger identifier",
		"%d probes are passed on, %d with ttl, %d with ttl - 1; n = %d: %d messages with ttl, %d with ttl - 1, at most %d by the theorem",
		passed, unchanged, less, n, same.Messages.Total, right.Messages.Total, most)
}
