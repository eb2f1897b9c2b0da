package drawing

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ringleader.example/ringleader/trace"
)

// Network draws the topology with the identifiers of processes, and their roles at the end of the window. Processes
// of a ring and of a complete graph are on a circle, clockwise from the top, and those of a tree around its middle.
// The error wraps [ErrTooLarge] or [trace.ErrRecord].
func Network(r *trace.Record, window trace.Window) (*Drawing, error) {
	if err := drawable(r); err != nil {
		return nil, err
	}
	d := topology{diagram: &diagram{r: r, window: window, texts: r.Texts()}}
	d.first, d.past = window.Steps(r)
	d.follow()
	d.draw()
	return &d.Drawing, nil
}

// topology holds the places of processes.
type topology struct {
	*diagram
	middle Point
	places []Point
	radius float64 // of a process
	taken  []box   // by processes and names
}

const (
	networkReach = 290.0 // from the middle to the farthest processes
	largestNode  = 22.0
	namedNode    = 13.0 // smaller ones have their identifiers beside them
)

func (d *topology) draw() {
	d.layOut(d.subtitle(), d.legend(), func() float64 { return 0 })
	d.links()
	d.cast()
}

// layOut places the network below the head, the legend, and room for more, which may depend on the width.
func (d *topology) layOut(subtitle string, items []item, room func() float64) {
	reach := min(networkReach, 90+float64(20*d.r.N))
	d.Width = d.widthOf(2*(reach+d.side()), subtitle)
	d.head(d.r.Title, d.r.Title+": network", subtitle, d.description())
	rows := flow(items, d.Width-2*Margin)
	for _, item := range items {
		d.item(item, Margin+item.x, d.top+float64(24*item.row))
	}
	d.middle = At(d.Width/2, 0)
	if d.r.Topology == tree {
		d.placeTree(reach)
	} else {
		d.placeCircle(reach)
	}
	d.top += float64(24 * rows)
	d.Height = d.moveDown(d.top + room() + 30)
	d.radius = max(2.5, min(largestNode, 0.36*d.nearest()))
}

// side returns the room on each side of the circle of processes: more where a name is too long for its process, and stands beside it.
func (d *topology) side() float64 {
	side := 100.0
	for p := range d.r.N {
		if width := nameWidth(d.texts.Process(p)); width > 2*largestNode {
			side = max(side, largestNode+nameGap+width+Margin)
		}
	}
	return side
}

// cast draws the processes with their roles.
func (d *topology) cast() {
	for p := range d.r.N {
		d.process(p)
	}
	d.nameProcesses()
}

// moveDown moves the places so that the highest one is at top, and returns the height of the drawing.
func (d *topology) moveDown(top float64) (height float64) {
	byHeight := func(p, q Point) int { return cmp.Compare(p.Y, q.Y) }
	by := top - slices.MinFunc(d.places, byHeight).Y
	for p := range d.places {
		d.places[p].Y += by
	}
	d.middle.Y += by
	return slices.MaxFunc(d.places, byHeight).Y + 50
}

func (d *topology) subtitle() string {
	parts := []string{d.r.NetworkText(), d.leaders()}
	if text := d.window.Text(&d.r.Header); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, " · ")
}

// leaders names the leaders.
func (d *topology) leaders() string {
	var names []string
	for p := range d.r.N {
		if d.is(p) == "leader" {
			names = append(names, d.texts.Process(p))
		}
	}
	switch {
	case len(names) == 0:
		return "no leader"
	case len(names) == 1:
		return "leader " + names[0]
	case len(names) > 5:
		return fmt.Sprintf("%d leaders", len(names))
	}
	return "leaders " + trace.List(names)
}

// is returns the role of a process, as the name of a symbol.
func (d *topology) is(p int) string { return roleOf(d.final[p]) }

// roleOf returns a role in words as the name of a symbol.
func roleOf(final string) string {
	switch {
	case final == "crashed":
		return string(trace.Crash)
	case strings.HasPrefix(final, "leader"):
		return "leader"
	case strings.HasPrefix(final, "follower"):
		return "follower"
	}
	return "undecided"
}

