package reductions

import (
	"math/bits"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify/internal/model"
)

// Confluence where processes have several incoming links; the page on confluence in the package comment has the theorem. One
// run gives the messages, and an assumption: which messages have always been received when one is sent, and which have
// been sent before it on its link. All that each process can do under the assumption is then tried, one process at a
// time. What contradicts the assumption weakens it. Whatever else is odd leaves the order to the search.

// mostReceived is the number of messages to and from one process up to which causes are found: they are bits.
const mostReceived = 64

// mostPoints is the number of points of one process after which an order is left to the search.
const mostPoints = 1 << 14

// bundle is a set of the messages to one process, or from one, by their numbers there.
type bundle = uint64

// sending is a message of the run. The start of a process is one as well, on no link, if the schedule decides when it is.
type sending struct {
	link     int    // -1: a start
	content  uint32 // the number of the message
	from, to int
	sent     int // its number among those of its sender
	received int // … and among those of its receiver

	by     int    // the message whose receipt sent it; -1: a start that comes before all else
	need   bundle // of those to its sender: received before it is sent, in every run
	before bundle // of those to its receiver: received before it is, in every run, since they are sent before it on its link

	past []bundle // by process: what has been received when it is received, in every run
}

// Causes finds out whether all schedules of a setup are one, up to the order of independent steps.
type Causes struct {
	*model.Checker
	all       []sending // in the order in which the run sends them, which is also that of their receipts
	to, from  [][]int   // by process: the messages
	begun     []uint32  // by process: its state before its first receipt
	opened    []bundle  // … and which of its messages it has sent by then
	states    []uint32  // by process: its state in the run
	received  []bundle  // by process, in the run so far: those to it
	moving    []bundle  // by process: those to it that are not still
	first     []bundle  // by process: those that are received before all others, a start that must come first
	Cost      model.Cost
	Steps     int
	changed   bool // the assumption was weakened
	different bool // something is not the same in all schedules, or cannot be decided here
}

// Uncaused returns the premise of this that does not hold, or "".
func Uncaused(o *model.Options, d *election.Declaration, eligible bool) string {
	switch {
	case d.Timing != election.Asynchronous:
		return "time passes"
	case o.Unordered:
		return "links are not FIFO"
	case o.Initiators == nil && d.Starts != election.AllStart && o.Starts == model.AnyTime:
		return "a process may start or not"
	}
	return disturbed(d, o, eligible)
}

// Decides reports whether every schedule from a beginning ends alike, and as it should.
func (k *Causes) Decides(beginning model.Configuration) bool {
	k.prepare(beginning)
	if !k.run(beginning) {
		return false
	}
	for k.changed = true; k.changed && !k.different; {
		k.changed = false
		k.closePasts()
		for q := range k.N {
			k.tryAll(q)
		}
	}
	return !k.different
}

// prepare forgets an earlier beginning.
func (k *Causes) prepare(beginning model.Configuration) {
	n := k.N
	k.all, k.Cost, k.Steps, k.different = k.all[:0], model.Cost{}, 0, false
	k.to, k.from = make([][]int, n), make([][]int, n)
	k.opened, k.received, k.moving, k.first = make([]bundle, n), make([]bundle, n), make([]bundle, n), make([]bundle, n)
	k.states = append(k.states[:0], beginning[:n]...)
}

// run makes one run, and reports whether it ends as it should. Messages are received in the order in which they are sent.
func (k *Causes) run(beginning model.Configuration) bool {
	for q := range k.N {
		if k.Process(beginning, q).Start == model.StartsFirst {
			k.take(q, -1, k.step(k.states[q], model.StepKey{Event: model.Starts}))
		}
	}
	k.begun = append(k.begun[:0], k.states...)
	for q := range k.N {
		k.opened[q] = 1<<len(k.from[q]) - 1
	}
	for q := range k.N {
		if k.Process(beginning, q).Start == model.MustStart {
			if k.Options.Starts == model.Each {
				k.first[q] = 1 << len(k.to[q])
			}
			k.add(sending{link: -1, from: q, to: q, by: -1})
		}
	}
	for number := 0; number < len(k.all) && !k.different; number++ {
		q := k.all[number].to
		o := k.step(k.states[q], k.key(number))
		if o.Process != k.states[q] {
			k.moving[q] |= 1 << k.all[number].received
		}
		k.received[q] |= 1 << k.all[number].received
		k.take(q, number, o)
	}
	return !k.different && k.right()
}

