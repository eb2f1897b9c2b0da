package studies

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/experiment"
)

// Comparison is a study with its results.
type Comparison struct {
	*experiment.Study
	Points  []*experiment.Point
	Version string // that measured
}

// subject is the algorithm of a point.
func (c *Comparison) subject(point *experiment.Point) *experiment.Subject {
	for _, s := range c.Subjects {
		if s.Label == point.Algorithm {
			return s
		}
	}
	panic("compare: no algorithm is called " + point.Algorithm)
}

// claim is a declared cost, and the distance of the measurement from it.
type claim struct {
	bound     *election.Bound // the worst case; nil where there is none for such a run
	limit     *big.Int        // its value; nil if it is more than 2⁶⁴
	ratio     *big.Rat        // of the mean to it; nil with it
	average   *election.Bound // the exact mean over all orders; nil where there is none, or the order is a given one
	exact     float64         // its value
	deviation float64         // of the mean from it, in standard errors
	measured  bool            // there were enough runs to say so
}

func (c *Comparison) claim(p *experiment.Point) claim {
	s := c.subject(p)
	var found claim
	if found.bound = s.Bound(p.N); found.bound != nil {
		if limit := found.bound.Value(uint64(p.N)); limit != math.MaxUint64 {
			found.limit = new(big.Int).SetUint64(limit)
			if limit > 0 {
				found.ratio = new(big.Rat).Quo(messagesOf(p, found.bound.Of), new(big.Rat).SetInt(found.limit))
			}
		}
	}
	if average := s.Average(); average != nil && (p.Order == "random" || p.Order == experiment.AllOrders) && average.Of == "election" {
		found.average, found.exact = average, average.Mean(uint64(p.N))
		mean, _ := p.Election.Mean().Float64()
		switch within := p.Election.StandardError(); {
		case within > 0 && p.Sampled():
			found.deviation, found.measured = (mean-found.exact)/within, true
		case math.Abs(mean-found.exact) <= 1e-9*found.exact: // all runs cost the same
			found.measured = true
		}
	}
	return found
}

// messagesOf returns the mean of the messages that a bound of that name covers.
func messagesOf(p *experiment.Point, of string) *big.Rat {
	switch of {
	case "announcement":
		return p.Announcement.Mean()
	case "total":
		return new(big.Rat).Add(p.Election.Mean(), p.Announcement.Mean())
	}
	return p.Election.Mean()
}

// significant returns a number with six significant digits, or all before the point.
func significant(r *big.Rat) string {
	if whole := new(big.Int).Quo(r.Num(), r.Denom()); whole.BitLen() > 50 {
		return new(big.Float).SetRat(r).Text('g', 4)
	} else if digits := len(whole.String()); !r.IsInt() && digits < 6 {
		return r.FloatString(6 - digits)
	}
	return r.FloatString(0)
}

