package chaos

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// record is what is known about a process when its episode has ended.
type record struct {
	member  uint64
	number  int64
	warden  bool
	foreign bool  // its store is not the one that the others know
	born    int64 // before its start
	killed  int64 // before the test killed it; 0: the test did not
	orphan  bool  // the test killed its warden first, which can prove nothing
	last    int64 // the last reading that it reported
	dead    int64 // when all its processes were known to have ended; 0: not yet
	events  []event
}

func (r *record) String() string { return fmt.Sprintf("life %d of member %d", r.number, r.member) }

// ends returns when a lease that was to run until a moment has ended: at the end of its work, at a death that a warden may
// have proven, or at that moment.
func (r *record) ends(e event) int64 {
	until := e.Until
	if r.warden && !r.orphan {
		switch {
		case r.killed != 0:
			until = min(until, r.killed)
		case r.dead != 0: // it has ended by itself, at the earliest after its last report
			until = min(until, r.last)
		}
	}
	for _, other := range r.events {
		if other.What == ended && other.Term == e.Term {
			until = min(until, other.From)
		}
	}
	return until
}

// tenure is what was seen of the lease of a term.
type tenure struct {
	record *record
	term   uint64
	first  event // with the earliest To: at some moment until then the lease was valid
	last   event // with the latest From: at some moment since then it was valid
	until  int64 // when it has ended
}

func (t *tenure) String() string { return fmt.Sprintf("%v in term %d", t.record, t.term) }

// tenures returns what was seen of all leases, by term. It complains if a term has several.
func tenures(records []*record) (all []*tenure, faults []string) {
	byTerm := map[uint64]*tenure{}
	for _, r := range records {
		for _, e := range r.events {
			if e.What != leased || e.Until <= e.From {
				continue
			}
			t := byTerm[e.Term]
			switch {
			case t == nil:
				t = &tenure{record: r, term: e.Term, first: e, last: e}
				byTerm[e.Term] = t
				all = append(all, t)
			case t.record != r:
				faults = append(faults, fmt.Sprintf("term %d has two leaders: %v and %v", e.Term, t.record, r))
				continue
			}
			if e.To < t.first.To {
				t.first = e
			}
			if e.From > t.last.From {
				t.last = e
			}
			t.until = max(t.until, r.ends(e))
		}
	}
	slices.SortFunc(all, func(a, b *tenure) int { return cmp.Compare(a.term, b.term) })
	return all, faults
}

// judgeLeases complains about two leases that overlap, and about terms that do not rise. It needs to compare each tenure
// only with the worst of all lower terms.
func judgeLeases(records []*record) (faults []string) {
	all, faults := tenures(records)
	var longest, latest *tenure // of lower terms
	for _, t := range all {
		if longest != nil && longest.until > t.first.To {
			faults = append(faults, fmt.Sprintf("two leases run at the same time: that of %v until %s, and that of %v since %s at the latest, %v earlier",
				longest, clockTime(longest.until), t, clockTime(t.first.To), time.Duration(longest.until-t.first.To)))
		}
		if latest != nil && latest.last.From > t.first.To {
			faults = append(faults, fmt.Sprintf("%v has a valid lease at %s, after %v had one at %s", latest, clockTime(latest.last.From), t, clockTime(t.first.To)))
		}
		if longest == nil || t.until > longest.until {
			longest = t
		}
		if latest == nil || t.last.From > latest.last.From {
			latest = t
		}
	}
	return faults
}

// judgeWork complains about work that does not begin and end in turns, in rising terms; and about work of a process that
// must not lead.
func judgeWork(records []*record) (faults []string) {
	for _, r := range records {
		var term, last uint64 // of the work that runs, and of the last one
		var until int64       // when its lease ends, as far as the keeper of its command may know
		for _, e := range r.events {
			switch {
			case e.What == started && r.foreign:
				faults = append(faults, fmt.Sprintf("%v leads in term %d with a store that the others do not know", r, e.Term))
			case e.What == started && (term != 0 || e.Term <= last):
				faults = append(faults, fmt.Sprintf("%v begins work in term %d during that of term %d, or after that of term %d", r, e.Term, term, last))
			case e.What == ended && e.Term != term:
				faults = append(faults, fmt.Sprintf("%v ends work in term %d during that of term %d", r, e.Term, term))
			case (e.What == leased || e.What == ran) && e.Term != term:
				faults = append(faults, fmt.Sprintf("%v works in term %d during that of term %d", r, e.Term, term))
			case e.What == ran && e.From > until:
				faults = append(faults, fmt.Sprintf("the command of %v runs in term %d at %s, %v after the end of its lease", r, e.Term, clockTime(e.From), time.Duration(e.From-until)))
			}
			switch e.What {
			case leased:
				until = e.Until
			case started:
				term, last = e.Term, e.Term
			case ended:
				term = 0
			}
		}
	}
	return faults
}

// commands returns in how many terms a command has run.
func commands(records []*record) int {
	terms := map[uint64]bool{}
	for _, r := range records {
		for _, e := range r.events {
			if e.What == ran {
				terms[e.Term] = true
			}
		}
	}
	return len(terms)
}

// value is the state of the register: its value, and the highest term seen.
type value struct {
	value int64
	term  uint64
}

// model is the register. Without a result an operation has had its effect or not.
var model = porcupine.Model{
	Init: func() any { return value{} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(value), input.(event), output.(event)
		switch {
		case in.Op == read:
			return out.Result == "" || out.Value == s.value, s
		case out.Result == stale || in.Term < s.term:
			return out.Result != done && in.Term < s.term, s
		}
		s.term = in.Term
		if in.Op == write {
			s.value = in.Value
		}
		return out.Result == "" || out.Value == s.value, s
	},
	DescribeOperation: func(input, output any) string {
		in, out := input.(event), output.(event)
		return fmt.Sprintf("%s(%d, term %d) = %s %d", in.Op, in.Value, in.Term, out.Result, out.Value)
	},
}

// operations returns the history of the register.
func operations(records []*record) (all []porcupine.Operation) {
	for _, r := range records {
		pending := -1
		for _, e := range r.events {
			switch e.What {
			case called:
				pending = len(all)
				all = append(all, porcupine.Operation{ClientId: int(r.number), Input: e, Call: e.From, Output: event{}, Return: math.MaxInt64})
			case given:
				all[pending].Output, all[pending].Return = e, e.To
			}
		}
	}
	return all
}

// judgeRegister complains if the history of the register is not linearizable, and writes a page about it to a file.
func judgeRegister(records []*record, page string) (faults []string) {
	history := operations(records)
	const limit = 30 * time.Second
	result, info := porcupine.CheckOperationsVerbose(model, history, limit)
	switch result {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return []string{fmt.Sprintf("whether the history of the register, of %d operations, is linearizable was not found out within %v", len(history), limit)}
	}
	if err := porcupine.VisualizePath(model, info, page); err != nil {
		page = err.Error()
	}
	return []string{fmt.Sprintf("the history of the register, of %d operations, is not linearizable: see %s", len(history), page)}
}

// clockTime returns a reading in seconds.
func clockTime(t int64) string { return fmt.Sprintf("%.6f s", float64(t)/1e9) }