func (d *topology) description() string {
	parts := make([]string, d.r.N)
	for p := range parts {
		parts[p] = d.texts.Process(p) + " " + d.final[p]
	}
	return d.r.Title + ", " + d.subtitle() + ". Processes: " + strings.Join(parts, "; ") + "."
}

// legend explains what occurs.
func (d *topology) legend() (items []item) {
	return roleItems(func(role string) bool {
		return slices.ContainsFunc(d.final, func(final string) bool { return roleOf(final) == role })
	})
}

// roleItems explains the roles that occur.
func roleItems(occurs func(role string) bool) (items []item) {
	for _, meaning := range [][2]string{{"leader", "leader"}, {"follower", "follower"}, {"undecided", "undecided"}, {string(trace.Crash), "crashed"}} {
		if occurs(meaning[0]) {
			items = append(items, item{text: meaning[1], kind: -1, symbol: meaning[0]})
		}
	}
	return items
}

func (d *topology) placeCircle(reach float64) {
	if d.r.N == 1 {
		reach = 0
	}
	for p := range d.r.N {
		d.places = append(d.places, d.middle.Polar(reach, -math.Pi/2+float64(2*math.Pi*float64(p)/float64(d.r.N))))
	}
}

// neighbours returns the neighbours of each process of a tree.
func (d *topology) neighbours() [][]int {
	neighbours := make([][]int, d.r.N)
	for _, e := range d.r.Edges {
		neighbours[e[0]], neighbours[e[1]] = append(neighbours[e[0]], e[1]), append(neighbours[e[1]], e[0])
	}
	return neighbours
}

// walk visits a tree breadth first from a root. It returns the order, and the predecessor of each process: the root
// itself for the root, and -1 for an unlinked process.
func walk(neighbours [][]int, root int) (order, from []int) {
	from = slices.Repeat([]int{-1}, len(neighbours))
	order, from[root] = []int{root}, root
	for i := 0; i < len(order); i++ {
		for _, q := range neighbours[order[i]] {
			if from[q] < 0 {
				from[q] = order[i]
				order = append(order, q)
			}
		}
	}
	return order, from
}

// placeTree places a tree's middle process in the middle, and the others around it: the distance is the number of
// links, and each branch has a sector in proportion to its leaves.
func (d *topology) placeTree(reach float64) {
	neighbours := d.neighbours()
	order, _ := walk(neighbours, 0)
	order, from := walk(neighbours, order[len(order)-1]) // from one end of a longest path to the other
	root := order[len(order)-1]
	depth := make([]int, d.r.N)
	for _, p := range order[1:] {
		depth[p] = depth[from[p]] + 1
	}
	for half := depth[root] / 2; depth[root] > half; {
		root = from[root]
	}
	order, from = walk(neighbours, root)
	leaves, farthest := make([]float64, d.r.N), 1
	for i := len(order) - 1; i >= 0; i-- {
		p := order[i]
		leaves[p] = max(1, leaves[p])
		if p != root {
			leaves[from[p]] += leaves[p]
		}
	}
	d.places = make([]Point, d.r.N)
	begin := make([]float64, d.r.N) // of a branch's sector, in leaves
	next := make([]float64, d.r.N)  // of the next branch's
	for _, p := range order {
		depth[p] = 0
		if p != root {
			depth[p] = depth[from[p]] + 1
			begin[p] = next[from[p]]
			next[from[p]] += leaves[p]
		}
		next[p], farthest = begin[p], max(farthest, depth[p])
	}
	for p := range d.places {
		angle := -math.Pi/2 + float64(2*math.Pi*(begin[p]+leaves[p]/2)/leaves[root])
		d.places[p] = d.middle.Polar(reach*float64(depth[p])/float64(farthest), angle)
	}
}

// nearest returns the least distance of two processes.
func (d *topology) nearest() float64 {
	least := math.Inf(1)
	for p, at := range d.places {
		for _, other := range d.places[:p] {
			least = min(least, math.Hypot(at.X-other.X, at.Y-other.Y))
		}
	}
	return least
}

