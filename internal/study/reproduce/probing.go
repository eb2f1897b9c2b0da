package reproduce

import (
	"fmt"
	"iter"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// Doubt is the first contradiction to a statement that was found.
type Doubt struct{ First string }

// Unless notes a contradiction, unless ok.
func (d *Doubt) Unless(ok bool, format string, args ...any) {
	if !ok && d.First == "" {
		d.First = fmt.Sprintf(format, args...)
	}
}

// Verified notes what an exploration found to be wrong, and reports whether it found nothing.
func (d *Doubt) Verified(r *verify.Report, format string, args ...any) bool {
	where := fmt.Sprintf(format, args...)
	if v := r.Violation; v != nil {
		d.Unless(false, "%s: %s: %s", where, v.Property, v.Detail)
	}
	d.Unless(r.Complete, "%s: no end after %d states", where, r.States)
	return r.Violation == nil && r.Complete
}

// Finding returns that the statement holds, with the measurements, or what contradicts it.
func (d *Doubt) Finding(format string, args ...any) Finding {
	if d.First != "" {
		return Finding{Verdict: Fails, Measured: d.First, Why: "a run contradicts it"}
	}
	return Finding{Measured: fmt.Sprintf(format, args...)}
}

// Unsettled returns the finding of a statement that no finite search settles: unchecked, with the measurements; but a
// contradiction makes it fail.
func (d *Doubt) Unsettled(why, format string, args ...any) Finding {
	f := d.Finding(format, args...)
	if f.Verdict == Holds {
		f.Verdict, f.Why = Unchecked, why
	}
	return f
}

// Why no finite search settles a statement.
const (
	EveryAlgorithm = "it is about every algorithm, which no finite search settles; nothing here contradicts it"
	EverySize      = "it is about growth for all n, which no finite search settles; nothing here contradicts it"
)

// Rings yields the different orders of 1 … n on a ring: the largest comes first.
func Rings(n int) iter.Seq[election.List] {
	return func(yield func(election.List) bool) {
		ids := make(election.List, n)
		for p := range ids {
			ids[p] = uint64(n - p)
		}
		var permute func(from int) bool
		permute = func(from int) bool {
			if from >= n-1 {
				return yield(slices.Clone(ids))
			}
			for p := from; p < n; p++ {
				ids[from], ids[p] = ids[p], ids[from]
				goesOn := permute(from + 1)
				ids[from], ids[p] = ids[p], ids[from]
				if !goesOn {
					return false
				}
			}
			return true
		}
		permute(min(1, n-1))
	}
}

// LargeRings yields ordered and random rings of these sizes.
func LargeRings(sizes ...int) iter.Seq[election.Arrangement] {
	return func(yield func(election.Arrangement) bool) {
		for _, n := range sizes {
			for seed, name := range []string{"increasing", "decreasing", "bit-reversal", "random", "random"} {
				if name == "bit-reversal" && n&(n-1) != 0 {
					continue
				}
				if !yield(Must(order.Parse(name, n, uint64(seed)))) {
					return
				}
			}
		}
	}
}

// ManyRings yields the rings on which most statements are tested; ManyRingsAre describes them.
func ManyRings(yield func(election.Arrangement) bool) {
	for n := 1; n <= 7; n++ {
		for ids := range Rings(n) {
			if !yield(ids) {
				return
			}
		}
	}
	LargeRings(8, 9, 16, 31, 33, 64, 100, 128)(yield)
}

// ManyRingsAre describes ManyRings.
const ManyRingsAre = "every order of up to 7 identifiers, and ordered and random rings of up to 128"

// OnRing returns the text of a ring for an error, with its identifiers.
func OnRing(ids election.Arrangement) string {
	if list, ok := ids.(election.List); ok {
		return fmt.Sprintf("on %v", []uint64(list))
	}
	return fmt.Sprintf("on a %s ring of %d", ids.(*order.Order).Name(), ids.Len())
}

// ToGreater returns the distances from a position to the nearest larger identifier, clockwise and
// counter-clockwise; n for the largest.
func ToGreater(ids election.Arrangement, p int) (clockwise, counter int) {
	n := ids.Len()
	to := func(step int) int {
		for d := 1; d < n; d++ {
			if ids.At((p+d*step)%n) > ids.At(p) {
				return d
			}
		}
		return n
	}
	return to(1), to(n - 1)
}

// probing is a run of an election whose processors probe twice as far in each phase, with the entrants of each phase.
type probing struct {
	*simulate.Result
	ids      election.Arrangement
	Entrants [][]int // positions, by phase
}

// Probe runs such an election under a random schedule that decides when processors wake, too. Messages may
// overtake one another. A processor enters a phase when it sends two probes, the first kind of message, in
// one step.
func (b *Bench) Probe(name string, ids election.Arrangement, change ...func(*network.Setup)) *probing {
	o := simulate.Options{
		Setup: network.Setup{IDs: ids}, Schedule: simulate.Random, AnyTime: true, Seed: ids.At(0), Record: true,
		Faults: faults.Script{Unordered: true}, Limit: uint64(16*ids.Len()*ids.Len() + 256), // a record takes memory
	}
	for _, change := range change {
		change(&o.Setup)
	}
	r := &probing{Result: b.Simulate(name, o), ids: ids}
	entered := make([]int, ids.Len())
	for i := range r.Record.Steps {
		step := &r.Record.Steps[i]
		if MessagesSent(step.Sent, r.Record.Kinds[0].Name) < 2 {
			continue
		}
		p := step.Process
		if phase := entered[p]; phase < len(r.Entrants) {
			r.Entrants[phase] = append(r.Entrants[phase], p)
		} else {
			r.Entrants = append(r.Entrants, []int{p})
		}
		entered[p]++
	}
	return r
}

// MessagesSent counts the messages of a kind.
func MessagesSent(sent []trace.Sent, kind string) (messages int) {
	for i := range sent {
		if sent[i].Kind == kind {
			messages++
		}
	}
	return messages
}

// Carried returns the identifier that a message carries.
func Carried(message trace.Value) uint64 { return Must(message.Identifier("ID")) }

// Closest returns the least distance on the ring between two entrants of a phase; n if there is one.
func (r *probing) Closest(phase int) int {
	n := r.ids.Len()
	at := slices.Sorted(slices.Values(r.Entrants[phase]))
	least := at[0] + n - at[len(at)-1] // from the last to the first
	for i := range at[1:] {
		least = min(least, at[i+1]-at[i])
	}
	return least
}

// beyond returns the positions without a larger identifier within hops either way, on a ring that is longer than
// that.
func beyond(ids election.Arrangement, hops int) (positions []int) {
	for p := range ids.Len() {
		if clockwise, counter := ToGreater(ids, p); min(clockwise, counter) > hops {
			positions = append(positions, p)
		}
	}
	return positions
}

// Enters checks the entrants of phases: all of phase 0, and of the next ones the largest within 2^phase hops.
func (r *probing) Enters(d *Doubt) {
	for phase, entered := range append(r.Entrants, nil) {
		want := beyond(r.ids, 1<<phase/2)
		if phase == 0 {
			want = beyond(r.ids, 0)
		}
		got := slices.Sorted(slices.Values(entered))
		d.Unless(slices.Equal(got, want), "%s positions %v enter phase %d, not %v", OnRing(r.ids), got, phase, want)
	}
}

// MostEntrants returns the largest number of entrants of a phase: ⌊n/(2^(phase-1) + 1)⌋, and n for the first.
func MostEntrants(n, phase int) int {
	if phase == 0 {
		return n
	}
	return n / (1<<(phase-1) + 1)
}
