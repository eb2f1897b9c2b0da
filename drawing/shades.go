package drawing

import (
	"strconv"
	"strings"

	"ringleader.example/ringleader/trace"
)

// shade is a fault that lasts.
type shade struct {
	text     string
	line     int // of its process; -1: a fault of links
	from, to int // as of a stretch
	level    int // of its name
}

// shade begins or ends a lasting fault. A fault of links belongs to no process's line.
func (d *diagram) shade(step int) {
	s := &d.r.Steps[step]
	switch line := s.Process; s.Event {
	case trace.Fault:
		if strings.HasPrefix(s.Text, "partition ") || strings.HasPrefix(s.Text, "cut ") {
			line = -1
		}
		d.shades = append(d.shades, shade{text: s.Text, line: line, from: step, to: len(d.r.Steps)})
	case trace.Heal:
		for i := range d.shades {
			if open := &d.shades[i]; open.text == s.Text && open.to == len(d.r.Steps) {
				open.to = step
				return
			}
		}
	}
}

// nameShades gives each fault of links a level for its name, above those of others that it would touch.
func (d *diagram) nameShades() {
	var free []float64 // by level
	for i := range d.shades {
		s := &d.shades[i]
		if s.line >= 0 {
			continue
		}
		begin, width := d.nameOf(s)
		for s.level = 0; s.level < len(free) && free[s.level] > begin; s.level++ {
		}
		free = append(free, 0)
		free[s.level] = begin + width + 10
	}
}

// nameOf returns where the name of a shade begins, and its width.
func (d *diagram) nameOf(s *shade) (x, width float64) {
	width = TextWidth(s.name(), bold*Small)
	return max(d.left, min(d.at(s.from)+5, d.end+d.endWidth()-width)), width
}

// name returns the text of the fault, shortened: 1–4 is 1,2,3,4.
func (s *shade) name() string {
	const most = 60
	words := strings.Split(s.text, " ")
	for i, word := range words {
		words[i] = shortList(word)
	}
	name := strings.Join(words, " ")
	if short := []rune(name); len(short) > most {
		return string(short[:most-1]) + "…"
	}
	return name
}

// shortList writes three or more successive numbers of a list as the first and the last one.
func shortList(list string) string {
	var parts []string
	numbers := strings.Split(list, ",")
	for i := 0; i < len(numbers); {
		first, err := strconv.ParseUint(numbers[i], 10, 64)
		run := 1
		for err == nil && i+run < len(numbers) && numbers[i+run] == strconv.FormatUint(first+uint64(run), 10) {
			run++
		}
		if run < 3 {
			parts, i = append(parts, numbers[i]), i+1
			continue
		}
		parts, i = append(parts, numbers[i]+"–"+numbers[i+run-1]), i+run
	}
	return strings.Join(parts, ",")
}

// levels returns the number of rows of names above the lines.
func (d *diagram) levels() (levels int) {
	for i := range d.shades {
		if d.shades[i].line < 0 {
			levels = max(levels, d.shades[i].level+1)
		}
	}
	return levels
}

// drawShades shades the time of each lasting fault: over all lines for links, otherwise, on top of these, along the
// line of its process.
func (d *diagram) drawShades() {
	for _, ofLinks := range []bool{true, false} {
		for i := range d.shades {
			if s := &d.shades[i]; (s.line < 0) == ofLinks {
				d.drawShade(s)
			}
		}
	}
}

func (d *diagram) drawShade(s *shade) {
	top, bottom := d.top-16-float64(17*d.levels()), d.top+d.y(d.lines-1)+16
	e := Element{Role: "fault", Fill: shaded, About: s.text}
	if s.line >= 0 {
		reach := min(12, d.lineGap*0.4)
		top, bottom = d.top+d.y(s.line)-reach, d.top+d.y(s.line)+reach
		e.Role, e.Fill = "fault of-process", band
	}
	from, to := d.at(s.from), d.at(s.to)
	e.Path = Rectangle(from, top, to, bottom)
	d.Add(e)
	for _, x := range []float64{from, to} {
		d.Add(Element{Stroke: edge, Width: 1, Dashes: []float64{4, 3}, Path: Lines(At(x, top), At(x, bottom))})
	}
}

// drawFaultNames names faults of links above the lines, and those of processes above these if there is room.
func (d *diagram) drawFaultNames() {
	for i := range d.shades {
		s := &d.shades[i]
		x, _ := d.nameOf(s)
		y := d.top - 20 - float64(17*s.level)
		if s.line >= 0 {
			y = d.top + d.y(s.line) - 13
		}
		if s.line < 0 || d.lineGap >= 36 {
			d.text(Element{Role: "fault-name", Text: s.name(), Size: Small, Bold: true, Above: true, At: At(x, y)})
		}
	}
}
