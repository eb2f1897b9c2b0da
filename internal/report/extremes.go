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
func extremesJSON(e *verify.Extremes) field {
	all := object{{"messages", object{
		{"election", extremeJSON(&e.Election)}, {"announcement", extremeJSON(&e.Announcement)}, {"total", extremeJSON(&e.Total)},
	}}}
	if t := e.Time; t != nil {
		all = append(all, field{"time", times(extremeJSON(&t.Elected), extremeJSON(&t.Decided), extremeJSON(&t.Quiet))})
	} else {
		all = append(all, field{"no_time", e.NoTime})
	}
	return field{"extremes", all}
}

// extremeJSON returns one extreme.
func extremeJSON(e *verify.Extreme) (range_ object) {
	for _, side := range []struct {
		name string
		of   *verify.Attained
	}{{"min", &e.Min}, {"max", &e.Max}} {
		if !side.of.Unbounded {
			range_ = append(range_, field{side.name, side.of.Value}, field{side.name + "_ids", side.of.Record.IDs}, field{side.name + "_run", side.of.Record.Steps})
		}
	}
	switch least, most := e.MeanMin, e.MeanMax; {
	case most == nil:
	case least.Cmp(most) == 0:
		range_ = append(range_, field{"average", least.RatString()})
	default:
		range_ = append(range_, field{"average_of_min", least.RatString()}, field{"average_of_max", most.RatString()})
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
		fmt.Fprintf(w, "    %-11s %s\n", of.name, attaining(of.extreme))
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

// ExtremesTable holds the extremes of election messages of several sizes.
type ExtremesTable struct{ Sizes []*Verification }

// Text prints the table beside the declared bounds.
func (t *ExtremesTable) Text(p *Printer) error {
	first := t.Sizes[0]
	set, err := first.Set(first.Options.Instance.Parameters)
	if err != nil {
		return err
	}
	d := first.With(set)
	head := []string{"n", "orders", "least", "mean", "most"}
	var bounds []*election.Bound
	for i := range d.Bounds {
		if b := &d.Bounds[i]; b.Of == "election" && !b.OneStart {
			bounds = append(bounds, b)
			head = append(head, b.Case.String()+" "+b.Formula)
		}
	}
	rows := [][]string{}
	for _, v := range t.Sizes {
		e := &v.Extremes.Election
		most := "∞"
		row := []string{strconv.Itoa(v.Size), strconv.Itoa(v.Orders), e.Min.Value.String(), "", most}
		if e.MeanMax != nil {
			row[3], row[4] = means(e), e.Max.Value.String()
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
	fmt.Fprintf(p.Out, "%s · election messages over every order and every schedule, %s\n\n", p.Paint().Text(Bold, first.Title), initiate(first.Start))
	writeRows(p.Out, p.Paint(), p.Width(), head, rows)
	return nil
}
