// Package reproduce checks the five source texts, statement by statement: each definition, theorem,
// example, figure, table and exercise is a row whose verdict is computed when it runs.
package reproduce

import (
	"fmt"
	"slices"
)

// Verdict is the result of checking a statement.
type Verdict uint8

// The verdicts.
const (
	Holds              Verdict = iota // it is about fixed cases, all of which were checked, or an example proves it
	Unrefuted                         // it is about every n, and the search, which ends at some n, found no counterexample
	Corrected                         // it holds with a correction, which the finding names
	CorrectedUnrefuted                // with a correction, which the finding names, it is Unrefuted
	Fails                             // the finding has the reason, with the run that shows it
	Unchecked                         // no finite search settles it; the finding has the search's results, which do not contradict it, and the reason
)

// Verdicts are all verdicts, in order.
var Verdicts = []Verdict{Holds, Unrefuted, Corrected, CorrectedUnrefuted, Fails, Unchecked}

func (v Verdict) String() string {
	return [...]string{
		"holds", "no counterexample", "holds with a correction", "no counterexample with a correction", "fails", "not checked",
	}[v]
}

// searched returns the verdict of a row that is about every n: the checks of rows tell only whether they found a contradiction.
func (v Verdict) searched() Verdict {
	switch v {
	case Holds:
		return Unrefuted
	case Corrected:
		return CorrectedUnrefuted
	}
	return v
}

// Row is a statement of a source.
type Row struct {
	Source   string // S1 … S5
	Where    string // Theorem 13.10, section 2.2, figure 2.7, exercise 4, …
	Claim    string // in a few words
	How      string // how it is tested here
	Settled  bool   // its check settles it: it is about fixed cases, all of which are checked, or an example proves it
	Thorough bool   // it takes long: only on request
	Check    func(*Bench) Finding
}

// Finding is the result of a row's check. It is computed from runs, counts and checks, never written in advance: an
// error planted in an algorithm changes the verdict of the rows that use it.
type Finding struct {
	Verdict  Verdict `json:"verdict"`
	Measured string  `json:"measured"`         // numbers, in a few words; the same each time, so no durations
	Why      string  `json:"why,omitempty"`    // the correction; or why it fails, or is not checked
	Replay   string  `json:"replay,omitempty"` // a command that shows it, or empty: ringleader …
	Reach    Reach   `json:"reach"`
}

// Reach is how far the search for a counterexample went: the numbers of processes of the largest networks. 0 is none.
type Reach struct {
	Schedules int `json:"schedules,omitempty"` // of which every schedule was explored
	Runs      int `json:"runs,omitempty"`      // that were run, or counted
}

// UpTo returns the text of the reach; empty if nothing was searched.
func (r Reach) UpTo() string {
	switch {
	case r.Runs > r.Schedules && r.Schedules > 0:
		return fmt.Sprintf("up to n = %d, and under every schedule up to n = %d", r.Runs, r.Schedules)
	case r.Runs > r.Schedules:
		return fmt.Sprintf("up to n = %d", r.Runs)
	case r.Schedules > 0:
		return fmt.Sprintf("up to n = %d, under every schedule", r.Schedules)
	}
	return ""
}

// Judgement returns the verdict in words. That no counterexample was found is said with where the search ended.
func (f *Finding) Judgement() string {
	if upTo := f.Reach.UpTo(); upTo != "" && (f.Verdict == Unrefuted || f.Verdict == CorrectedUnrefuted) {
		return f.Verdict.String() + " " + upTo
	}
	return f.Verdict.String()
}

// Source is a source text.
type Source struct{ Mark, Title string }

// Sources are the source texts.
var Sources = []Source{
	{"S1", "Algorithms of Informatics, section 13.3: leader election on rings"},
	{"S2", "Chowdhary, lecture 2: leader election algorithms"},
	{"S3", "Baliukonis, Leader election in asynchronous rings, on Hirschberg and Sinclair 1980"},
	{"S4", "Bully algorithm, an encyclopaedia's article on Garcia-Molina 1982"},
	{"S5", "Marchetti-Spaccamela, New protocols for the election of a leader in a ring"},
}

// From returns the rows of a source, section by section.
func From(source string, sections ...[]Row) []Row {
	rows := slices.Concat(sections...)
	for i := range rows {
		rows[i].Source = source
	}
	return rows
}

// HoldsUnless returns the finding that a statement holds, or fails if there is a contradiction.
func HoldsUnless(contradiction, format string, args ...any) Finding {
	f := Finding{Measured: fmt.Sprintf(format, args...)}
	if contradiction != "" {
		f.Verdict, f.Why = Fails, contradiction
	}
	return f
}

// HoldsCorrected returns the finding that a statement holds with a correction, if the correction holds and the
// statement as printed does not.
func HoldsCorrected(printed, corrected bool, correction, format string, args ...any) Finding {
	f := Finding{Verdict: Corrected, Why: correction, Measured: fmt.Sprintf(format, args...)}
	switch {
	case !corrected:
		f.Verdict, f.Why = Fails, "with the correction, too: "+correction
	case printed:
		f.Verdict, f.Why = Holds, ""
	}
	return f
}
