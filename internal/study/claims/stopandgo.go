package claims

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// ErrRecord reports a record of a run about which there is no statement.
var ErrRecord = errors.New("cannot check")

// StopAndGo judges S5's scheme by the record of a run without faults, with these hypotheses. The claims cite S5's
// sections and statements.
func StopAndGo(r *trace.Record, hypotheses []election.Ticks) ([]Claim, error) {
	if !slices.ContainsFunc(r.Kinds, func(k trace.Kind) bool { return k.Name == identity }) {
		return nil, fmt.Errorf("%w: it is a record of %s, where no identities walk as in S5", ErrRecord, r.Algorithm)
	}
	carried, err := Walks(r)
	if err != nil {
		return nil, err
	}
	w := &walks{
		n: r.N, ids: r.IDs, carried: carried, hypotheses: hypotheses, entered: make([]*big.Int, r.N), waiting: make([]*walk, r.N),
		decided: make([]bool, r.N), byPhase: make([]int, len(hypotheses)+1), sent: make([][][]*walk, len(hypotheses)+1),
	}
	for phase := range w.sent {
		w.sent[phase] = make([][]*walk, r.N)
	}
	for i := range r.Steps {
		if err := w.step(&r.Steps[i]); err != nil {
			return nil, fmt.Errorf("%w: step %d: %w", ErrRecord, r.Steps[i].Number, err)
		}
	}
	return w.claims(), nil
}

// The kinds of messages that the claims are about.
const (
	started  = "election started"
	identity = "identity"
)

// Walk is <j, h_m, w>, which a message of kind "identity" carries.
type Walk struct {
	ID     uint64 // j
	Phase  int    // m
	Walked int    // w: the number of steps, with this one
}

// Walks returns what the messages of a record carry: message k is at k - 1, and is zero if it is no identity. The
// claims read nothing else of a message. The record needs its messages as values.
func Walks(r *trace.Record) ([]Walk, error) {
	var all []Walk
	for i := range r.Steps {
		for _, m := range r.Steps[i].Sent {
			var w Walk
			if m.Message != len(all)+1 {
				return nil, fmt.Errorf("%w: step %d sends message %d after message %d", ErrRecord, r.Steps[i].Number, m.Message, len(all))
			}
			if m.Kind == identity {
				var err error
				if w, err = walkIn(m.Value); err != nil {
					return nil, fmt.Errorf("%w: step %d: %w", ErrRecord, r.Steps[i].Number, err)
				}
			}
			all = append(all, w)
		}
	}
	return all, nil
}

// walkIn reads a message.
func walkIn(message trace.Value) (Walk, error) {
	id, noID := message.Identifier("ID")
	phase, noPhase := trace.Field[int](message, "Phase")
	walked, notWalked := trace.Field[int](message, "Walked")
	return Walk{id, phase, walked}, errors.Join(noID, noPhase, notWalked)
}

// walks follows the identities of a run.
type walks struct {
	n          int
	ids        []uint64
	carried    []Walk // by number of the message - 1
	hypotheses []election.Ticks

	woken   *big.Int    // when the first processor woke
	entered []*big.Int  // by position: when it entered phase 1, its t
	alive   []*walk     // clockwise by home
	all     []*walk     // including dead ones
	waiting []*walk     // by position
	sent    [][][]*walk // by phase and position: the identities it sent, in order
	byPhase []int       // messages
	decided []bool      // by position
	leaders []uint64    // that decided to lead
	home    []uint64    // identities that returned to their origin
	copies  int         // the most messages of one identity at a time
	waits   int         // the most that waited at one processor
	ends    int         // of phases
	astray  string      // a message that contradicts the scheme
	endWith string      // what a phase ended with, if not as claimed
	order   string      // the place where the order changed
}

// walk is the walk of one identity.
type walk struct {
	id     uint64
	home   int
	t      *big.Int // when it entered phase 1
	walked int      // steps
	copies int      // messages that are in transit, or wait
}

