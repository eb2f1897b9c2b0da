package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// arranged is the arrangement of the run, which Burns' adversary may change.
type arranged struct{ *network.Instance }

func (a arranged) Len() int               { return a.Size() }
func (a arranged) At(position int) uint64 { return a.Real(position) }
func (a arranged) Dense() bool            { return false }

// Subject is the part of a call that results show: the algorithm, and the requested identifiers.
type Subject struct {
	*catalogue.Entry
	Listed bool   // the identifiers were given one by one
	Order  string // of identifiers; "" if none was named
	First  uint64 // the smallest identifier, unless they were listed
	Start  string // which processes initiate, as it was asked for
	Seed   uint64
}

// identity returns the JSON of a run's algorithm and network.
func (s *Subject) identity(ids election.Arrangement) Object {
	result := Object{{"algorithm", s.Name}, {"n", ids.Len()}}
	placed := Object{{"topology", s.Topology.String()}, {"start", s.Start}}
	if s.Identifiers == election.Anonymous {
		return append(result, placed...)
	}
	if !s.Listed {
		name := s.Order
		if name == "" {
			name = "increasing"
		}
		result = append(result, Field{"order", name})
		if s.First != 1 {
			result = append(result, Field{"first", s.First})
		}
	}
	if ids.Len() <= shownIDs || s.Listed {
		list := make([]uint64, ids.Len())
		for q := range list {
			list[q] = ids.At(q)
		}
		result = append(result, Field{"ids", list})
	}
	return append(result, placed...)
}

// Run is a simulated run.
type Run struct {
	Subject
	Options *simulate.Options
	*simulate.Result
	Walked bool                        // its events were chosen by hand
	Told   *trace.Telling              // the steps that are shown; nil: none
	Claims []catalogue.Claim           // what the source claims of it, as far as that is to be shown
	Replay func(lines []string) string // the command that runs it again with these faults
}

// JSON returns the run for programs.
func (r *Run) JSON() any {
	s := r.Options
	result := append(r.identity(arranged{r.Prepared}), Field{"timing", r.Timing.String()})
	switch r.Timing {
	case election.Asynchronous:
		if r.Walked {
			break
		}
		result = append(result, Field{"schedule", s.Schedule.String()})
	case election.Timed:
		result = append(result, Field{"delay", r.Delay})
	}
	result = append(result, Field{"seed", r.Seed}, Field{"parameters", Parameters(r.Prepared.Parameters)})
	result = append(result, votesJSON(r.Prepared)...)
	result = append(result, wakingJSON(s)...)
	result = append(result, outcomeJSON(r.Declaration, &r.Outcome)...)
	if r.Time != nil {
		result = append(result, Field{"time", times(r.Time.Elected, r.Time.Decided, r.Time.Quiet)})
	}
	if b := worst(r.Prepared.Declaration(), r.Starters, len(r.Decisions), r.Disturbed); b != nil {
		result = append(result, Field{"bound", b.json(r.Messages)})
	}
	if r.Open != nil {
		result = append(result, Field{"open", Object{{"messages", r.Open.Messages}, {"claim", r.Open.Claim}}})
	}
	if losing(&r.Script) {
		result = append(result, Field{"lost", r.Lost}, Field{"duplicated", r.Duplicated})
	}
	if len(r.Faults) > 0 {
		result = append(result, Field{"violations", r.Faults})
	}
	result = append(result, r.faultsJSON()...)
	result = append(result, claimsJSON(r.Claims)...)
	if r.Told != nil {
		steps := []trace.Step{}
		for i := range r.Record.Steps {
			if step := r.Record.Steps[i]; r.Told.Tells(&r.Record.Header, &step) {
				steps = append(steps, step)
			}
		}
		result = append(result, Field{"steps", steps})
	}
	return append(result, Field{"complete", r.Complete})
}