// key returns the event of the receipt of a message, but not the process.
func (k *Causes) key(number int) model.StepKey {
	m := &k.all[number]
	if m.link < 0 {
		return model.StepKey{Event: model.Starts}
	}
	return model.StepKey{Event: model.Receives, At: uint16(k.Links[m.link].Port), Message: m.content}
}

// step makes a step, which must have one outcome that breaks nothing, and leave nothing to do but to receive.
func (k *Causes) step(state uint32, key model.StepKey) *model.Outcome {
	key.Process = state
	outcomes := k.OutcomesOf(key)
	o := &outcomes[0]
	if len(outcomes) > 1 || o.Breach != nil || k.Processes.Values[o.Process].Stopping {
		k.different = true
	}
	return o
}

// take takes over a step of the run, the receipt of a message or a start before all else.
func (k *Causes) take(q, number int, o *model.Outcome) {
	k.Steps++
	k.states[q] = o.Process
	k.Cost.Election += k.Costs[o.Cost].Election
	k.Cost.Announcement += k.Costs[o.Cost].Announcement
	first := int(k.Network.Network.First(q))
	for _, s := range o.Sent {
		l := first + int(s.Port)
		m := sending{link: l, content: s.Message, from: q, to: k.Links[l].To, by: number, need: k.received[q]}
		for _, earlier := range k.from[q] {
			if e := &k.all[earlier]; e.link == l {
				m.before |= 1 << e.received
			}
		}
		k.add(m)
	}
}

// add adds a message.
func (k *Causes) add(m sending) {
	m.sent, m.received = len(k.from[m.from]), len(k.to[m.to])
	k.different = k.different || max(m.sent, m.received) == mostReceived
	if k.different {
		return
	}
	k.from[m.from] = append(k.from[m.from], len(k.all))
	k.to[m.to] = append(k.to[m.to], len(k.all))
	k.all = append(k.all, m)
}

// right reports whether the run ended as it should.
func (k *Causes) right() bool {
	clear(k.Base)
	copy(k.Base, k.states)
	g := *k.Options.Unused()
	g.Begun = true
	k.SetGlobal(k.Base, &g)
	if k.Settled(k.Base) != nil {
		return false
	}
	for q := range k.N {
		if k.Process(k.Base, q).Decision.Role == network.Leader && k.Best != 0 && k.Network.ID(q) != k.Best {
			return false
		}
	}
	return true
}

// move declares that the receipt of a message changes a state.
func (k *Causes) move(number int) {
	k.moving[k.all[number].to] |= 1 << k.all[number].received
}

// isStill reports whether the receipt of a message changes no state, and always sends the same.
func (k *Causes) isStill(number int) bool {
	return number >= 0 && k.moving[k.all[number].to]>>k.all[number].received&1 == 0
}

// closePasts finds what has been received, in every run of the assumption, when a message is received.
func (k *Causes) closePasts() {
	pasts := make([]bundle, len(k.all)*k.N)
	for number := range k.all {
		m := &k.all[number]
		m.past = pasts[number*k.N : (number+1)*k.N]
		k.addPast(m.past, m.from, m.need)
		k.addPast(m.past, m.to, m.before)
		if own := bundle(1) << m.received; own != k.first[m.to] {
			k.addPast(m.past, m.to, k.first[m.to])
		}
	}
}

// addPast adds some messages to a process, with what has been received before them. They are earlier in the run.
func (k *Causes) addPast(past []bundle, q int, some bundle) {
	past[q] |= some
	for ; some != 0; some &= some - 1 {
		for p, more := range k.all[k.to[q][bits.TrailingZeros64(some)]].past {
			past[p] |= more
		}
	}
}

