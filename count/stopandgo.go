package count

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync/atomic"

	"ringleader.example/ringleader/election"
)

// Woken is an arrangement for algorithms in which processes wake by themselves at different times, or only by a message.
type Woken struct {
	election.Arrangement
	Wake      []election.Ticks // by position; [election.Forever]: only by a message
	Unwilling []int            // positions that do not take part if a message wakes them
}

// maxBits is the maximum number of bits of a hypothesis, and so about that of the time.
const maxBits = 1 << 17

// StopAndGo counts for algorithms stop-and-go-p1 to -p4, and for any other with such hypotheses. It goes through the
// identities in increasing order. At each step of each it checks whether a smaller one has passed, or passes during
// the wait. So it takes as many steps as there are messages, however long they wait. The arrangement may be Woken. It
// takes 8 bytes a processor, and as many again if times have more than 64 bits, plus 4 for wake-ups, and 4 for listed
// identifiers or small rings.
func StopAndGo(hypotheses sequence) Func {
	hypotheses = remembered(hypotheses)
	return func(ctx context.Context, ids election.Arrangement, set election.Parameters, progress func(done, of int)) (*Result, error) {
		if err := distinct(ids); err != nil {
			return nil, err
		}
		n := ids.Len()
		all, err := hypotheses(set, uint64(n), maxBits)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRing, err)
		}
		last := all[len(all)-1]
		if last == nil {
			return nil, fmt.Errorf("%w: hypothesis h_%d, the first that is at least n = %d, and so the time, has more than %d binary digits",
				ErrRing, len(all), n, maxBits)
		}
		e := &identities{ids: ids, rising: byIdentifier(ids)}
		if least := ids.At(e.rising(0)); least == 0 {
			return nil, fmt.Errorf("%w: identifier 0 would not wait; identifiers are at least 1", ErrRing)
		}
		greatest := ids.At(e.rising(n - 1))
		if err := computable(1, greatest, 1); err != nil {
			return nil, err
		}
		e.hypotheses(all, greatest)
		first, err := e.wake()
		if err != nil {
			return nil, err
		}
		e.begun[0] = e.starters
		if err := e.walk(ctx, progress); err != nil {
			return nil, err
		}
		walked := uint64(0)
		for _, sent := range e.byPhase[1:] {
			walked += sent
		}
		leader := ids.At(e.leader)
		// Its last step leaves at t + 2iH + n - 1.
		elected := new(big.Int).Mul(last, new(big.Int).SetUint64(2*leader))
		elected.Add(elected, first).Add(elected, new(big.Int).SetUint64(e.enters(e.leader)+uint64(n)))
		after := func(units int) *big.Int { return new(big.Int).Add(elected, big.NewInt(int64(units))) }
		return &Result{
			Messages: messages(uint64(n), uint64(n), walked), ByPhase: e.byPhase, Entered: e.begun, Leader: leader, Position: e.leader,
			Time: &Time{Elected: elected, Decided: after(n - 1), Quiet: after(n)},
		}, nil
	}
}

// sequence computes hypotheses.
type sequence = func(set election.Parameters, n uint64, bits uint) ([]*big.Int, error)

// remembered returns the same sequence, which is not computed again if the next ring is of the same size: with many orders of
// a small ring, that would take longer than the counts. The hypotheses are only read.
func remembered(compute sequence) sequence {
	type computed struct {
		set  election.Parameters
		n    uint64
		bits uint
		all  []*big.Int
	}
	var last atomic.Pointer[computed]
	return func(set election.Parameters, n uint64, bits uint) ([]*big.Int, error) {
		if known := last.Load(); known != nil && known.n == n && known.bits == bits && known.set.Equal(set) {
			return known.all, nil
		}
		all, err := compute(set, n, bits)
		if err == nil {
			last.Store(&computed{set, n, bits, all})
		}
		return all, err
	}
}

// identities holds the identities that walk round a ring. Times count from the first wake-up.
type identities struct {
	ids     election.Arrangement
	rising  func(k int) int  // the position of the identifier that exceeds k others
	reach   []uint64         // by phase - 1: the steps that an identity has walked at its end
	delay   []election.Ticks // by phase - 1: 2h, the units before its beginning for each unit of the identifier
	entered []uint32         // t(i), by position; 0: does not take part; nil: 1 everywhere
	known   moments          // by position: when it knows of an identity smaller than the walking one
	byPhase []uint64
	begun   []uint64 // by phase: the identities that begin it; in phase 0, the starters
	leader  int

	starters uint64 // the processors that wake by themselves
}

// moments are times, by position.
type moments struct {
	low, high []uint64 // high is nil if no time needs it
}

// never returns moments beyond all times up to last.
func never(n int, last election.Ticks) (m moments) {
	m.low = slices.Repeat([]uint64{math.MaxUint64}, n)
	if last.Hi != 0 || last.Lo == math.MaxUint64 {
		m.high = slices.Clone(m.low)
	}
	return m
}

func (m *moments) at(p int) election.Ticks {
	t := election.Ticks{Lo: m.low[p]}
	if m.high != nil {
		t.Hi = m.high[p]
	}
	return t
}

func (m *moments) set(p int, t election.Ticks) {
	m.low[p] = t.Lo
	if m.high != nil {
		m.high[p] = t.Hi
	}
}

// tableLen is the largest ring of which byIdentifier makes a table. The Position of a small arrangement may search.
const tableLen = 1 << 12