func (d *topology) links() {
	e := Element{Role: "links", Stroke: grey, Width: 1.5}
	link := func(p, q int) { e.Path = append(e.Path, Lines(d.places[p], d.places[q])...) }
	switch d.r.Topology {
	case ring:
		for p := range d.r.N {
			link(p, (p+1)%d.r.N)
		}
	case tree:
		for _, edge := range d.r.Edges {
			link(edge[0], edge[1])
		}
	default:
		if d.r.N > 8 { // that many links are a background
			e.Stroke, e.Width = pale, max(0.2, 8/float64(d.r.N))
		}
		for p := range d.r.N {
			for q := range p {
				link(p, q)
			}
		}
	}
	if d.r.N > 1 {
		d.Add(e)
	}
}

// process draws a process with its role. A process without room for its identifier is a mark.
func (d *topology) process(p int) {
	is, place := d.is(p), d.places[p]
	about := d.texts.Process(p) + " " + d.final[p]
	d.taken = append(d.taken, around(place, 2*d.radius, 2*d.radius))
	if d.radius < namedNode {
		scale := d.radius / 4.5
		if is == "leader" {
			scale = max(0.9, scale)
		}
		d.Add(Element{Role: is, Symbol: is, At: place, Scale: min(1.2, scale), About: about})
		return
	}
	e := Element{Role: is, Fill: Paper, Stroke: Ink, Width: 1.6, Path: Circle(place, d.radius), About: about}
	badge := At(place.X+float64(0.85*d.radius), place.Y-float64(d.radius)) // clear of the identifier
	switch is {
	case "leader":
		e.Fill, e.Width = yellow, 4
		d.Add(e)
		d.Add(Element{Symbol: is, At: badge, Scale: d.radius / largestNode})
	case string(trace.Crash):
		e.Stroke, e.Dashes = grey, []float64{2, 4}
		d.Add(e)
		d.Add(Element{Symbol: is, At: badge, Scale: d.radius / largestNode})
	case "undecided":
		e.Path = Rectangle(place.X-d.radius, place.Y-d.radius, place.X+d.radius, place.Y+d.radius)
		d.Add(e)
	default:
		d.Add(e)
	}
}

// nameProcesses writes identifiers: into processes with room, and otherwise into free places beside them. Leaders
// come first.
func (d *topology) nameProcesses() {
	var leaders, others []int
	for p := range d.r.N {
		if d.is(p) == "leader" {
			leaders = append(leaders, p)
		} else {
			others = append(others, p)
		}
	}
	for _, p := range append(leaders, others...) {
		e := Element{Role: "name", Text: d.texts.Process(p), Bold: true, Anchor: 0.5, Size: Small}
		width := nameWidth(e.Text)
		if d.radius >= namedNode && width <= 2*d.radius {
			e.At = At(d.places[p].X, d.places[p].Y+4)
			if d.is(p) == "leader" {
				e.Fill = onYellow
			}
			d.text(e)
		} else if middle, found := d.beside(p, width); found {
			e.At, e.Above = At(middle.X, middle.Y+4), true
			d.text(e)
		}
	}
}

// nameGap is between a process and the name beside it.
const nameGap = 6

// nameWidth returns the width of the place for a name.
func nameWidth(name string) float64 { return TextWidth(name, bold*Small) + 4 }

// beside returns the middle of a place for a name of that width next to a process: outwards or, in a tree, elsewhere
// if that is taken.
func (d *topology) beside(p int, width float64) (middle Point, found bool) {
	outwards := math.Atan2(d.places[p].Y-d.middle.Y, d.places[p].X-d.middle.X)
	angles := []float64{outwards}
	if d.r.Topology == tree {
		angles = append(angles, outwards+0.7, outwards-0.7, math.Pi/2, -math.Pi/2, 0, math.Pi)
	}
	for _, angle := range angles {
		edge := d.places[p].Polar(d.radius+nameGap, angle)
		middle = At(edge.X+float64(width/2*math.Cos(angle)), edge.Y+float64(Small/2*math.Sin(angle)))
		b := around(middle, width, Small)
		if !slices.ContainsFunc(d.taken, b.overlaps) {
			d.taken = append(d.taken, b)
			return middle, true
		}
	}
	return middle, false
}