// point is what a process is once it has received some of its moving messages, in any order.
type point struct {
	states []uint32 // which depend on the order; what it sends does not
	sent   bundle   // of its messages, those that moving ones or its start before all else have sent
	sure   bundle   // of those to it: received by then in every run
}

// tryAll lets a process receive its messages in every order that the assumption allows.
func (k *Causes) tryAll(q int) {
	points := map[bundle]*point{0: {[]uint32{k.begun[q]}, k.opened[q], 0}}
	tried := 0
	for list := []bundle{0}; len(list) > 0; list = list[1:] { // fewer messages first
		here := list[0]
		at := points[here]
		for i, number := range k.to[q] {
			own, past := bundle(1)<<i, k.all[number].past[q]
			if here&own != 0 || past&k.moving[q]&^here != 0 {
				continue
			}
			to := at
			if !k.isStill(number) {
				if to = points[here|own]; to == nil {
					to = &point{}
					points[here|own], list = to, append(list, here|own)
				}
			}
			for _, state := range at.states {
				if tried++; tried > mostPoints {
					k.different = true
				}
				if !k.receive(q, number, state, at, to) {
					return
				}
			}
		}
	}
	for _, state := range points[k.moving[q]].states {
		k.different = k.different || k.Processes.Values[state].Decision != k.Processes.Values[k.states[q]].Decision
	}
}

// receive lets a process receive a message at a point, and reports whether to go on.
func (k *Causes) receive(q, number int, state uint32, at, to *point) bool {
	o := k.step(state, k.key(number))
	sure := at.sure | k.all[number].past[q] | 1<<k.all[number].received
	sent, fits := k.sends(q, number, o, at.sent, sure)
	if k.isStill(number) {
		if fits = fits && o.Process == state; !fits {
			k.move(number)
			k.changed = true
		}
		return fits && !k.different
	}
	if len(to.states) == 0 {
		to.sent, to.sure = sent, sure
	}
	if k.different = k.different || !fits || to.sent != sent; !slices.Contains(to.states, o.Process) {
		to.states = append(to.states, o.Process)
	}
	return !k.different
}

// sends returns what a process has sent after a receipt, and whether the run sends that, too. It weakens the assumption where the
// receipt contradicts it.
func (k *Causes) sends(q, number int, o *model.Outcome, gone, sure bundle) (sent bundle, fits bool) {
	sent = gone
	first := int(k.Network.Network.First(q))
	for _, s := range o.Sent {
		m := k.same(q, number, first+int(s.Port), s.Message, sent)
		if m == nil {
			return sent, false
		}
		k.weaken(m, number, sure, sent)
		sent |= 1 << m.sent
	}
	for _, other := range k.from[q] {
		if m := &k.all[other]; k.isStill(number) && m.by == number && sent>>m.sent&1 == 0 {
			return sent, false
		}
	}
	return sent, true
}

// same returns the message of the run that a receipt sends, or nil; not one of those that are gone.
func (k *Causes) same(q, number, l int, content uint32, gone bundle) *sending {
	still := k.isStill(number)
	for _, other := range k.from[q] {
		m := &k.all[other]
		if m.link == l && m.content == content && gone>>m.sent&1 == 0 && (m.by == number || !still && !k.isStill(m.by)) {
			return m
		}
	}
	return nil
}

// weaken drops what the assumption has on a message and what need not be so when a receipt sends it.
func (k *Causes) weaken(m *sending, number int, sure, gone bundle) {
	k.changed = k.changed || m.need&^sure != 0
	m.need &= sure
	for some := m.before; some != 0; some &= some - 1 {
		e := &k.all[k.to[m.to][bits.TrailingZeros64(some)]]
		switch {
		case gone>>e.sent&1 == 1: // sent by then
		case k.isStill(e.by) && e.by != number && sure>>k.all[e.by].received&1 == 1: // so is this
		default:
			m.before &^= 1 << e.received
			k.changed = true
		}
	}
}
