package report

import (
	"fmt"
	"io"
	"math/big"
	"strconv"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify"
)

// extremesJSON returns the extremes of messages, each with a run that attains it.
func extremesJSON(e *verify.Extremes) field {
	counts := object{}
	for _, c := range []struct {
		name string
		of   *verify.Extreme
	}{{"election", &e.Election}, {"announcement", &e.Announcement}, {"total", &e.Total}} {
		count := object{}
		for _, side := range []struct {
			name string
			of   *verify.Attained
		}{{"min", &c.of.Min}, {"max", &c.of.Max}} {
			if !side.of.Unbounded {
				count = append(count, field{side.name, side.of.Messages}, field{side.name + "_ids", side.of.Record.IDs}, field{side.name + "_run", side.of.Record.Steps})
			}
		}
		switch least, most := c.of.MeanMin, c.of.MeanMax; {
		case most == nil:
		case least.Cmp(most) == 0:
			count = append(count, field{"average", least.RatString()})
		default:
			count = append(count, field{"average_of_min", least.RatString()}, field{"average_of_max", most.RatString()})
		}
		counts = append(counts, field{c.name, count})
	}
	return field{"extremes", object{{"messages", counts}}}
}

// attained prints the orders that attain the extremes of election messages, and the mean.
func attained(w io.Writer, e *verify.Extreme) {
	order := func(a *verify.Attained) string {
		if a.Unbounded {
			return "without bound"
		}
		text := strconv.FormatUint(a.Messages, 10)
		if len(a.Record.IDs) > 0 {
			text += " of " + Commas(len(a.Record.IDs), func(q int) uint64 { return a.Record.IDs[q] })
		}
		return text
	}
	fmt.Fprintf(w, "  extremes      least %s, most %s", order(&e.Min), order(&e.Max))
	if e.MeanMax != nil {
		fmt.Fprintf(w, ", mean %s", means(e))
	}
	fmt.Fprintln(w, "; --json has the runs")
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
		row := []string{strconv.Itoa(v.Size), strconv.Itoa(v.Orders), strconv.FormatUint(e.Min.Messages, 10), "", most}
		if e.MeanMax != nil {
			row[3], row[4] = means(e), strconv.FormatUint(e.Max.Messages, 10)
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
