package report

import (
	"fmt"
	"math/big"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/verify"
)

// Chances are exact probabilities and means over all random choices of an algorithm.
type Chances struct {
	Checked
	*verify.Chances
}

// row is a mean, with its name for people and for programs.
type row struct {
	text, json string
	verify.Range
}

func (r *Chances) rows() []row {
	rows := []row{
		{"the run ends, probability", "ends", r.Ends},
		{"rounds (choices of the leader)", "rounds", r.Rounds},
		{"election messages", "election", r.Election},
		{"announcement messages", "announcement", r.Announced},
		{"messages", "total", r.Total},
	}
	if r.Timing != election.Asynchronous {
		rows = append(rows, row{"units of delay until quiescence", "time", r.Time})
	}
	return rows
}

// JSON returns the exact values for programs, as fractions.
func (r *Chances) JSON() any {
	values := Object{{"states", r.States}, {"one_schedule", r.OneSchedule}}
	text := func(x *big.Rat) any {
		if x == nil {
			return nil
		}
		return x.RatString()
	}
	for _, row := range r.rows() {
		values = append(values, Field{row.json, Object{{"min", text(row.Least)}, {"max", text(row.Most)}}})
	}
	return append(r.header(), Field{"probabilities", values})
}

// Text prints the exact values for people.
func (r *Chances) Text(p *Printer) error {
	w := p.Out
	fmt.Fprintf(w, "%s · %s · %s\n", p.Paint().Text(Bold, r.Title), networkOf(r.Declaration, r.Timing, r.Size), r.Source)
	how := "the least and the greatest of all schedules"
	if r.OneSchedule {
		how = "every schedule has the same"
	}
	fmt.Fprintf(w, "  exact means over all random choices, %s\n  %s, %s\n\n", initiate(r.Start), amount.Of(r.States, "state"), how)
	for _, row := range r.rows() {
		none := row.Most != nil && row.Most.Sign() == 0 && row.json != "ends"
		if none || row.json == "rounds" && !r.OneSchedule {
			continue
		}
		fmt.Fprintf(w, "  %-31s %s\n", row.text, rangeText(row.Range))
	}
	return nil
}

// rangeText returns a range in words, with decimals beside fractions.
func rangeText(r verify.Range) string {
	if r.Least == nil && r.Most == nil {
		return "no mean: a run can be endless"
	}
	if r.Least != nil && r.Most != nil && r.Least.Cmp(r.Most) == 0 {
		return fraction(r.Least)
	}
	return fraction(r.Least) + " to " + fraction(r.Most)
}

// fraction returns a fraction, and its decimals where it has a denominator; a long one as decimals alone.
func fraction(x *big.Rat) string {
	const long = 24
	text := "∞"
	if x != nil {
		if text = x.RatString(); !x.IsInt() {
			decimals := x.FloatString(6)
			if text += " ≈ " + decimals; len(text) > long {
				text = decimals + " (--json has the fraction)"
			}
		}
	}
	return text
}