// outcomeJSON is the JSON of a run's outcome: the leaders and the cost.
func outcomeJSON(d *election.Declaration, r *outcome.Outcome) Object {
	leaders := make([]uint64, 0, len(r.Leaders))
	for _, q := range r.Leaders {
		leaders = append(leaders, r.Identifier(q))
	}
	var leader, position any
	if q, one := r.Leader(); one {
		position = q
		if !r.Anonymous() {
			leader = leaders[0]
		}
	}
	result := Object{
		{"leader", leader},
		{"leader_position", position},
		{"leaders", leaders},
		{"live", r.Live},
		{"decided", r.Decided},
		{"agreed", r.Agreed},
		{"messages", messages(d, r.Messages)},
	}
	if r.ByPhase != nil {
		result = append(result, Field{"by_phase", r.ByPhase})
	}
	return result
}

// networkOf describes the network of a run: asynchronous one-directional ring of 5.
func networkOf(d *election.Declaration, timing election.Timing, n int) string {
	way := ""
	if d.OneWay {
		way = "one-directional "
	}
	return fmt.Sprintf("%s %s%s", timing, way, d.Topology.Phrase(n))
}

// underTitle writes the participants and how they start, on one line if there is room.
func (p *Printer) underTitle(who, how string) {
	if utf8.RuneCountInString(who) > 30 || utf8.RuneCountInString(how) > 47 {
		fmt.Fprintf(p.Out, "  %s\n  %s\n\n", who, how)
		return
	}
	fmt.Fprintf(p.Out, "  %s%*s%s\n\n", who, 31-utf8.RuneCountInString(who), "", how)
}

// shown is the largest number of processes that a line lists.
const shown = 12

// lineUp writes the processes, clockwise on a ring.
func lineUp(d *election.Declaration, ids election.Arrangement, dead func(int) bool) string {
	separator := " "
	switch {
	case d.Topology == election.Ring && d.OneWay:
		separator = " → "
	case d.Topology == election.Ring:
		separator = " ↔ "
	}
	var b strings.Builder
	for q := range min(ids.Len(), shown) {
		if d.Identifiers == election.Anonymous {
			b.WriteString("○")
		} else {
			fmt.Fprint(&b, ids.At(q))
		}
		if dead(q) {
			b.WriteString("†")
		}
		b.WriteString(separator)
	}
	if ids.Len() > shown {
		b.WriteString("…")
	}
	return strings.TrimSuffix(b.String(), " ")
}

