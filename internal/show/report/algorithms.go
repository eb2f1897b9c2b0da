package report

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
)

// Algorithms is a list of algorithms.
type Algorithms catalogue.List

// JSON returns all declarations for programs.
func (entries Algorithms) JSON() any {
	return Object{{"algorithms", entries.Declarations()}}
}

// Declarations returns the JSON of each declaration.
func (entries Algorithms) Declarations() any {
	all := make([]Object, len(entries))
	for i, e := range entries {
		all[i] = declaration(e)
	}
	return all
}

// Text prints a list for people, by networks. Nothing is cut: a narrow terminal breaks lines.
func (entries Algorithms) Text(p *Printer) error {
	width := 0
	for _, e := range entries {
		width = max(width, len(e.Name))
	}
	row := func(name, text string) { fmt.Fprintf(p.Out, "  %-*s   %s\n", width, name, text) }
	row("NAME", "TIMING · WINNER · WORST CASE OF MESSAGES")
	row("", "SOURCE")
	for _, group := range entries.byNetwork() {
		fmt.Fprintf(p.Out, "\n%s\n", p.Paint().Text(Bold, networks(group[0].Declaration)))
		for _, e := range group {
			words := []string{e.Timing.String(), winner(e.Declaration)}
			if e.Unoriented {
				words[0] += ", unoriented"
			}
			if b := e.Bound(election.Worst); b != nil {
				words = append(words, formula(b)+" "+b.Of)
			}
			row(e.Name, strings.Join(words, " · "))
			row("", e.Source)
		}
	}
	return nil
}

// byNetwork returns the algorithms of each kind of network, in the order in which the list has the kinds first.
func (entries Algorithms) byNetwork() (groups []Algorithms) {
	place := map[string]int{}
	for _, e := range entries {
		name := networks(e.Declaration)
		if _, known := place[name]; !known {
			place[name] = len(groups)
			groups = append(groups, nil)
		}
		groups[place[name]] = append(groups[place[name]], e)
	}
	return groups
}

// networks is the kind of networks that an algorithm is made for, as a title.
func networks(d *election.Declaration) string {
	switch {
	case d.Topology == election.Ring && d.OneWay:
		return "Rings, one way"
	case d.Topology == election.Ring:
		return "Rings, two ways"
	case d.Topology == election.Tree:
		return "Trees"
	case d.Topology == election.UnknownNeighbours:
		return "Complete graphs, unknown neighbours (KT0)"
	}
	return "Complete graphs, known neighbours"
}

// Markdown prints a table of what one chooses by: what each algorithm assumes, what it gives and what it costs.
func (entries Algorithms) Markdown(p *Printer) {
	fmt.Fprint(p.Out, "| algorithm | network | assumes | leader | worst-case messages | average | tolerates |\n"+
		"| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, e := range entries {
		bound := func(c election.Case) string {
			b := e.Bound(c)
			if b == nil {
				return ""
			}
			text := formula(b) + map[string]string{"election": "", "total": " in total"}[b.Of]
			if b.OneStart {
				text += ", one initiator"
			}
			return Cell(text)
		}
		fmt.Fprintf(p.Out, "| `%s` | %s | %s | %s | %s | %s | %s |\n", e.Name, model(e.Declaration), assumes(e.Declaration),
			winner(e.Declaration), bound(election.Worst), bound(election.Average), survives(e.Survives))
	}
}

