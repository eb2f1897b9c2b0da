package report

import (
	"fmt"
	"io"
	"math/big"
	"strconv"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify"
)

// extremesJSON returns the extremes of messages and of time, each with a run that attains it.
func extremesJSON(e *verify.Extremes) Field {
	all := Object{{"messages", Object{
		{"election", extremeJSON(&e.Election)}, {"announcement", extremeJSON(&e.Announcement)}, {"total", extremeJSON(&e.Total)},
	}}}
	if t := e.Time; t != nil {
		all = append(all, Field{"time", times(extremeJSON(&t.Elected), extremeJSON(&t.Decided), extremeJSON(&t.Quiet))})
	} else {
		all = append(all, Field{"no_time", e.NoTime})
	}
	return Field{"extremes", all}
}

// extremeJSON returns one extreme.
func extremeJSON(e *verify.Extreme) (range_ Object) {
	for _, side := range []struct {
		name string
		of   *verify.Attained
	}{{"min", &e.Min}, {"max", &e.Max}} {
		if !side.of.Unbounded {
			range_ = append(range_, Field{side.name, side.of.Value}, Field{side.name + "_ids", side.of.Record.IDs}, Field{side.name + "_run", side.of.Record.Steps})
		}
	}
	switch least, most := e.MeanMin, e.MeanMax; {
	case most == nil:
	case least.Cmp(most) == 0:
		range_ = append(range_, Field{"average", least.RatString()})
	default:
		range_ = append(range_, Field{"average_of_min", least.RatString()}, Field{"average_of_max", most.RatString()})
	}
	return range_
}

// attained prints the orders that attain the extremes of election messages and of time, and the means.
func attained(w io.Writer, e *verify.Extremes) {
	fmt.Fprintf(w, "  extremes      %s; --json has the runs\n", attaining(&e.Election))
	if e.Time == nil {
		fmt.Fprintf(w, "  time          none is stated: %s\n", e.NoTime)
		return
	}
	fmt.Fprintln(w, "  time, in units of delay")
	for _, of := range timesOf(e.Time) {
		switch e := of.extreme; {
		case e.Min.Unbounded:
			fmt.Fprintf(w, "    %-11s without bound\n", of.name)
		case e.Min.Value == e.Max.Value && !e.Max.Unbounded:
			fmt.Fprintf(w, "    %-11s always %s\n", of.name, e.Min.Value)
		default:
			fmt.Fprintf(w, "    %-11s %s\n", of.name, attaining(e))
		}
	}
}

// timed is a time of a run, by its name.
type timed struct {
	name    string
	extreme *verify.Extreme
}

func timesOf(t *verify.Times) []timed {
	return []timed{{"elected", &t.Elected}, {"decided", &t.Decided}, {"quiescent", &t.Quiet}}
}

// attaining returns in words the orders that attain the extremes, and the mean.
func attaining(e *verify.Extreme) string {
	order := func(a *verify.Attained) string {
		if a.Unbounded {
			return "without bound"
		}
		text := a.Value.String()
		if len(a.Record.IDs) > 0 {
			text += " of " + Commas(len(a.Record.IDs), func(q int) uint64 { return a.Record.IDs[q] })
		}
		return text
	}
	text := fmt.Sprintf("least %s, most %s", order(&e.Min), order(&e.Max))
	if e.MeanMax != nil {
		text += ", mean " + means(e)
	}
	return text
}

// means returns the mean over the orders, or the means of the least and of the most counts of the orders.
func means(e *verify.Extreme) string {
	if e.MeanMin.Cmp(e.MeanMax) == 0 {
		return ratio(e.MeanMin)
	}
	return ratio(e.MeanMin) + " to " + ratio(e.MeanMax)
}

func ratio(r *big.Rat) string {
	if r.IsInt() {
		return r.RatString()
	}
	return r.RatString() + " = " + r.FloatString(3)
}

// ExtremesTable holds the extremes of several sizes.
type ExtremesTable struct{ Sizes []*Verification }

// Text prints a table of election messages, and one of time, beside the declared bounds.
func (t *ExtremesTable) Text(p *Printer) error {
	first := t.Sizes[0]
	set, err := first.Set(first.Options.Setup.Parameters)
	if err != nil {
		return err
	}
	d := first.With(set)
	fmt.Fprintf(p.Out, "%s · election messages over every order and every schedule, %s\n\n", p.Paint().Text(Bold, first.Title), initiate(first.Start))
	t.rows(p, d, "election", []column{{"", func(e *verify.Extremes) *verify.Extreme { return &e.Election }}})
	if none := first.Extremes.NoTime; none != "" {
		fmt.Fprintf(p.Out, "\nno time is stated: %s\n", none)
		return nil
	}
	fmt.Fprint(p.Out, "\ntime, in units of delay, until a process leads and until quiescence\n\n")
	t.rows(p, d, "time", []column{
		{"leads: ", func(e *verify.Extremes) *verify.Extreme { return &e.Time.Elected }},
		{"quiescent: ", func(e *verify.Extremes) *verify.Extreme { return &e.Time.Quiet }},
	})
	return nil
}

// column is an extreme of each size in a table.
type column struct {
	name string
	of   func(*verify.Extremes) *verify.Extreme
}

// rows prints some extremes, beside the declared bounds of a quantity.
func (t *ExtremesTable) rows(p *Printer, d *election.Declaration, of string, columns []column) {
	head := []string{"n", "orders"}
	for _, c := range columns {
		head = append(head, c.name+"least", "mean", "most")
	}
	var bounds []*election.Bound
	for i := range d.Bounds {
		if b := &d.Bounds[i]; b.Of == of && !b.OneStart {
			bounds = append(bounds, b)
			head = append(head, b.Case.String()+" "+b.Formula)
		}
	}
	rows := [][]string{}
	for _, v := range t.Sizes {
		row := []string{strconv.Itoa(v.Size), strconv.Itoa(v.Orders)}
		for _, c := range columns {
			row = append(row, cells(c.of(v.Extremes))...)
		}
		for _, b := range bounds {
			if b.Value != nil {
				row = append(row, strconv.FormatUint(b.Value(uint64(v.Size)), 10))
			} else {
				row = append(row, strconv.FormatFloat(b.Mean(uint64(v.Size)), 'f', 3, 64))
			}
		}
		rows = append(rows, row)
	}
	WriteRows(p.Out, p.Paint(), p.Width(), head, rows)
}

// cells returns the least value, the mean and the greatest value.
func cells(e *verify.Extreme) []string {
	switch {
	case e.Min.Unbounded:
		return []string{"∞", "", "∞"}
	case e.MeanMax == nil:
		return []string{e.Min.Value.String(), "", "∞"}
	}
	return []string{e.Min.Value.String(), means(e), e.Max.Value.String()}
}