// step reads the next step of the record.
func (w *walks) step(s *trace.Step) error {
	now, p := s.Time.Big(), s.Process
	for _, d := range s.Decided {
		w.decided[p] = true
		if d.Role == network.Leader.String() {
			w.leaders = append(w.leaders, w.ids[p])
		}
	}
	here, err := w.arrival(s)
	if err != nil {
		return err
	}
	switch {
	case s.Event == trace.Start && w.woken == nil:
		w.woken = now
	case s.Event == trace.Receive && s.Kind == started:
		if w.entered[p] = now; len(s.Timers) > 0 {
			here = &walk{id: w.ids[p], home: p, t: now, copies: 1}
			w.all = append(w.all, here)
			at, _ := slices.BinarySearchFunc(w.alive, p, func(x *walk, home int) int { return x.home - home })
			w.alive = slices.Insert(w.alive, at, here)
		}
	case s.Event == trace.Timeout:
		here, w.waiting[p] = w.waiting[p], nil
	}
	for _, timer := range s.Timers {
		if other := w.waiting[p]; timer.After == nil && other != nil { // killed
			w.waiting[p] = nil
			other.copies--
			w.dies(other)
		}
	}
	if here != nil {
		return w.goesOn(here, s)
	}
	return nil
}

// arrival returns the identity that a step receives, or nil.
func (w *walks) arrival(s *trace.Step) (*walk, error) {
	if s.Event != trace.Receive || s.Kind != identity {
		return nil, nil
	}
	if s.Message < 1 || s.Message > len(w.carried) {
		return nil, fmt.Errorf("message %d was never sent", s.Message)
	}
	id, walked := w.carried[s.Message-1].ID, w.carried[s.Message-1].Walked
	x := w.find(id)
	if x == nil || walked != x.walked+1 || s.Process != (x.home+walked)%w.n {
		w.astray = fmt.Sprintf("identity %d is at position %d after %d steps, at time %s, and is dead or was elsewhere", id, s.Process, walked, s.Time)
		return nil, nil
	}
	x.walked = walked
	x.copies--
	w.follow(x, s)
	return x, nil
}

// goesOn follows an identity through a step at its processor: it is sent, waits, returns to its origin or dies.
func (w *walks) goesOn(x *walk, s *trace.Step) error {
	p, sent := s.Process, false
	if s.Event == trace.Timeout {
		x.copies--
	}
	for _, m := range s.Sent {
		if m.Kind != identity {
			continue
		}
		id, phase, walked := w.carried[m.Message-1].ID, w.carried[m.Message-1].Phase, w.carried[m.Message-1].Walked
		if id != x.id || phase < 1 || phase >= len(w.byPhase) {
			return fmt.Errorf("identity %d is sent as %d in phase %d", x.id, id, phase)
		}
		w.byPhase[phase]++
		w.sent[phase][p] = append(w.sent[phase][p], x)
		sent = true
		x.copies++
		w.copies = max(w.copies, x.copies)
		if h := w.hypothesis(phase); h.Less(units(walked)) || phase > 1 && !w.hypothesis(phase-1).Less(units(walked)) {
			w.endWith = fmt.Sprintf("identity %d makes step %d in phase %d, which is for steps up to %s", id, walked, phase, h)
		}
	}
	switch {
	case sent:
	case slices.ContainsFunc(s.Timers, func(t trace.Timer) bool { return t.After != nil }):
		waits := 1
		if w.waiting[p] != nil {
			waits++
		}
		w.waits = max(w.waits, waits)
		w.waiting[p] = x
		if x.walked > 0 {
			x.copies++
			w.ends++
			if !slices.Contains(w.hypotheses, units(x.walked)) {
				w.endWith = fmt.Sprintf("identity %d ends a phase after %d steps", x.id, x.walked)
			}
		}
		w.copies = max(w.copies, x.copies)
	case x.home == p:
		w.home = append(w.home, x.id)
		w.ends++
	default:
		w.dies(x)
	}
	return nil
}

// follow records where an identity passes the next live one. An identity that meets the one waiting there dies in
// this step.
func (w *walks) follow(x *walk, s *trace.Step) {
	at := slices.Index(w.alive, x)
	next := w.alive[(at+1)%len(w.alive)]
	ahead := next.home + next.walked
	if at+1 == len(w.alive) {
		ahead += w.n
	}
	if next != x && x.home+x.walked > ahead && w.order == "" {
		w.order = fmt.Sprintf("identity %d passes %d at time %s", x.id, next.id, s.Time)
	}
}

func (w *walks) dies(x *walk) {
	if at := slices.Index(w.alive, x); at >= 0 {
		w.alive = slices.Delete(w.alive, at, at+1)
	}
}

func (w *walks) find(id uint64) *walk {
	if at := slices.IndexFunc(w.alive, func(x *walk) bool { return x.id == id }); at >= 0 {
		return w.alive[at]
	}
	return nil
}

func (w *walks) hypothesis(phase int) election.Ticks { return w.hypotheses[phase-1] }

func units(n int) election.Ticks { return election.Units(uint64(n)) }
