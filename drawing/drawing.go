package drawing

import (
	"iter"
	"math"
	"strings"
	"unicode/utf8"
)

// The sizes that drawings share. All lengths are pixels, to the right and downwards from the upper left
// corner. A page shows a drawing at about 830 pixels: a wider one is scaled down, with its text.
const (
	Wide   = 960.0 // the widest preferred drawing: on such a page its small text is 10 pixels high
	Margin = 24.0

	Small  = 12.0 // sizes of fonts
	Normal = 14.0
	Large  = 19.0
)

// Point is a place.
type Point struct{ X, Y float64 }

// At returns the place x to the right and y down.
func At(x, y float64) Point { return Point{x, y} }

// Sheet is a drawing.
type Drawing struct {
	Width, Height      float64
	Title, Description string // for readers who cannot see the drawing
	Symbols            []Symbol
	Elements           []Element // in the order of drawing
}

// Symbol is a shape that elements use by name; its own place is 0, 0.
type Symbol struct {
	Name  string
	Shape []Element // paths only
}

// Element is a path, a symbol or a text.
type Element struct {
	Role  string  // what it shows: the classes of an SVG's element
	About string  // its tooltip
	Faint float64 // its opacity; 0 is 1

	// Of a path, and of a text its colour.
	Path   []Move
	Fill   Colour
	Stroke Colour
	Width  float64 // of the stroke
	Dashes []float64
	Head   string // the symbol at its end, in the direction of the path

	// Of a symbol, and of a text its place.
	Symbol string
	At     Point
	Scale  float64 // 0 is 1
	turn   float64 // in radians, of a path's head

	// Of a text.
	Text   string
	Size   float64
	Bold   bool
	Anchor float64 // the part of the text that is before its place: 0, 0.5 or 1
	Above  bool    // the text lies on a piece of paper, so that no line shows through it
}

// Move is a part of a path.
type Move struct {
	Op   Op
	Bend Point // of a Curve
	To   Point // not of Close
}

// Op is a kind of part.
type Op byte

// The parts of paths.
const (
	Start Op = 'M' // of a new line
	Line  Op = 'L'
	Curve Op = 'Q' // quadratic
	Close Op = 'Z'
)

// Lines returns the path through all points.
func Lines(points ...Point) []Move {
	moves := make([]Move, len(points))
	for i, p := range points {
		moves[i] = Move{Op: Line, To: p}
		if i == 0 {
			moves[i].Op = Start
		}
	}
	return moves
}

// Area returns the closed path through all points.
func Area(points ...Point) []Move { return append(Lines(points...), Move{Op: Close}) }

// Rectangle returns the closed path around a rectangle.
func Rectangle(left, top, right, bottom float64) []Move {
	return Area(Point{left, top}, Point{right, top}, Point{right, bottom}, Point{left, bottom})
}

// Circle returns a closed path that looks like a circle, as a polygon.
func Circle(middle Point, radius float64) []Move { return Area(Polygon(middle, radius, 24, 0)...) }

// Polygon returns the corners of a regular polygon; turn is the angle of its first one in radians.
func Polygon(middle Point, radius float64, corners int, turn float64) (points []Point) {
	for k := range corners {
		points = append(points, middle.Polar(radius, turn+float64(2*math.Pi*float64(k)/float64(corners))))
	}
	return points
}

// Star returns the corners of a star with a tip at the top.
func Star(middle Point, outer, inner float64, tips int) (points []Point) {
	for k := range 2 * tips {
		radius := outer
		if k%2 == 1 {
			radius = inner
		}
		points = append(points, middle.Polar(radius, -math.Pi/2+float64(math.Pi*float64(k)/float64(tips))))
	}
	return points
}

// Polar returns the place at that distance and angle from p. Products are converted before an addition, which
// prevents fused operations: bytes are the same on every machine.
func (p Point) Polar(radius, angle float64) Point {
	return Point{p.X + float64(radius*math.Cos(angle)), p.Y + float64(radius*math.Sin(angle))}
}

// Add draws an element above all others.
func (s *Drawing) Add(e Element) { s.Elements = append(s.Elements, e) }

func (s *Drawing) symbol(name string) []Element {
	for i := range s.Symbols {
		if s.Symbols[i].Name == name {
			return s.Symbols[i].Shape
		}
	}
	panic("drawing: no symbol is called " + name)
}

// Plain yields all elements as paths and texts: each symbol is replaced by its shape, and a text has the paper below it.
func (s *Drawing) Plain() iter.Seq[*Element] {
	return func(yield func(*Element) bool) {
		for i := range s.Elements {
			e := &s.Elements[i]
			if paper := e.paper(); paper != nil && !yield(paper) {
				return
			}
			if e.Symbol == "" && !yield(e) {
				return
			}
			for _, placed := range []*Element{e, e.head()} {
				if placed == nil || placed.Symbol == "" {
					continue
				}
				for _, part := range s.symbol(placed.Symbol) {
					part.place(placed)
					if !yield(&part) {
						return
					}
				}
			}
		}
	}
}

// TextWidth returns the approximate width of a text in any viewer's font.
func TextWidth(text string, size float64) float64 {
	return math.Ceil(0.6 * size * float64(utf8.RuneCountInString(text)))
}

// paper returns the piece of paper that the text lies on, or nil.
func (e *Element) paper() *Element {
	if !e.Above {
		return nil
	}
	const edge = 1
	width := TextWidth(e.Text, e.Size)
	left := e.At.X - float64(e.Anchor*width) - edge
	return &Element{Role: "paper", Fill: Paper, Path: Rectangle(left, e.At.Y-float64(0.9*e.Size), left+width+2*edge, e.At.Y+float64(0.25*e.Size))}
}

// head returns the symbol at the end of the path, or nil.
func (e *Element) head() *Element {
	if e.Head == "" {
		return nil
	}
	end, before := e.Path[len(e.Path)-1], e.Path[len(e.Path)-2].To
	if end.Op == Curve {
		before = end.Bend
	}
	return &Element{Symbol: e.Head, At: end.To, Faint: e.Faint, turn: math.Atan2(end.To.Y-before.Y, end.To.X-before.X)}
}

// place moves a part of a symbol to the element's place.
func (e *Element) place(as *Element) {
	scale := as.scale()
	moved := func(p Point) Point {
		sin, cos := math.Sincos(as.turn)
		x, y := scale*p.X, scale*p.Y
		return Point{as.At.X + float64(x*cos) - float64(y*sin), as.At.Y + float64(x*sin) + float64(y*cos)}
	}
	path := make([]Move, len(e.Path))
	for i, m := range e.Path {
		path[i] = Move{m.Op, moved(m.Bend), moved(m.To)}
	}
	e.Path, e.Width, e.Faint = path, e.Width*scale, as.Faint
}

func (e *Element) scale() float64 {
	if e.Scale == 0 {
		return 1
	}
	return e.Scale
}

// Wrap breaks a text between words into lines of at most that width, if words allow it.
func Wrap(text string, width float64, of func(text string) float64) (lines []string) {
	for word := range strings.FieldsSeq(text) {
		if last := len(lines) - 1; last >= 0 && of(lines[last]+" "+word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