// Cell is a text in which nothing means anything to Markdown.
var Cell = strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`, "`", "\\`", "\n", " ").Replace

// assumes returns what an algorithm requires of a network, besides its kind.
func assumes(d *election.Declaration) string {
	var words []string
	if d.Starts != election.AnyStart {
		words = append(words, d.Starts.Phrase())
	}
	if d.FIFO {
		words = append(words, "FIFO links")
	}
	if d.KnowsSize {
		words = append(words, "n known")
	}
	if d.Identifiers != election.Compared {
		words = append(words, "identifiers: "+d.Identifiers.Phrase())
	}
	return strings.Join(words, "; ")
}

// formula is a bound without its explanations, which are for the algorithm's own page.
func formula(b *election.Bound) string {
	text, _, _ := strings.Cut(b.Formula, ", ")
	text, _, _ = strings.Cut(text, "; ")
	return text
}

// winner returns which process an algorithm elects, in a word or two.
func winner(d *election.Declaration) string {
	return strings.TrimSuffix(strings.TrimPrefix(d.Winner.String(), "the "), " identifier")
}

// model is the network that an algorithm is made for.
func model(d *election.Declaration) string {
	words := []string{d.Timing.String()}
	switch {
	case d.OneWay:
		words = append(words, "one-directional")
	case d.Unoriented:
		words = append(words, "unoriented")
	}
	return strings.Join(append(words, d.Topology.Phrase(0)), " ")
}

// Algorithm is the page of one algorithm.
type Algorithm struct {
	*catalogue.Entry
	Sequence []*big.Int // that its parameters stand for; nil if there is none
}

// JSON returns the declaration for programs.
func (a Algorithm) JSON() any {
	d := declaration(a.Entry)
	if a.Sequence != nil {
		d = append(d, Field{"sequence", a.Sequence})
	}
	return Object{{"algorithms", []Object{d}}}
}

// Text prints all about the algorithm for people.
func (a Algorithm) Text(p *Printer) error {
	paint, d := p.Paint(), a.Declaration
	fmt.Fprint(p.Out, paint.Text(Bold, d.Title))
	if d.Year != 0 {
		fmt.Fprintf(p.Out, " (%d)", d.Year)
	}
	fmt.Fprintln(p.Out)
	if d.About != "" {
		fmt.Fprintln(p.Out, Wrap(d.About, p.ProseWidth()))
	}
	fmt.Fprintln(p.Out)
	w := tabwriter.NewWriter(p.Out, 0, 0, 3, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(w, "  %s\t%s\n", name, text) }
	if a.Aliases != nil {
		row("aliases", strings.Join(a.Aliases, ", "))
	}
	row("source", d.Source)
	row("network", model(d))
	row("identifiers", d.Identifiers.Phrase())
	row("links", Needed(d.FIFO, "requires FIFO links", "need not be FIFO"))
	row("initiators", d.Starts.Phrase())
	row("counts", d.Counts.Phrase())
	row("task", d.Task.String()+"; decides: "+d.Decides.String()+"; winner: "+d.Winner.String())
	row("tolerates", survives(d.Survives))
	if family := a.Forms(); family != nil {
		row("forms", strings.Join(family, ", ")+Needed(a.Name == family[0], "; --topology selects one", ""))
	}
	for _, k := range d.Kinds {
		row("message", k.Name+" ("+k.Class.String()+")")
	}
	for _, t := range d.Timers {
		row("timer", t)
	}
	for i := range d.Bounds {
		b := &d.Bounds[i]
		row(b.Case.String()+" case", claimed(b)+"\n  \t"+b.Source)
	}
	for _, parameter := range d.Parameters {
		switch p := parameter.(type) {
		case *election.Choice:
			row("--param "+p.Name, strings.Join(p.Words, "|")+"\n  \t"+p.About)
		case *election.Number:
			row("--param "+p.Name, "number, default "+p.Default+"\n  \t"+p.About)
		}
	}
	if a.Sequence != nil {
		for i, line := range strings.Split(Wrap(sequenceText(a.Sequence), p.ProseWidth()-20), "\n") {
			row(Needed(i == 0, "h_1, h_2, …", ""), line)
		}
	}
	if a.Count == nil {
		row("count", "no closed form")
	} else {
		row("count", "closed form: "+p.Name+" count "+d.Name)
	}
	return w.Flush()
}

// sequenceText returns a sequence as text, shortened if it is long, with the last number rounded.
func sequenceText(sequence []*big.Int) string {
	const many = 100
	words := make([]string, len(sequence))
	for i, number := range sequence {
		switch {
		case number == nil:
			words[i] = "more than 2^(2^17)"
		case number.BitLen() <= 128:
			words[i] = number.String()
		case int(number.TrailingZeroBits()) == number.BitLen()-1:
			words[i] = fmt.Sprintf("2^%d", number.BitLen()-1)
		default:
			mantissa, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(number), -number.BitLen()).Float64()
			words[i] = fmt.Sprintf("about 2^%.1f", float64(number.BitLen())+math.Log2(mantissa))
		}
	}
	if more := len(words) - many; more > 1 {
		words = append(words[:many-1], fmt.Sprintf("… (%d more)", more), words[len(words)-1])
	}
	return strings.Join(words, ", ")
}

// Wrap breaks a text into lines of at most width letters where words allow it.
func Wrap(text string, width int) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		gap := " "
		for _, part := range parts(word, width) {
			length := utf8.RuneCountInString(part)
			switch {
			case column == 0:
			case column+len(gap)+length > width:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteString(gap)
				column += len(gap)
			}
			b.WriteString(part)
			column += length
			gap = ""
		}
	}
	return b.String()
}

// parts returns a word as it may be broken: one that is too long has a break after each comma.
func parts(word string, width int) []string {
	if utf8.RuneCountInString(word) <= width {
		return []string{word}
	}
	return strings.SplitAfter(word, ",")
}

// Needed returns the word for what is needed, or the other one.
func Needed(yes bool, word, other string) string {
	if yes {
		return word
	}
	return other
}

func survives(f election.Faults) string {
	var words []string
	if f&election.Crash != 0 {
		words = append(words, "crashes")
	}
	if f&election.Recovery != 0 {
		words = append(words, "recoveries")
	}
	if f&election.Partition != 0 {
		words = append(words, "partitions")
	}
	switch {
	case words == nil:
		return "no faults"
	case f&(election.Crash|election.Recovery) == election.Recovery:
		words[0] = "crashes of processes that recover"
	}
	return strings.Join(words, ", ")
}

// claimed returns a bound in words.
func claimed(b *election.Bound) string {
	if b.Of == "time" {
		return b.Formula + " units of time"
	}
	return b.Formula + " " + b.Of + " messages"
}

// boundJSON returns a bound for programs.
func boundJSON(b *election.Bound) Object {
	return Object{{"of", b.Of}, {"case", b.Case.String()}, {"one_start", b.OneStart}, {"formula", b.Formula}, {"source", b.Source}}
}

// declaration is an algorithm's declaration as JSON.
func declaration(e *catalogue.Entry) Object {
	d := e.Declaration
	var kinds, bounds, parameters []Object
	for _, k := range d.Kinds {
		kinds = append(kinds, Object{{"name", k.Name}, {"class", k.Class.String()}})
	}
	for i := range d.Bounds {
		bounds = append(bounds, boundJSON(&d.Bounds[i]))
	}
	for _, p := range d.Parameters {
		switch p := p.(type) {
		case *election.Choice:
			parameters = append(parameters, Object{
				{"name", p.Name}, {"about", p.About}, {"choices", p.Words}, {"default", p.Words[0]},
			})
		case *election.Number:
			parameters = append(parameters, Object{
				{"name", p.Name}, {"about", p.About}, {"whole", p.Whole}, {"least", p.Least}, {"above", p.Above}, {"default", p.Default},
			})
		}
	}
	return Object{
		{"name", d.Name},
		{"aliases", e.Aliases},
		{"title", d.Title},
		{"year", d.Year},
		{"source", d.Source},
		{"about", d.About},
		{"topology", d.Topology.String()},
		{"one_way", d.OneWay},
		{"unoriented", d.Unoriented},
		{"timing", d.Timing.String()},
		{"identifiers", d.Identifiers.String()},
		{"knows_size", d.KnowsSize},
		{"votes", d.Votes},
		{"fifo", d.FIFO},
		{"starts", d.Starts.String()},
		{"counts", d.Counts.String()},
		{"task", d.Task.String()},
		{"decides", d.Decides.String()},
		{"winner", d.Winner.String()},
		{"survives", survives(d.Survives)},
		{"kinds", kinds},
		{"timers", d.Timers},
		{"parameters", parameters},
		{"bounds", bounds},
		{"count", e.Count != nil},
		{"forms", e.Forms()},
	}
}