// byIdentifier returns a function that gives the position of the identifier that exceeds k others. They are distinct.
func byIdentifier(ids election.Arrangement) func(k int) int {
	if woken, ok := ids.(Woken); ok {
		ids = woken.Arrangement
	}
	n := ids.Len()
	least, greatest := uint64(1), uint64(n)
	if !ids.Dense() {
		least, greatest = math.MaxUint64, 0
		for p := range n {
			least, greatest = min(least, ids.At(p)), max(greatest, ids.At(p))
		}
	}
	consecutive := greatest-least == uint64(n-1)
	if inverse, ok := ids.(interface{ Position(id uint64) int }); ok && consecutive && n > tableLen {
		return func(k int) int { return inverse.Position(least + uint64(k)) }
	}
	rising := make([]uint32, n)
	for p := range rising {
		if consecutive {
			rising[ids.At(p)-least] = uint32(p)
		} else {
			rising[p] = uint32(p)
		}
	}
	if !consecutive {
		slices.SortFunc(rising, func(p, q uint32) int { return cmp.Compare(ids.At(int(p)), ids.At(int(q))) })
	}
	return func(k int) int { return int(rising[k]) }
}

// hypotheses keeps what the walk needs of the hypotheses, in 128 bits. All but the last are below n. The last may be
// cut. Once it is so large that the smallest identity begins its phase after the largest has ended the phase before,
// the result is fixed: of two identities in that phase the smaller is ahead, and of one in it and one before, the
// latter.
func (e *identities) hypotheses(all []*big.Int, greatest uint64) {
	n := uint64(e.ids.Len())
	enough := new(big.Int).Mul(new(big.Int).SetUint64(greatest+1), new(big.Int).SetUint64(n))
	enough.Add(enough, big.NewInt(1))
	for _, h := range all {
		if h.Cmp(enough) > 0 {
			h = enough
		}
		ticks, _ := election.TicksOf(h)
		e.delay = append(e.delay, ticks.Times(2))
		e.reach = append(e.reach, h.Uint64())
	}
	e.reach[len(all)-1] = n + 1 // it ends at its origin
	e.known = never(int(n), e.delay[len(all)-1].Times(greatest).Add(election.Units(3*n)))
	e.byPhase = make([]uint64, len(all)+1)
	e.byPhase[0] = n
	e.begun = make([]uint64, len(all)+1)
}

// wake finds when each processor enters phase 1, and when the first one woke. In two rounds, a processor sends
// "election started" when it wakes, or in the unit in which it reads it from the one before.
func (e *identities) wake() (first *big.Int, err error) {
	n := e.ids.Len()
	woken, ok := e.ids.(Woken)
	if !ok {
		e.starters = uint64(n)
		return new(big.Int), nil
	}
	e.entered = make([]uint32, n)
	earliest := election.Forever
	for _, at := range woken.Wake {
		if at.Less(earliest) {
			earliest = at
		}
	}
	if earliest == election.Forever {
		return nil, fmt.Errorf("%w: no process wakes by itself; at least one must", ErrRing)
	}
	sent := make([]uint32, n) // beyond n, which means never
	for p, at := range woken.Wake {
		sent[p] = uint32(n)
		if late := at.Sub(earliest); late.Less(election.Units(uint64(n))) {
			sent[p] = uint32(late.Lo)
		}
	}
	own := slices.Clone(sent)
	for range 2 {
		for p := range sent {
			sent[p] = min(sent[p], sent[(p+n-1)%n]+1)
		}
	}
	for p := range sent {
		e.entered[p] = sent[(p+n-1)%n] + 1
		e.starters += uint64(one(own[p] < e.entered[p]))
	}
	for _, p := range woken.Unwilling {
		if own[p] >= e.entered[p] { // a message woke it
			e.entered[p] = 0
		}
	}
	return earliest.Big(), nil
}

// enters returns when a processor enters phase 1; 0 if it does not take part.
func (e *identities) enters(p int) uint64 {
	if e.entered == nil {
		return 1
	}
	return uint64(e.entered[p])
}

// walk walks the identities, the smallest first.
func (e *identities) walk(ctx context.Context, progress func(done, of int)) error {
	n := e.ids.Len()
	e.leader = -1
	for k := range n {
		if k&(1<<16-1) == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if progress != nil {
				progress(k, n)
			}
		}
		p := e.rising(k)
		entered := e.enters(p)
		if entered == 0 {
			continue
		}
		if e.leader < 0 {
			e.leader = p
		}
		e.round(p, election.Units(entered), n)
	}
	return nil
}

// round walks the identity from a position until it dies or returns to its origin. A smaller identity that is known
// in the unit in which it would leave kills it.
func (e *identities) round(p int, entered election.Ticks, n int) {
	id := e.ids.At(p)
	now, phase, limit := entered, 0, uint64(0) // a phase ends after limit steps
	for walked := range uint64(n) {
		smaller := e.known.at(p)
		if now.Less(smaller) {
			e.known.set(p, now)
		}
		begins := walked == limit
		if begins {
			limit = e.reach[phase]
			now = e.delay[phase].Times(id).Add(entered).Add(election.Units(walked))
			phase++
		}
		if !now.Less(smaller) {
			return
		}
		if begins {
			e.begun[phase]++
		}
		e.byPhase[phase]++
		now = now.Add(election.Units(1))
		if p++; p == n {
			p = 0
		}
	}
}