// Text prints the run for people.
func (r *Run) Text(p *Printer) error {
	paint, w, n, s := p.Paint(), p.Out, len(r.Decisions), r.Options
	most := worst(r.Prepared.Declaration(), r.Starters, n, r.Disturbed)
	if r.Told != nil {
		how := *r.Told
		how.Width = p.Width()
		if err := r.Record.Tell(w, how); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	dead := map[int]bool{}
	for _, q := range r.Dead {
		dead[q] = true
	}
	how := initiatorsOf(&r.Outcome, s.Initiators, s.AnyTime)
	if s.Wake != nil {
		how = fmt.Sprintf("%d of %d wake spontaneously", r.Starters, n)
	}
	switch r.Timing {
	case election.Asynchronous:
		if !r.Walked {
			how += ", schedule " + s.Schedule.String()
		}
	case election.Timed:
		how += fmt.Sprintf(", delays 1 to %d", r.Delay)
	}
	fmt.Fprintf(w, "%s · %s · %s\n", paint.Text(Bold, r.Title), networkOf(r.Declaration, r.Timing, n), r.Source)
	p.underTitle(lineUp(r.Declaration, arranged{r.Prepared}, func(q int) bool { return dead[q] }), fmt.Sprintf("%s, seed %d", how, r.Seed)+Needed(r.Walked, ", events chosen by hand", ""))

	verdict, colour := verdict(r.Prepared.Declaration(), &r.Outcome)
	fmt.Fprintln(w, paint.Text(colour, verdict))
	after := ""
	if r.Time != nil {
		after = "   in " + amount.Of(r.Time.Quiet, "unit") + " of delay"
	}
	p.tally(r.Prepared)
	names := counts(w, r.Declaration, most, r.Messages, after)
	if r.Open != nil {
		fmt.Fprintf(w, "  %-*s %*d   deliveries before the last edge is opened; at least (n lg n)/4 + 1/2 = %g\n", names, "open", 6, r.Open.Messages, r.Open.Claim)
	}
	if losing(&r.Script) {
		fmt.Fprintf(w, "  %-*s %*d\n  %-*s %*d\n", names, "lost", 6, r.Lost, names, "duplicated", 6, r.Duplicated)
	}
	for _, fault := range r.Faults {
		fmt.Fprintln(w, paint.Text(Red, fault))
	}
	r.faultsText(p)
	p.claims(r.Claims)
	return nil
}

const atAnyTime = "processes initiate at any time"

// initiatorsOf names the initiators of a run.
func initiatorsOf(r *outcome.Outcome, initiators []int, anyTime bool) string {
	switch {
	case anyTime:
		return atAnyTime
	case initiators == nil:
		return "all processes initiate"
	case len(initiators) > 8:
		return fmt.Sprintf("%d processes initiate", len(initiators))
	}
	names := make([]string, len(initiators))
	for i, q := range initiators {
		names[i] = fmt.Sprint(r.Identifier(q))
	}
	if len(names) == 1 {
		return names[0] + " initiates"
	}
	return strings.Join(names, ", ") + " initiate"
}

// Usurped reports whether a process leads for ever that must not, whatever follows: beside another one, or instead of the right one,
// which may be another one if processes are dead.
func Usurped(d *election.Declaration, r *outcome.Outcome) bool {
	if d.Task != election.Once || len(r.Leaders) == 0 {
		return false
	}
	right := r.Prepared.Right(r.Prepared.Willing)
	return len(r.Leaders) > 1 || len(r.Dead) == 0 && right != 0 && r.Prepared.ID(r.Leaders[0]) != right
}

// verdict returns in a line which process leads.
func verdict(d *election.Declaration, r *outcome.Outcome) (text, colour string) {
	who := "all"
	if len(r.Dead) > 0 {
		who = "all live"
	}
	leader, one := r.Leader()
	name := fmt.Sprint(r.Identifier(leader))
	if r.Anonymous() {
		name = "at position " + name
	} else if d.AllowDuplicates != nil { // identifiers may repeat
		name = fmt.Sprintf("%s at position %d", name, leader)
	}
	switch {
	case len(r.Leaders) == 0:
		return fmt.Sprintf("no leader; %d of %d decided", r.Decided, r.Live), Red
	case !one:
		var names []string
		for _, q := range r.Leaders[:min(len(r.Leaders), shown)] {
			names = append(names, fmt.Sprint(r.Identifier(q)))
		}
		return fmt.Sprintf("%d leaders: %s%s; not agreed", len(r.Leaders), strings.Join(names, ", "), Needed(len(r.Leaders) > shown, ", …", "")), Red
	case !r.Agreed && Usurped(d, r):
		return fmt.Sprintf("leader %s, not agreed; %d of %d decided; the leader must have %s", name, r.Decided, r.Live, d.Winner), Red
	case !r.Agreed:
		return fmt.Sprintf("leader %s, not agreed; %d of %d decided", name, r.Decided, r.Live), Red
	case len(r.Faults) > 0 && r.Prepared.ID(leader) == r.Prepared.Right(r.Prepared.Willing): // it is the right one; the faults follow
		return fmt.Sprintf("leader %s, agreed by %s %d", name, who, r.Live), Red
	case !r.Right:
		return fmt.Sprintf("leader %s, agreed by %s %d, but the leader must have %s", name, who, r.Live, d.Winner), Red
	case d.Decides == election.LeaderOnly:
		return fmt.Sprintf("leader %s; no other process learns it", name), Green
	}
	return fmt.Sprintf("leader %s, agreed by %s %d", name, who, r.Live), Green
}