func floating(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// Text prints the comparison for people.
func (c *Comparison) Text(p *report.Printer) error {
	w, paint := p.Out, p.Paint()
	fmt.Fprintln(w, paint.Text(report.Bold, c.Command()))
	fmt.Fprintf(w, "ringleader %s, runs have seeds from %d on\n", c.Version, c.Seed)
	head := []string{"n", "algorithm", "election", "±", "least", "most", "announcement", "worst case", "ratio", "exact average", "off by", "elected", "quiescent", "found"}
	var rows [][]string
	flush := func() {
		report.WriteRows(w, paint, p.Width(), head, rows)
		rows = nil
	}
	for i, p := range c.Points {
		if i == 0 || p.Order != c.Points[i-1].Order && p.Order != "" && len(c.Orders) > 1 {
			flush()
			if p.Order != "" {
				fmt.Fprintf(w, "\n%s\n", paint.Text(report.Bold, orderTitle(p.Order)))
			} else {
				fmt.Fprintln(w)
			}
		}
		rows = append(rows, c.row(p))
	}
	flush()
	c.remarks(w, p.ProseWidth())
	return nil
}

// orderTitle is the title of the points of an order.
func orderTitle(name string) string {
	if name == experiment.AllOrders {
		return "all orders"
	}
	return name + " order"
}

func (c *Comparison) row(p *experiment.Point) []string {
	found := c.claim(p)
	var interval, least, most, limit, ratio, average, deviation, elected, quiet string
	switch {
	case p.Sampled() && p.Runs() == 1:
		interval = "?"
	case p.Sampled() && p.Election.Total.Sign() > 0:
		mean, _ := p.Election.Mean().Float64()
		interval = fmt.Sprintf("%.2f%%", 100*p.Election.HalfWidth()/mean)
	case p.Varies && !p.Sampled():
		least, most = p.Election.Least.String(), p.Election.Most.String()
	}
	if found.limit != nil {
		limit = significant(new(big.Rat).SetInt(found.limit))
	}
	if found.ratio != nil {
		ratio = found.ratio.FloatString(3)
	}
	if found.average != nil {
		average = significant(new(big.Rat).SetFloat64(found.exact))
		switch {
		case found.measured && p.Sampled():
			deviation = fmt.Sprintf("%+.1fσ", found.deviation)
		case found.measured:
			deviation = "0"
		}
	}
	if p.Elected != nil {
		elected, quiet = significant(p.Elected.Mean()), significant(p.Quiet.Mean())
	}
	return []string{
		fmt.Sprint(p.N), p.Algorithm, significant(p.Election.Mean()), interval, least, most, significant(p.Announcement.Mean()),
		limit, ratio, average, deviation, elected, quiet, p.Describe(),
	}
}

// remarks explains the columns, and sums up.
func (c *Comparison) remarks(w io.Writer, width int) {
	compared, within, farthest, varies, exact := 0, 0, 0.0, false, false
	for _, p := range c.Points {
		varies, exact = varies || p.Sampled(), exact || p.Varies && !p.Sampled()
		if found := c.claim(p); found.average != nil && found.measured && (p.Sampled() || !p.Varies) {
			compared++
			if math.Abs(found.deviation)*p.Election.StandardError() <= p.Election.HalfWidth() {
				within++
			}
			farthest = max(farthest, math.Abs(found.deviation))
		}
	}
	text := "election and announcement are messages; elected is the time at which the leader decides, and quiescent that of the " +
		"last delivery, in units of delay."
	if varies {
		text += " ± is half the 95 % confidence interval."
	}
	if exact {
		text += " least and most are the extremes over all orders."
	}
	if compared > 0 {
		text += " off by is the distance of the mean from the exact average, in standard errors."
	}
	fmt.Fprintln(w, "\n"+report.Wrap(text, width))
	if compared > 0 {
		fmt.Fprintf(w, "%d of %d exact averages are within the interval, the farthest is off by %.1fσ.\n", within, compared, farthest)
	}
	c.sources(w)
	fits := c.Fits(c.Points)
	if len(fits) > 0 {
		fmt.Fprintln(w, "S5 theorem 5.1 with fitted constants, for the total messages and the time until a leader is elected; the smallest identifier i is 1:")
	}
	for _, f := range fits {
		fmt.Fprintln(w, "  "+f.String())
	}
}

// sources prints the declared bounds of the algorithms, each once with all algorithms that it holds for.
func (c *Comparison) sources(w io.Writer) {
	var texts []string
	of := map[string]string{} // the algorithms of each text
	add := func(s *experiment.Subject, what string, b *election.Bound) {
		if b == nil {
			return
		}
		kind := b.Of
		if kind == "total" {
			kind = "all"
		}
		text := fmt.Sprintf("%s %s %s messages (%s)", what, b.Formula, kind, b.Source)
		if of[text] == "" {
			texts = append(texts, text)
			of[text] = s.Label
		} else {
			of[text] += ", " + s.Label
		}
	}
	for _, s := range c.Subjects {
		add(s, "worst case", s.Bound(c.Sizes[len(c.Sizes)-1]))
		add(s, "average", s.Average())
	}
	for _, text := range texts {
		fmt.Fprintf(w, "%s: %s\n", of[text], text)
	}
}

// columns are the columns of comma-separated values.
var columns = []string{
	"algorithm", "n", "order", "found", "runs", "election", "election_half_width", "election_least", "election_most", "announcement", "elected", "quiet",
	"bound_of", "bound", "ratio", "average", "standard_errors", "seed", "version", "command",
}

// CSV writes a line for each point. Each has all that is needed to repeat it.
func (c *Comparison) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	for _, p := range c.Points {
		found := c.claim(p)
		values := map[string]string{
			"algorithm": p.Algorithm, "n": fmt.Sprint(p.N), "order": p.Order, "found": string(p.How), "runs": fmt.Sprint(p.Runs()),
			"election": decimal(p.Election.Mean()), "announcement": decimal(p.Announcement.Mean()),
			"seed": fmt.Sprint(c.Seed), "version": c.Version, "command": c.Command(),
		}
		if p.Varies && p.Runs() > 1 {
			values["election_least"], values["election_most"] = p.Election.Least.String(), p.Election.Most.String()
		}
		if p.Sampled() && p.Runs() > 1 {
			values["election_half_width"] = floating(p.Election.HalfWidth())
		}
		if p.Elected != nil {
			values["elected"], values["quiet"] = decimal(p.Elected.Mean()), decimal(p.Quiet.Mean())
		}
		if found.bound != nil {
			values["bound_of"] = found.bound.Of
		}
		if found.limit != nil {
			values["bound"] = found.limit.String()
		}
		if found.ratio != nil {
			values["ratio"] = decimal(found.ratio)
		}
		if found.average != nil {
			values["average"] = floating(found.exact)
		}
		if found.measured {
			values["standard_errors"] = fmt.Sprintf("%.3f", found.deviation)
		}
		row := make([]string, len(columns))
		for i, name := range columns {
			row[i] = values[name]
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func decimal(r *big.Rat) string { return experiment.Decimal(r, 6) }

// numeral is a decimal number, as JSON has it.
func numeral(r *big.Rat) json.Number { return json.Number(decimal(r)) }

// JSON returns the comparison for programs.
func (c *Comparison) JSON() any {
	points := make([]report.Object, len(c.Points))
	for i, p := range c.Points {
		points[i] = c.pointJSON(p)
	}
	result := report.Object{{"version", c.Version}, {"command", c.Command()}, {"seed", c.Seed}, {"start", "all"}, {"confidence", experiment.Confidence}, {"points", points}}
	var fits []report.Object
	for _, f := range c.Fits(c.Points) {
		fits = append(fits, report.Object{
			{"algorithm", f.Algorithm},
			{"order", f.Order},
			{"n_from", f.From},
			{"n_to", f.To},
			{"messages_per_process", report.Object{
				{"of", f.Growth.Messages}, {"base", f.Base}, {"slope", f.Slope}, {"most", f.Most},
			}},
			{"time", report.Object{{"of", f.Growth.TimeText}, {"most", f.Time}}},
		})
	}
	if fits != nil {
		result = append(result, report.Field{"theorem_5_1", fits})
	}
	return result
}

func (c *Comparison) pointJSON(p *experiment.Point) report.Object {
	found := c.claim(p)
	var named any // an order means nothing on some networks
	if p.Order != "" {
		named = p.Order
	}
	sum := func(s *experiment.Sum) any {
		if s == nil {
			return nil
		}
		o := report.Object{{"mean", numeral(s.Mean())}, {"runs", s.Runs}}
		if p.Varies && s.Runs > 1 {
			if width := s.HalfWidth(); p.Sampled() && !math.IsInf(width, 0) { // of times beyond all measure
				o = append(o, report.Field{"half_width", json.Number(floating(width))})
			}
			o = append(o, report.Field{"least", s.Least}, report.Field{"most", s.Most})
		}
		return o
	}
	seeds := []uint64{c.Seed, c.Seed + p.Runs() - 1}
	if p.Order == experiment.AllOrders {
		seeds = []uint64{}
	}
	result := report.Object{
		{"algorithm", p.Algorithm},
		{"parameters", report.Parameters(c.subject(p).Parameters)},
		{"topology", c.subject(p).Topology.String()},
		{"n", p.N},
		{"order", named},
		{"found", p.Describe()},
		{"each", p.How},
		{"averaged", p.Varies},
		{"runs", p.Runs()},
		{"seeds", seeds},
		{"messages", report.Object{{"total", numeral(messagesOf(p, "total"))}, {"election", sum(&p.Election)}, {"announcement", sum(&p.Announcement)}}},
	}
	if p.Elected != nil {
		result = append(result, report.Field{"time", report.Object{{"elected", sum(p.Elected)}, {"quiet", sum(p.Quiet)}}})
	} else {
		result = append(result, report.Field{"time", nil})
	}
	if found.bound != nil {
		var ratio any
		if found.ratio != nil {
			ratio = numeral(found.ratio)
		}
		result = append(result, report.Field{"bound", report.Object{{"of", found.bound.Of}, {"formula", found.bound.Formula}, {"messages", found.limit}, {"ratio", ratio}}})
	}
	if found.average != nil {
		average := report.Object{{"formula", found.average.Formula}, {"exact", json.Number(floating(found.exact))}}
		if found.measured {
			average = append(average, report.Field{"standard_errors", json.Number(fmt.Sprintf("%.3f", found.deviation))})
		}
		result = append(result, report.Field{"average", average})
	}
	return result
}
