package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// Checked is what a check is of.
type Checked struct {
	*catalogue.Entry
	Size    int    // the number of processes
	Start   string // as it was asked for
	Seed    uint64
	Options *verify.Options
	Usual   []string // parameters that have the values that the algorithm declares for verify, as NAME=VALUE
}

// header returns the fields with which the JSON of a check begins.
func (c *Checked) header() Object {
	return Object{
		{"algorithm", c.Name},
		{"n", c.Size},
		{"topology", c.Topology.String()},
		{"start", c.Start},
		{"seed", c.Seed},
		{"parameters", c.parameters()},
	}
}

// Verification is the result of a check of every schedule.
type Verification struct {
	Checked
	*verify.Report

	Shrunk *verify.Options // with fewer processes and faults; nil if nothing could be left out
	Small  *verify.Report  // … and what was found then

	Unchecked []string          // the flags that check what the algorithm declares and was not checked
	Unjudged  []*election.Bound // those that it declares and no search has judged
}

// Shown returns the violation that is shown, and its options: the smaller one, if there is one. It returns nil if no
// property is violated.
func (r *Verification) Shown() (*verify.Violation, *verify.Options) {
	if r.Small != nil {
		return r.Small.Violation, r.Shrunk
	}
	return r.Violation, r.Options
}

// JSON returns what was found for programs.
func (r *Verification) JSON() any {
	result := append(r.header(), Object{{"crashes", r.Options.Crashes}, {"recoveries", r.Options.Recoveries}}...)
	for _, f := range r.further() {
		result = append(result, Field{f.name, f.most})
	}
	if r.Options.Lazy {
		result = append(result, Field{"lazy", true}, Field{"clock_error", r.Options.ClockError.String()})
	}
	if r.Options.Wardens {
		result = append(result, Field{"wardens", true})
	}
	if len(r.Outside) > 0 {
		result = append(result, Field{"unclaimed", r.Outside})
	}
	result = append(result, Object{
		{"orders", r.Orders},
		{"states", r.States},
		{"transitions", r.Transitions},
		{"finals", r.Finals},
		{"depth", r.Depth},
		{"fingerprint_bits", r.Bits},
		{"miss_probability", r.Miss},
		{"orders_by_confluence", r.Confluent},
		{"complete", r.Complete},
		{"holds", r.Complete && r.Violation == nil},
	}...)
	if len(r.Unchecked) > 0 {
		result = append(result, Field{"not_checked", r.Unchecked})
	}
	if len(r.Unjudged) > 0 {
		bounds := []Object{}
		for _, b := range r.Unjudged {
			bounds = append(bounds, boundJSON(b))
		}
		result = append(result, Field{"not_judged", bounds})
	}
	if r.Partial > 0 {
		result = append(result, Field{"orders_by_partial_order", r.Partial})
	}
	if r.Symmetry {
		result = append(result, Field{"symmetry", true})
	}
	if len(r.Coverage) > 1 {
		events := Object{}
		for _, s := range r.Coverage {
			events = append(events, Field{s.Event, s.Happened})
		}
		result = append(result, Field{"sometimes", events}, Field{"vacuous", append([]string{}, r.Vacuous()...)})
	}
	extreme := func(name string, m *verify.Messages) {
		if m != nil {
			result = append(result, Field{name, Object{{"total", m.Total}, {"election", m.Election}, {"announcement", m.Announcement}}})
		}
	}
	extreme("max_messages", r.MaxMessages)
	extreme("min_messages", r.MinMessages)
	if r.Walks > 0 {
		result = append(result, Field{"walks", r.Walks})
	}
	if r.Small != nil {
		result = append(result, Field{"shrunk", r.shrunk()})
	}
	if r.Extremes != nil {
		result = append(result, extremesJSON(r.Extremes))
	}
	if v, _ := r.Shown(); v != nil {
		result = append(result, violationJSON(v.Property, v.Detail, &v.Record))
		if len(v.Outside) > 0 {
			result = append(result, Field{"violation_unclaimed", v.Outside})
		}
	}
	return result
}

// allowed is a kind of fault, and how often it may come.
type allowed struct {
	name, words string
	most        int
}

// further returns the faults that may come, but for crashes and recoveries, which every result has.
func (r *Verification) further() []allowed {
	o := r.Options
	return slices.DeleteFunc([]allowed{
		{"losses", "losses", o.Losses},
		{"duplicates", "duplicates", o.Duplicates},
		{"cuts", "cuts", o.Cuts},
		{"suspicions", "wrong suspicions", o.Suspicions},
		{"resignations", "resignations", o.Commands},
	}, func(f allowed) bool { return f.most == 0 })
}

// parameters returns the JSON of the parameters, which were set before.
func (c *Checked) parameters() Object {
	set, err := c.Set(c.Options.Setup.Parameters)
	if err != nil {
		return nil
	}
	return Parameters(set)
}

