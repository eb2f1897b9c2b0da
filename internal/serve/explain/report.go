package explain

import (
	"context"
	"time"

	"ringleader.example/ringleader/internal/serve/record"
)

// Cause is why a tenure has ended.
type Cause string

// The causes.
const (
	Unknown     Cause = "unknown"     // no record tells it
	Elected     Cause = "elected"     // there was no leader before
	Killed      Cause = "killed"      // its process has ended without order: it was killed, or crashed
	Hung        Cause = "hung"        // its process did nothing until its warden killed it
	StoodStill  Cause = "stopped"     // its process stood still, and went on later, or was killed
	Starved     Cause = "starved"     // its loop was late again and again: it got too little of the processor
	Suspended   Cause = "suspended"   // its machine was suspended
	Disk        Cause = "disk"        // its disk gave no answer, or failed
	Links       Cause = "links"       // messages to or from a majority were lost or late
	Late        Cause = "late"        // a majority answered, and too late to renew its lease
	Followers   Cause = "followers"   // so many others were down or stood still that no majority was left
	Clock       Cause = "clock"       // clocks contradict each other by more than the bound
	Resigned    Cause = "resigned"    // it was told to resign, or its work has returned
	Transferred Cause = "transferred" // it was told to hand over
	Preempted   Cause = "preempted"   // a member of higher rank took over
	Closed      Cause = "closed"      // it was stopped in order
	Health      Cause = "health"      // its health check failed
	Progress    Cause = "progress"    // its work made no progress
	Voters      Cause = "voters"      // the voters had changed, and no majority of the new ones answered
	Superseded  Cause = "superseded"  // another one led in a higher term
	Restarted   Cause = "restarted"   // all had restarted, and restarted members wait
	Failed      Cause = "failed"      // the member stopped itself by an error, such as a flush that failed
	Duplicate   Cause = "duplicate"   // another process had its identifier
)

// Certainty is how sure a cause is.
type Certainty string

// The certainties.
const (
	Certain Certainty = "certain" // a record has it in so many words
	Likely  Certainty = "likely"  // it follows from times and from what is missing
	None    Certainty = "unknown"
)

// Report is what some records tell.
type Report struct {
	Groups  []*Group `json:"groups"`
	Damages []string `json:"damages,omitempty"`
}

// Group is what the records of the members of a group tell.
type Group struct {
	Name       string      `json:"name"`
	From       time.Time   `json:"from"`
	To         time.Time   `json:"to"`
	Recorded   []uint64    `json:"recorded"`          // members with a detailed record
	Missing    []uint64    `json:"missing,omitempty"` // members without one
	Ends       []Ending    `json:"ends,omitempty"`    // records that end before the others
	Clocks     []string    `json:"clocks,omitempty"`  // how they are joined, and what contradicts
	Older      []Older     `json:"older,omitempty"`   // changes without details
	Changes    []Change    `json:"changes"`
	Violations []Violation `json:"violations,omitempty"`

	line *line
}

// Change is a change of the leader.
type Change struct {
	From      *uint64   `json:"from"` // null: no record has a leader before
	FromTerm  uint64    `json:"from_term"`
	To        *uint64   `json:"to"` // null: no record has a later leader
	Term      uint64    `json:"term"`
	Ended     time.Time `json:"ended"`             // the lead before; without one, when the records begin
	Begun     time.Time `json:"begun,omitzero"`    // the next lead
	Nobody    float64   `json:"nobody"`            // for how many seconds nobody led, as far as is known
	AtMost    bool      `json:"at_most,omitempty"` // nobody is a bound: no record at hand watched that time
	Cause     Cause     `json:"cause"`
	Certainty Certainty `json:"certainty"`
	Text      string    `json:"text"`
	Evidence  []string  `json:"evidence"`
	Bounded   []string  `json:"bounded_by,omitempty"`
	Prevent   string    `json:"prevent,omitempty"`
	Missing   []string  `json:"missing,omitempty"` // what no record has that would tell more
}

// Violation is that two members had a lease at the same time, or another rule was broken.
type Violation struct {
	Time time.Time `json:"time"`
	What string    `json:"what"`
	Step string    `json:"step"` // the step that broke the rule; empty: no record has it
	Sure bool      `json:"sure"` // clocks are known well enough
}

// Keep drops all but the last changes, and violations, of each group.
func (r *Report) Keep(most int) {
	for _, g := range r.Groups {
		g.Older = g.Older[max(0, len(g.Older)-most):]
		g.Changes = g.Changes[max(0, len(g.Changes)-most):]
		g.Violations = g.Violations[max(0, len(g.Violations)-most):]
	}
}

// Of explains records.
func Of(r *record.Records) *Report {
	report, _ := OfContext(context.Background(), r) // which does not end
	return report
}

// OfContext explains records until a context ends, and then returns its error. What is asked of the groups later ends with it, too.
func OfContext(ctx context.Context, r *record.Records) (*Report, error) {
	report := &Report{Groups: []*Group{}}
	for i := range r.Damages {
		report.Damages = damaged(report.Damages, r.Damages[i].String())
	}
	for _, l := range lines(ctx, r) {
		report.Damages = append(report.Damages, l.damages...)
		report.Groups = append(report.Groups, l.report())
	}
	return report, ctx.Err()
}

func wall(at int64) time.Time { return time.Unix(0, at).UTC() }
