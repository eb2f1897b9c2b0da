package plot

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// SVG writes the chart as SVG. It follows the viewer's preference for light or dark, and needs nothing from outside.
func (c *Chart) SVG(w io.Writer) error {
	d, err := c.layOut()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title description" width="%s" height="%s" viewBox="0 0 %[1]s %[2]s">`+"\n",
		length(d.width), length(d.height))
	fmt.Fprintf(out, "<title id=\"title\">%s</title>\n<desc id=\"description\">%s</desc>\n", escaped(c.Title), escaped(c.Subtitle+" "+c.Notes))
	fmt.Fprintf(out, "<style>\n%s</style>\n", style())
	fmt.Fprintf(out, `<rect class="paper" width="%s" height="%s"/>`+"\n", length(d.width), length(d.height))
	for _, e := range d.elements {
		e.svg(out)
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// style gives the classes their colours: those of dark paper where that is preferred.
func style() string {
	var b strings.Builder
	b.WriteString("text { font: 13px system-ui, \"Helvetica Neue\", Arial, \"DejaVu Sans\", sans-serif; font-variant-numeric: tabular-nums }\n" +
		".line { fill: none; stroke-linejoin: round }\n.halo { paint-order: stroke; stroke-width: 4px; stroke-linejoin: round }\n")
	rules := func(of func(colours) string) {
		paper := of(classes[0].colours)
		for _, c := range classes {
			fmt.Fprintf(&b, ".%s { fill: %s; stroke: none }\n.line.%[1]s { fill: none; stroke: %[2]s }\n", c.name, of(c.colours))
		}
		for i, c := range looks {
			fmt.Fprintf(&b, ".%s { fill: %s; stroke: %s }\n.line.%[1]s { fill: none; stroke: %[2]s }\n", look(i), of(c), paper)
		}
		fmt.Fprintf(&b, ".halo { stroke: %s }\n", paper)
	}
	rules(func(c colours) string { return c.light })
	b.WriteString("@media (prefers-color-scheme: dark) {\n")
	rules(func(c colours) string { return c.dark })
	b.WriteString("}\n")
	return b.String()
}

func (e *element) svg(out io.Writer) {
	if e.text != "" {
		class, more := e.class, ""
		if e.halo {
			class += " halo"
		}
		if e.size != normal || e.bold {
			more = fmt.Sprintf(` style="font-size: %spx`, length(e.size))
			if e.bold {
				more += "; font-weight: 600"
			}
			more += `"`
		}
		if e.anchor > 0 {
			more += fmt.Sprintf(` text-anchor="%s"`, map[float64]string{0.5: "middle", 1: "end"}[e.anchor])
		}
		fmt.Fprintf(out, "<text class=\"%s\" x=\"%s\" y=\"%s\"%s>%s</text>\n", class, length(e.points[0].x), length(e.points[0].y), more, escaped(e.text))
		return
	}
	var path strings.Builder
	for i, p := range e.points {
		fmt.Fprintf(&path, "%s%s %s", map[bool]string{true: "M", false: "L"}[i == 0], length(p.x), length(p.y))
	}
	if e.filled {
		fmt.Fprintf(out, "<path class=\"%s\" d=\"%sZ\"/>\n", e.class, path.String())
		return
	}
	more := ""
	if e.dashes != nil {
		var parts []string
		for _, dash := range e.dashes {
			parts = append(parts, length(dash))
		}
		more += fmt.Sprintf(` stroke-dasharray="%s"`, strings.Join(parts, " "))
	}
	if e.faint != 0 {
		more += fmt.Sprintf(` opacity="%s"`, length(e.faint))
	}
	fmt.Fprintf(out, "<path class=\"line %s\" stroke-width=\"%s\"%s d=\"%s\"/>\n", e.class, length(e.width), more, path.String())
}

// length is rounded to hundredths.
func length(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100+0, 'f', -1, 64) // + 0 makes 0 of -0
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
