package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/network"
)

// The properties that a single step can violate, as engines name them.
const (
	BrokeContract = "broke the contract"
	Panicked      = "panic"
)

// The violations of a checked step, with the process as the subject.
var (
	ErrShared   = errors.New("writes into a list that was sent, received or stored, and that others share")
	ErrAppended = errors.New("appends to a list that was sent, received or stored, and that others may share; it must append to x[:len(x):len(x)]")
	ErrConstant = errors.New("changes a field that is declared constant")
	ErrImpure   = errors.New("does something else when the same step is made again; a step depends on its arguments and Choose only")
)

// checker makes steps twice, and holds the compared data.
type checker struct {
	slot           int  // for the trial of a step; 0: none yet
	twice          bool // New and Eligible are called twice
	births         int  // how often New was
	choose         func(n uint32) uint32
	made           []choice // by the first of two steps
	next           int      // … the index of the second one's next choice
	constant, told []byte   // fields before and after a step
	guard          codec.Guard
	first, further []byte // the effects of the two steps, except those below
	other          []election.Effect
	larger, peers  *Stranger // each makes a step in every other checked step
	turn           bool      // it is that of the peers
	met            bool      // the strangers were asked for; there may be none
	listing        *listing  // of the lines of each step; nil: they are not asked for
	underWay       underWay
}

// mostKnown limits the processes of an election whose strangers are one more.
const mostKnown = 1024

// ErrNoChoice reports that a step chooses from no values.
var ErrNoChoice = fmt.Errorf("%w: chooses from 0 values; Choose needs at least one", ErrBroken)

// Blame returns the property that a panicking step violates, and what it does, with the process as the subject. The text is one line that
// a terminal shows as it is, whatever an algorithm panics with.
func Blame(fault any) (property, how string) {
	if err, is := fault.(error); is && errors.Is(err, ErrBroken) {
		return BrokeContract, line(strings.TrimPrefix(err.Error(), ErrBroken.Error()+": "))
	}
	if unknown, is := fault.(election.KindError); is {
		return BrokeContract, unknown.Error()
	}
	return Panicked, line(fmt.Sprintf("panics: %v", fault))
}

// longest is the largest number of characters of a text that an algorithm has made.
const longest = 400

