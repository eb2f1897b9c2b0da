package verify

// picker lets a walk make one of the events that may come next, without the others. The events are visited twice: to count
// them, and to make the chosen one. All that has been counted comes again, in the same order.
type picker struct {
	mode    picking
	met     [2]int // events so far: faults, and others
	of      [2]int // events that were counted
	due     bool   // an event must come
	kind    int    // of the chosen event
	index   int    // of it, among those of its kind
	current bool   // the event that is being made is the chosen one
}

// picking is what a picker does with the events.
type picking uint8

const (
	counting picking = iota // it makes none
	choosing                // it makes the chosen one
	locating                // it makes all, to find out which transitions are those of the chosen one
)

// The kinds of event.
const (
	ordinary = iota
	faulty
)

// picks notes an event that may come next, and reports whether it is to be made.
func (c *checker) picks(of class) bool { return c.picker == nil || c.picker.picks(of) }

func (p *picker) picks(of class) bool {
	kind := ordinary
	if of == byFault {
		kind = faulty
	}
	p.due = p.due || of == due
	p.current = kind == p.kind && p.met[kind] == p.index
	p.met[kind]++
	return p.mode == locating || p.mode == choosing && p.current
}

// visit visits the events of a configuration in a mode.
func (p *picker) visit(c *checker, conf configuration, mode picking, visit visitor) {
	p.mode, p.met, p.due = mode, [2]int{}, false
	c.picker = p
	c.transitions(conf, visit)
	c.picker = nil
}
