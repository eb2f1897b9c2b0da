package drawing

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// SVG writes the drawing as SVG. It follows the viewer's preference for light or dark paper, and has no external
// references.
func (s *Drawing) SVG(w io.Writer) error {
	out := svg{bufio.NewWriter(w)}
	width, height := number(s.Width), number(s.Height)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title description" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s">`+"\n", width, height)
	fmt.Fprintf(out, "<title id=\"title\">%s</title>\n<desc id=\"description\">%s</desc>\n", escaped(s.Title), escaped(s.Description))
	out.style(s)
	out.symbols(s)
	fmt.Fprintf(out, `<rect class="fill-paper" width="%s" height="%s"/>`+"\n", width, height)
	for i := range s.Elements {
		if paper := s.Elements[i].paper(); paper != nil {
			out.element(paper)
		}
		out.element(&s.Elements[i])
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

type svg struct{ *bufio.Writer }

// style gives colours to classes: those of dark paper if that is preferred. The rules have no variables, which not
// every viewer of SVG supports.
func (out svg) style(s *Drawing) {
	var colours []Colour
	note := func(c Colour) {
		if c.Name != "" && !slices.Contains(colours, c) {
			colours = append(colours, c)
		}
	}
	note(Paper)
	for e := range s.Plain() {
		note(e.Fill)
		note(e.Stroke)
	}
	fmt.Fprintf(out, "<style>\ntext { font: %spx system-ui, \"Helvetica Neue\", Arial, \"DejaVu Sans\", sans-serif; font-variant-numeric: tabular-nums }\n", number(Normal))
	fmt.Fprintf(out, ".small { font-size: %spx }\n.large { font-size: %spx }\n.bold { font-weight: 600 }\n.middle { text-anchor: middle }\n.right { text-anchor: end }\n", number(Small), number(Large))
	fmt.Fprint(out, "path { fill: none; stroke-linejoin: round }\n")
	rules := func(of func(Colour) string) {
		for _, c := range colours {
			fmt.Fprintf(out, ".fill-%s { fill: %s }\n.line-%[1]s { stroke: %[2]s }\n", c.Name, of(c))
		}
	}
	rules(func(c Colour) string { return c.Light })
	fmt.Fprintln(out, "@media (prefers-color-scheme: dark) {")
	rules(func(c Colour) string { return c.Dark })
	fmt.Fprintln(out, "}\n</style>")
}

// symbols defines the used symbols, once as a symbol and once as a head.
func (out svg) symbols(s *Drawing) {
	const reach = 16 // the extent of a head in each direction
	var placed, heads []string
	for i := range s.Elements {
		placed, heads = append(placed, s.Elements[i].Symbol), append(heads, s.Elements[i].Head)
	}
	fmt.Fprintln(out, "<defs>")
	for _, symbol := range s.Symbols {
		if slices.Contains(placed, symbol.Name) {
			fmt.Fprintf(out, "<g id=\"%s\">\n", symbol.Name)
			out.shape(symbol)
			fmt.Fprintln(out, "</g>")
		}
		if slices.Contains(heads, symbol.Name) {
			fmt.Fprintf(out, `<marker id="%s-head" viewBox="%d %[2]d %d %[3]d" markerWidth="%[3]d" markerHeight="%[3]d" markerUnits="userSpaceOnUse" orient="auto">`+"\n",
				symbol.Name, -reach, 2*reach)
			out.shape(symbol)
			fmt.Fprintln(out, "</marker>")
		}
	}
	fmt.Fprintln(out, "</defs>")
}

func (out svg) shape(symbol Symbol) {
	for i := range symbol.Shape {
		out.element(&symbol.Shape[i])
	}
}

func (out svg) element(e *Element) {
	name, classes, inside := "path", []string{}, ""
	if e.Role != "" {
		classes = append(classes, e.Role)
	}
	var attributes strings.Builder
	switch {
	case e.Text != "":
		name, inside = "text", escaped(e.Text)
		classes = append(classes, e.textClasses()...)
		fmt.Fprintf(&attributes, ` x="%s" y="%s"`, number(e.At.X), number(e.At.Y))
	case e.Symbol != "":
		name = "use"
		fmt.Fprintf(&attributes, ` href="#%s"`, e.Symbol)
		if e.scale() == 1 {
			fmt.Fprintf(&attributes, ` x="%s" y="%s"`, number(e.At.X), number(e.At.Y))
		} else {
			fmt.Fprintf(&attributes, ` transform="translate(%s %s) scale(%s)"`, number(e.At.X), number(e.At.Y), number(e.Scale))
		}
	default:
		attributes.WriteString(e.stroke())
		fmt.Fprintf(&attributes, ` d="%s"`, data(e.Path))
	}
	if e.Fill.Name != "" {
		classes = append(classes, "fill-"+e.Fill.Name)
	}
	if e.Stroke.Name != "" {
		classes = append(classes, "line-"+e.Stroke.Name)
	}
	if e.Faint != 0 {
		fmt.Fprintf(&attributes, ` opacity="%s"`, number(e.Faint))
	}
	if e.About != "" {
		inside = "<title>" + escaped(e.About) + "</title>" + inside
	}
	fmt.Fprintf(out, "<%s", name)
	if len(classes) > 0 {
		fmt.Fprintf(out, ` class="%s"`, strings.Join(classes, " "))
	}
	if inside == "" {
		fmt.Fprintf(out, "%s/>\n", attributes.String())
	} else {
		fmt.Fprintf(out, "%s>%s</%s>\n", attributes.String(), inside, name)
	}
}

func (e *Element) textClasses() (classes []string) {
	for _, class := range []struct {
		name string
		is   bool
	}{
		{"small", e.Size == Small},
		{"large", e.Size == Large},
		{"bold", e.Bold},
		{"middle", e.Anchor == 0.5},
		{"right", e.Anchor == 1},
	} {
		if class.is {
			classes = append(classes, class.name)
		}
	}
	return classes
}

// stroke returns the attributes of a path, except colours.
func (e *Element) stroke() string {
	var b strings.Builder
	if e.Stroke.Name != "" && e.Width != 1 {
		fmt.Fprintf(&b, ` stroke-width="%s"`, number(e.Width))
	}
	if e.Dashes != nil {
		var parts []string
		for _, dash := range e.Dashes {
			parts = append(parts, number(dash))
		}
		fmt.Fprintf(&b, ` stroke-dasharray="%s"`, strings.Join(parts, " "))
	}
	if e.Head != "" {
		fmt.Fprintf(&b, ` marker-end="url(#%s-head)"`, e.Head)
	}
	return b.String()
}

// data returns a path in SVG's syntax.
func data(path []Move) string {
	var b strings.Builder
	for _, m := range path {
		b.WriteByte(byte(m.Op))
		switch m.Op {
		case Curve:
			fmt.Fprintf(&b, "%s %s %s %s", number(m.Bend.X), number(m.Bend.Y), number(m.To.X), number(m.To.Y))
		case Start, Line:
			fmt.Fprintf(&b, "%s %s", number(m.To.X), number(m.To.Y))
		}
	}
	return b.String()
}

// number returns a length, rounded to hundredths.
func number(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64) // + 0 makes 0 of -0
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