// line returns a text in one line of at most longest characters, and writes those that have no form as Go does.
func line(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	var b strings.Builder
	count := 0
	for at, r := range text {
		if count++; count > longest {
			return fmt.Sprintf("%s… (%d bytes more)", b.String(), len(text)-at)
		}
		switch _, size := utf8.DecodeRuneInString(text[at:]); {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[at])
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// errNewborn and errEligible report functions that are no steps, and depend on more than their argument.
var (
	errNewborn  = fmt.Errorf("%w: makes another process when it is called again; it depends on its argument only", ErrBroken)
	errEligible = fmt.Errorf("%w: has another answer when it is asked again; it depends on its argument only", ErrBroken)
)

// check gives checked steps a slot for their trials, and lets [Watch] see calls that do not return. With twice, New and Eligible are called
// twice and compared.
func (ps *Processes) check(twice bool) {
	ps.checker.slot, ps.checker.twice = ps.Grow(1), twice
	ps.watch()
}

// strangers makes the strangers of checked steps, if there are none yet.
func (ps *Processes) strangers() {
	c := &ps.checker
	if !c.met {
		c.met, c.larger, c.peers = true, ps.Program.Stranger(min(ps.network.Size(), mostKnown)+1), ps.Program.peers(ps.network)
	}
}

type choice struct{ among, value uint32 }

// Checked is [Processes.Step] made twice, on a copy of the state first, and with a step of a [Stranger] between. The error is an ErrShared, ErrAppended,
// ErrConstant or ErrImpure; the effects are then invalid. A checked step takes about five times as long, and more if states are long
// lists.
func (ps *Processes) Checked(slot, position int, e Event, now election.Ticks) (*Effects, error) {
	c := &ps.checker
	if c.slot == 0 {
		ps.check(false)
	}
	c.underWay.position, c.underWay.function, c.underWay.event = position, "", e
	c.underWay.begin()
	defer c.underWay.end()
	defer ps.store.choices(c.choose)
	c.made, c.next = c.made[:0], 0
	c.constant = ps.AppendState(c.constant[:0], slot, now, codec.Constant)
	sent, err := ps.try(slot, position, e, now)
	if err != nil {
		return &Effects{}, err
	}
	if c.listing != nil {
		ps.list(slot, position, e, now, sent)
		c.next = 0
	}
	ps.strangers()
	if c.turn = !c.turn; c.turn {
		c.peers.Step()
	} else {
		c.larger.Step()
	}
	ps.store.choices(c.repeat)
	effects := ps.Step(slot, position, e, now)
	c.further = ps.done(c.further[:0], slot, effects, now)
	c.told = ps.AppendState(c.told[:0], slot, now, codec.Constant)
	switch {
	case c.next < len(c.made) || !bytes.Equal(c.first, c.further) || !slices.Equal(c.other, effects.Other):
		return effects, ErrImpure
	case !bytes.Equal(c.constant, c.told):
		return effects, ErrConstant
	}
	return effects, nil
}

// try makes the first of two steps. Its lists are copies with room behind them, so that any write into them is seen. It returns
// the number of sent messages.
func (ps *Processes) try(slot, position int, e Event, now election.Ticks) (sent int, err error) {
	c, plans, received := &ps.checker, &ps.Program.Plans, e
	ps.Copy(c.slot, slot)
	c.guard.Clear()
	c.guard.Add(plans.State, ps.store.state(c.slot))
	if e.What == Received && plans.Message.Lists() {
		received.Message = ps.store.double(e.Message)
		c.guard.Add(plans.Message, ps.store.message(received.Message))
	}
	ps.store.choices(c.record)
	tried := ps.Step(c.slot, position, received, now)
	c.first = ps.done(c.first[:0], c.slot, tried, now)
	c.other = append(c.other[:0], tried.Other...)
	for i := range tried.Sent {
		ps.Release(tried.Sent[i].Message)
	}
	if received.Message != e.Message {
		ps.Release(received.Message)
	}
	switch written, beyond := c.guard.Written(); {
	case written:
		return 0, ErrShared
	case beyond:
		return 0, ErrAppended
	}
	return len(tried.Sent), nil
}

// done encodes the result of a step: the state, and its messages.
func (ps *Processes) done(dst []byte, slot int, effects *Effects, now election.Ticks) []byte {
	dst = ps.AppendState(dst, slot, now, codec.Whole)
	for i := range effects.Sent {
		s := &effects.Sent[i]
		dst = binary.LittleEndian.AppendUint32(dst, s.Link)
		dst = ps.AppendMessage(dst, s.Message)
	}
	return dst
}

// record chooses for the first of two steps.
func (c *checker) record(n uint32) uint32 {
	value := c.choose(n)
	c.made = append(c.made, choice{n, value})
	return value
}

// errApart ends a second step that chooses differently than the first one.
var errApart = fmt.Errorf("%w: %w", ErrBroken, ErrImpure)

// repeat returns the first step's choices to the second one.
func (c *checker) repeat(n uint32) uint32 {
	if c.next == len(c.made) || c.made[c.next].among != n {
		panic(errApart)
	}
	c.next++
	return c.made[c.next-1].value
}

// Breach describes a violation of the contract: the process, the event, and what the process does.
func (ps *Processes) Breach(position int, e Event, how string) string {
	contents := ""
	if e.What == Received {
		contents = ps.Contents(e.Kind, e.Message)
	}
	return fmt.Sprintf("%s %s and %s", ps.network.Name(position), ps.event(position, e, contents), how)
}

// event describes an event with the process as the subject, and the contents of the message that it receives.
func (ps *Processes) event(position int, e Event, contents string) string {
	links := ps.network.Network
	other := func() string {
		q, _ := links.End(links.First(position) + uint32(e.Port))
		return ps.network.Name(q)
	}
	switch e.What {
	case Started:
		return "starts"
	case Recovered:
		return "recovers"
	case Expired:
		return "hears its timer " + ps.Program.Timers[e.Timer]
	case Suspected:
		return "suspects " + other()
	case Trusted:
		return "trusts " + other() + " again"
	case Commanded:
		return "is asked to " + ps.CommandText()
	}
	return "receives " + network.MessageText(ps.Program.Kinds[e.Kind].Name, contents) + " from " + other()
}
