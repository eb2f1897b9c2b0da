package reproduce

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// doubt is the first contradiction to a statement that was found.
type doubt struct{ first string }

// unless notes a contradiction, unless what ought to be is so.
func (d *doubt) unless(ok bool, format string, args ...any) {
	if !ok && d.first == "" {
		d.first = fmt.Sprintf(format, args...)
	}
}

// verified notes what an exploration found to be wrong, and says whether nothing was.
func (d *doubt) verified(r *verify.Report, format string, args ...any) bool {
	where := fmt.Sprintf(format, args...)
	if v := r.Violation; v != nil {
		d.unless(false, "%s: %s: %s", where, v.Property, v.Detail)
	}
	d.unless(r.Complete, "%s: no end after %d states", where, r.States)
	return r.Violation == nil && r.Complete
}

// finding is that the statement holds, with what was measured; or else what contradicts it.
func (d *doubt) finding(format string, args ...any) Finding {
	if d.first != "" {
		return Finding{Verdict: Fails, Measured: d.first, Why: "a run contradicts it"}
	}
	return Finding{Measured: fmt.Sprintf(format, args...)}
}

// unsettled is the finding of a statement that no finite search settles. It is not checked, with what was found; but if
// that contradicts the statement, it fails.
func (d *doubt) unsettled(why, format string, args ...any) Finding {
	f := d.finding(format, args...)
	if f.Verdict == Holds {
		f.Verdict, f.Why = Unchecked, why
	}
	return f
}

// Why no finite search settles a statement.
const (
	everyAlgorithm = "it is about every algorithm, which no finite search settles; nothing here contradicts it"
	everySize      = "it is about growth for all n, which no finite search settles; nothing here contradicts it"
)

// rings are the orders of 1 … n on a ring that differ: the largest comes first.
func rings(n int) iter.Seq[election.List] {
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

// largeRings are ordered and random rings of these sizes.
func largeRings(sizes ...int) iter.Seq[election.Arrangement] {
	return func(yield func(election.Arrangement) bool) {
		for _, n := range sizes {
			for seed, name := range []string{"increasing", "decreasing", "bit-reversal", "random", "random"} {
				if name == "bit-reversal" && n&(n-1) != 0 {
					continue
				}
				if !yield(must(order.Parse(name, n, uint64(seed)))) {
					return
				}
			}
		}
	}
}

// manyRings are what most statements about rings are tested on; manyRingsAre says it.
func manyRings(yield func(election.Arrangement) bool) {
	for n := 1; n <= 7; n++ {
		for ids := range rings(n) {
			if !yield(ids) {
				return
			}
		}
	}
	largeRings(8, 9, 16, 31, 33, 64, 100, 128)(yield)
}

const manyRingsAre = "every order of up to 7 identifiers, and ordered and random rings of up to 128"

// onRing is a ring, with its identifiers where an error is to be told.
func onRing(ids election.Arrangement) string {
	if list, ok := ids.(election.List); ok {
		return fmt.Sprintf("on %v", []uint64(list))
	}
	return fmt.Sprintf("on a %s ring of %d", ids.(*order.Order).Name(), ids.Len())
}

// toGreater is how far it is from a position to the nearest greater identifier, clockwise and
// counter-clockwise; n for the largest.
func toGreater(ids election.Arrangement, p int) (clockwise, counter int) {
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

// probing is a run of an election whose processors probe twice as far in each phase, and who entered which.
type probing struct {
	*simulate.Result
	ids      election.Arrangement
	entrants [][]int // positions, by phase
}

// probe runs such an election under a random schedule that decides when processors wake, too. Messages may
// overtake one another. A processor enters a phase when it sends two probes, the first kind of message, in
// one step.
func (b *Bench) probe(name string, ids election.Arrangement, change ...func(*network.Setup)) *probing {
	o := simulate.Options{
		Instance: network.Setup{IDs: ids}, Schedule: simulate.Random, AnyTime: true, Seed: ids.At(0), Record: true,
		Faults: faults.Script{Unordered: true}, Limit: uint64(16*ids.Len()*ids.Len() + 256), // a record takes memory
	}
	for _, change := range change {
		change(&o.Instance)
	}
	r := &probing{Result: b.simulate(name, o), ids: ids}
	entered := make([]int, ids.Len())
	for i := range r.Record.Steps {
		step := &r.Record.Steps[i]
		if messagesSent(step.Sent, r.Record.Kinds[0].Name) < 2 {
			continue
		}
		p := step.Process
		if phase := entered[p]; phase < len(r.entrants) {
			r.entrants[phase] = append(r.entrants[phase], p)
		} else {
			r.entrants = append(r.entrants, []int{p})
		}
		entered[p]++
	}
	return r
}

func messagesSent(sent []trace.Sent, kind string) (messages int) {
	for i := range sent {
		if sent[i].Kind == kind {
			messages++
		}
	}
	return messages
}

// carried is the identifier that a message carries, which comes first in its text; 0 if none does.
func carried(text string) uint64 {
	first, _, _ := strings.Cut(text, ",")
	id, _ := strconv.ParseUint(strings.TrimPrefix(first, "ID "), 10, 64)
	return id
}

// closest is the least distance on the ring between two who entered a phase; n if there is one.
func (r *probing) closest(phase int) int {
	n := r.ids.Len()
	at := slices.Sorted(slices.Values(r.entrants[phase]))
	least := at[0] + n - at[len(at)-1] // from the last to the first
	for i := range at[1:] {
		least = min(least, at[i+1]-at[i])
	}
	return least
}

// beyond are the positions from which there is no greater identifier within so many hops either way, and
// the ring is longer than that.
func beyond(ids election.Arrangement, hops int) (positions []int) {
	for p := range ids.Len() {
		if clockwise, counter := toGreater(ids, p); min(clockwise, counter) > hops {
			positions = append(positions, p)
		}
	}
	return positions
}

// enters checks who enters phases: phase 0 everybody, and the next those who are the largest within 2^phase hops.
func (r *probing) enters(d *doubt) {
	for phase, entered := range append(r.entrants, nil) {
		want := beyond(r.ids, 1<<phase/2)
		if phase == 0 {
			want = beyond(r.ids, 0)
		}
		got := slices.Sorted(slices.Values(entered))
		d.unless(slices.Equal(got, want), "%s positions %v enter phase %d, not %v", onRing(r.ids), got, phase, want)
	}
}

// mostEntrants is how many can enter a phase: ⌊n/(2^(phase-1) + 1)⌋, and all the first.
func mostEntrants(n, phase int) int {
	if phase == 0 {
		return n
	}
	return n / (1<<(phase-1) + 1)
}