// Text prints what was found for people.
func (r *Verification) Text(p *Printer) error {
	paint, w := p.Paint(), p.Out
	fmt.Fprintf(w, "%s · %s · %s\n", paint.Text(Bold, r.Title), networkOf(r.Declaration, r.Timing, r.Size), r.Source)
	fmt.Fprintf(w, "  %s, %s%s\n", r.explored(), initiate(r.Start), r.reduced())
	if len(r.Usual) > 0 {
		fmt.Fprintf(w, "  with %s, as declared for verify; --param gives others\n", strings.Join(r.Usual, ", "))
	}
	if len(r.Unchecked) > 0 {
		fmt.Fprintf(w, "  not checked, and declared: %s\n", strings.Join(r.Unchecked, ", "))
	}
	for i, b := range r.Unjudged {
		words := b.Case.String() + " case " + claimed(b) + Needed(b.OneStart, " of one initiator", "")
		fmt.Fprint(w, Needed(i == 0, "  not judged, and declared: ", "; "), words, Needed(i == len(r.Unjudged)-1, "\n", ""))
	}
	r.counted(w)
	switch {
	case r.Violation != nil:
		return r.violated(p)
	case !r.Complete:
		so := "no violation so far"
		if r.Walks > 0 {
			so = "no violation in these walks"
		}
		fmt.Fprintln(w, paint.Text(Yellow, so))
		r.happened(w)
		return nil
	}
	return r.holds(p)
}

// explored returns in words what was explored.
func (r *Verification) explored() string {
	v := r.Options
	what, each := "every schedule", "every order"
	if r.Walks > 0 {
		what, each = fmt.Sprintf("%s with seed %d", amount.Of(r.Walks, "random walk"), r.Seed), "random orders"
	}
	if v.Setup.IDs == nil && r.Size > 1 && r.Topology != election.Complete && r.Identifiers != election.Anonymous {
		what += fmt.Sprintf(" of %s of %d identifiers", each, r.Size) + Needed(v.Shift != 0, fmt.Sprintf(" from %d on", uint64(v.Shift)+1), "")
	}
	if v.Setup.Flipped != nil && !v.Orientations {
		what += ", one orientation"
	}
	if v.Setup.Ports != nil {
		what += ", one order of ports"
	}
	if few := len(v.Setup.Unwilling); few > 0 {
		what += ", " + amount.Of(few, "unwilling process")
	}
	if v.Crashes > 0 {
		what += fmt.Sprintf(", crashes up to %d, recoveries up to %d", v.Crashes, v.Recoveries)
	}
	for _, f := range r.further() {
		what += fmt.Sprintf(", %s up to %d", f.words, f.most)
	}
	if v.Unordered {
		what += ", messages overtaking each other"
	}
	if v.Lazy {
		what += ", in lazy time"
	}
	if v.Pace > 1 {
		what += fmt.Sprintf(" in steps of %d", v.Pace)
	}
	if v.ClockError.Times > 0 {
		what += fmt.Sprintf(" with clocks wrong by %s", v.ClockError)
	}
	if v.Wardens {
		what += ", with wardens"
	}
	return what
}

// reduced returns in words that schedules or orders were left out.
func (r *Verification) reduced() string {
	if r.Confluent+r.Partial == 0 && !r.Symmetry {
		return ""
	}
	return "; one of those that are alike (--reduce none: all)"
}

// violated prints the violation, with its story.
func (r *Verification) violated(p *Printer) error {
	w := p.Out
	shown, _ := r.Shown()
	fmt.Fprintf(w, "%s: %s\n", p.Paint().Text(Red, shown.Property), shown.Detail)
	if r.Small != nil {
		fmt.Fprintf(w, "shrunk: the same property is violated with %s\n", r.shrunk())
	}
	if why := r.longer(); why != "" {
		fmt.Fprintf(w, "there may be a shorter run: %s\n", why)
	}
	if outside := shown.Outside; len(outside) > 0 {
		fmt.Fprintf(w, "outside its fault model: %s %s\n", r.Name, intolerant(outside))
	}
	return shown.Record.Tell(w, trace.Telling{Width: p.Width()})
}

// longer returns why the violation of a search may not have the fewest steps, or "".
func (r *Verification) longer() string {
	searched := r.Report
	if r.Small != nil {
		searched = r.Small
	}
	switch {
	case searched.Complete || searched.Walks > 0 || len(searched.Violation.Record.Steps) == 0: // no step comes before New
		return ""
	case searched.Limit == verify.StateLimit:
		return "the whole search reached its limit of states"
	case searched.Limit == verify.MemoryLimit:
		return "the whole search reached its limit of memory"
	case searched.Limit == verify.DepthLimit:
		return "the whole search reached its limit of depth"
	}
	return "the whole search was stopped"
}

