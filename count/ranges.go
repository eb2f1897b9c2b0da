package count

import (
	"context"
	"fmt"
	"math"

	"ringleader.example/ringleader/election"
)

// Ranged is the closed form of an algorithm whose rings can be counted by ranges of their positions.
type Ranged func(ids election.Arrangement, set election.Parameters) (*Ranges, error)

var _ Func = Ranged(nil).Count

// Ranges counts one ring by ranges. Each can be read apart, in any order, and by other processes. The positions have
// indices in the order of reading, from 0.
type Ranges struct {
	ids    election.Arrangement
	begin  int                                                                  // the position with index 0
	row    int                                                                  // of a chain; 0: a scan
	start  func(r *Range, from int) (use func(int, []uint64), end func(*Range)) // begins to read
	join   func(r, later *Range)
	result func(r *Range) *Result // nil if it is impossible
}

// Range is what is known of a range of positions. Its JSON is canonical: it depends on the ring and the range only.
type Range struct {
	Read    uint64  `json:"read"`              // the number of positions
	Hops    uint64  `json:"hops,omitempty"`    // clockwise, to the nearest greater identifiers in the range
	Last    []tally `json:"last,omitempty"`    // of the processors with last phase i
	Records []run   `json:"records,omitempty"` // of a scan
	Waiting []run   `json:"waiting,omitempty"` // its stack, without the mark
	Links   []link  `json:"links,omitempty"`   // of a chain
}

// Len returns the number of positions.
func (r *Ranges) Len() uint64 { return uint64(r.ids.Len()) }

// Read reads the positions with the indices from … to-1. It fails with the context's error.
func (r *Ranges) Read(ctx context.Context, from, to uint64) (*Range, error) {
	return r.read(ctx, int(from), int(to), nil)
}

func (r *Ranges) read(ctx context.Context, from, to int, progress func(some int)) (*Range, error) {
	known := &Range{Read: uint64(to - from)}
	use, end := r.start(known, from)
	if err := read(ctx, r.ids, r.begin, from, to, progress, use); err != nil {
		return nil, err
	}
	end(known)
	return known, nil
}

// errRange reports a range that is not of the ring.
var errRange = fmt.Errorf("%w: this is no range of the ring", ErrRing)

// Check refuses what cannot be known of the positions with the indices from … to-1.
func (r *Ranges) Check(known *Range, from, to uint64) error {
	begin, end, _ := known.rows()
	if !known.possible(r) || known.Read != to-from || r.row == 0 && (uint64(begin) < from || uint64(end) != to) {
		return errRange
	}
	return nil
}

// Join adds to a range the one that follows it, which is used up. The result is what Read returns for both.
func (r *Ranges) Join(to, later *Range) error {
	_, end, _ := to.rows()
	if begin, _, _ := later.rows(); !to.possible(r) || !later.possible(r) || begin < end || len(to.Last) != len(later.Last) || to.Read+later.Read > r.Len() {
		return errRange
	}
	r.joined(to, later)
	return nil
}

func (r *Ranges) joined(to, later *Range) {
	to.Read += later.Read
	to.Hops += later.Hops
	for i, t := range later.Last {
		to.Last[i].Processors += t.Processors
		to.Last[i].Probes += t.Probes
		to.Last[i].Replies += t.Replies
	}
	r.join(to, later)
}

// Result returns the cost, given the whole ring, which is used up.
func (r *Ranges) Result(whole *Range) (*Result, error) {
	if whole.Read != r.Len() || !whole.possible(r) {
		return nil, errRange
	}
	if found := r.result(whole); found != nil {
		return found, nil
	}
	return nil, errRange
}

// possible reports whether a range, which may come from a file, can be joined.
func (r *Range) possible(of *Ranges) bool {
	if r.Read > of.Len() || (len(r.Waiting) == 0) != (of.row > 0) || (len(r.Links) == 0) == (of.row > 0) || len(r.Last) != 0 && len(r.Last) != lastPhases {
		return false
	}
	if _, to, rising := r.rows(); !rising || uint64(to) > of.Len() {
		return false
	}
	count := r.Read
	for i, l := range r.Links {
		kept := int(min(l.Count, uint64(max(0, of.row-1))))
		if l.Count > count || i == 0 && l.Count != r.Read || len(l.First) != kept || len(l.Values) != kept {
			return false
		}
		count = l.Count
	}
	return true
}

// rows returns the indices between which the rows of a scan are, if these follow each other.
func (r *Range) rows() (from, to uint32, rising bool) {
	from = math.MaxUint32
	for _, rows := range [][]run{r.Records, r.Waiting} {
		for _, row := range rows {
			if row.Length == 0 || row.Length > row.Last || row.Last-row.Length < to {
				return 0, 0, false
			}
			from, to = min(from, row.Last-row.Length), row.Last
		}
	}
	return from, to, true
}

const (
	maxParts = 32      // more than most machines have processors, so that all of them have work until the end
	minPart  = 1 << 16 // a smaller part is not worth a goroutine
)

// parts returns the number of parts of a ring that are read in parallel.
func parts(n int) int { return min(maxParts, 1+n/minPart) }

// Count is a [Func]. It reads large rings in parallel.
func (f Ranged) Count(ctx context.Context, ids election.Arrangement, set election.Parameters, progress func(done, of int)) (*Result, error) {
	r, err := f(ids, set)
	if err != nil {
		return nil, err
	}
	whole, err := r.whole(ctx, progress)
	if err != nil {
		return nil, err
	}
	return r.Result(whole)
}

func (r *Ranges) whole(ctx context.Context, progress func(done, of int)) (*Range, error) {
	n := r.ids.Len()
	all := make([]*Range, parts(n))
	if len(all) == 1 {
		return r.read(ctx, 0, n, summed(progress, n))
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop() // if progress panics, too
	blocks, ended := make(chan int, 64), make(chan error, len(all))
	for part := range all {
		go func() {
			var err error
			all[part], err = r.read(ctx, part*n/len(all), (part+1)*n/len(all), func(some int) {
				select {
				case blocks <- some:
				case <-ctx.Done():
				}
			})
			ended <- err
		}()
	}
	show := summed(progress, n)
	for left := len(all); left > 0 || len(blocks) > 0; {
		select {
		case some := <-blocks:
			if show != nil {
				show(some)
			}
		case err := <-ended:
			if left--; err != nil {
				return nil, err
			}
		}
		if err := ctx.Err(); err != nil { // progress may have stopped it
			return nil, err
		}
	}
	for _, part := range all[1:] {
		r.joined(all[0], part)
	}
	return all[0], nil
}