// holds prints the properties that hold, and the extremes.
func (r *Verification) holds(p *Printer) error {
	w := p.Out
	set, err := r.Set(r.Options.Setup.Parameters)
	if err != nil {
		return err
	}
	unless := "" // costs are of runs without faults
	switch {
	case len(r.further()) > 0:
		unless = " without faults"
	case r.Options.Crashes > 0:
		unless = " without crashes"
	}
	fmt.Fprintln(w, p.Paint().Text(Green, "holds: "+properties(r.With(set), len(r.Options.Initiators) == 1, unless)))
	r.happened(w)
	if len(r.Outside) > 0 {
		fmt.Fprintf(w, "passed outside its fault model: %s %s\n", r.Name, intolerant(r.Outside))
	}
	if most, least := r.MaxMessages, r.MinMessages; most != nil {
		fmt.Fprintf(w, "  election      %d to %d messages%s\n", least.Election, most.Election, unless)
		fmt.Fprintf(w, "  total         %d to %d messages%s\n", least.Total, most.Total, unless)
	}
	if r.Extremes != nil {
		attained(w, r.Extremes)
	}
	return nil
}

// shrunk returns in words what is left of the network and its faults.
func (r *Verification) shrunk() string {
	o := r.Shrunk
	parts := []string{amount.Of(r.Small.Violation.Record.N, "process")}
	for _, f := range []struct {
		most  int
		thing string
	}{
		{o.Crashes, "crash"},
		{o.Recoveries, "recovery"},
		{o.Losses, "loss"},
		{o.Duplicates, "duplicate"},
		{o.Cuts, "cut"},
		{o.Suspicions, "wrong suspicion"},
		{o.Commands, "resignation"},
	} {
		if f.most > 0 {
			parts = append(parts, amount.Of(f.most, f.thing))
		}
	}
	if o.Unordered {
		parts = append(parts, "links that are not FIFO")
	}
	if o.Delay > 0 {
		parts = append(parts, fmt.Sprintf("delays up to %d", o.Delay))
	}
	return strings.Join(parts, ", ")
}

// counted prints how much was explored, and how sure that is.
func (r *Verification) counted(w io.Writer) {
	orders := ""
	if r.Orders > 1 {
		orders = fmt.Sprintf("%d orders, ", r.Orders)
	}
	if r.Walks > 0 {
		fmt.Fprintf(w, "  %s, the longest walk has %d\n", amount.Of(r.States, "step"), r.Depth)
	} else {
		fmt.Fprintf(w, "  %s%s, %s, depth at most %d\n", orders, amount.Of(r.States, "state"), amount.Of(r.Transitions, "transition"), r.Depth)
	}
	if r.Confluent > 0 {
		fmt.Fprintf(w, "  confluence: one schedule decides all in %d of them, and is what is counted of these\n", r.Confluent)
	}
	if r.Partial > 0 {
		fmt.Fprintf(w, "  partial order: states are left out in %d of them that show nothing more\n", r.Partial)
	}
	if r.Symmetry {
		fmt.Fprintln(w, "  symmetry: of orders and of states that are alike, one is counted")
	}
	if 0 < r.Bits && r.Bits < 128 { // 0: nothing was explored
		fmt.Fprintf(w, "  states told apart by %d bits; the probability that any was missed is below %.1g; --exact keeps 128\n", r.Bits, r.Miss)
	}
	fmt.Fprintln(w)
}

// happened prints what has happened in the explored runs, and what has not, unless that is just that a process led.
func (r *Verification) happened(w io.Writer) {
	var all, never []string
	for _, s := range r.Coverage {
		if s.Happened {
			all = append(all, s.Event)
		} else {
			never = append(never, s.Event)
		}
	}
	if len(all) > 1 {
		fmt.Fprintf(w, "  happened: %s\n", strings.Join(all, ", "))
	}
	if len(never) > 0 {
		fmt.Fprintf(w, "  never happened: %s\n", strings.Join(never, ", "))
	}
	if vacuous := r.Vacuous(); len(vacuous) > 0 {
		fmt.Fprintf(w, "  so these are not put to the test: %s\n", strings.Join(vacuous, ", "))
	}
}

// initiate returns in words which processes initiate, from the value of --start.
func initiate(start string) string {
	switch start {
	case "all":
		return "all processes initiate"
	case "any":
		return atAnyTime
	case "every-set":
		return "every set of initiators"
	case "each":
		return "each process initiates at any time before its first message"
	}
	return "initiators " + start
}

// properties returns in words the properties that a check of a declaration proves, with or without a single initiator. unless follows the bound.
func properties(d *election.Declaration, single bool, unless string) string {
	if d.Leased {
		return "of all leases at most one runs, those of dead lives included; one life leads in a term, terms increase, and none is used again; " +
			"work stops before other work begins"
	}
	text := "one leader"
	if d.Winner != election.Unspecified {
		text += ", " + d.Winner.String()
	}
	if d.Task == election.Once {
		text += ", for ever"
	} else {
		text += ", once faults have stopped"
	}
	if d.Decides == election.EveryProcess {
		text += ", with all others as followers"
	}
	text += "; every election can end"
	if b := d.Bound(election.Worst); b != nil && d.Task == election.Once && (single || !b.OneStart) {
		text += fmt.Sprintf("; at most %s %s messages%s", b.Formula, b.Of, unless)
	}
	return text
}
