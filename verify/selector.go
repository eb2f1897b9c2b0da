package verify

// eventSelector lets a walk make one of the events that may come next, without the others. The events are visited twice: to count
// them, and to make the chosen one. All that has been counted comes again, in the same order.
type eventSelector struct {
	mode    selection
	Met     [2]int // events so far: faults, and others
	Of      [2]int // events that were counted
	Due     bool   // an event must come
	Kind    int    // of the chosen event
	Index   int    // of it, among those of its kind
	Current bool   // the event that is being made is the chosen one
}

// selection is what a selector does with the events.
type selection uint8

const (
	counting selection = iota // it makes none
	choosing                  // it makes the chosen one
	locating                  // it makes all, to find out which transitions are those of the chosen one
)

// The kinds of event.
const (
	ordinary = iota
	faulty
)

// selects notes an event that may come next, and reports whether it is to be made.
func (c *checker) selects(of class) bool { return c.selector == nil || c.selector.selects(of) }

func (p *eventSelector) selects(of class) bool {
	kind := ordinary
	if of == byFault {
		kind = faulty
	}
	p.Due = p.Due || of == due
	p.Current = kind == p.Kind && p.Met[kind] == p.Index
	p.Met[kind]++
	return p.mode == locating || p.mode == choosing && p.Current
}

// Visit visits the events of a configuration in a mode.
func (p *eventSelector) Visit(c *checker, conf configuration, mode selection, visit visitor) {
	p.mode, p.Met, p.Due = mode, [2]int{}, false
	c.selector = p
	c.Transitions(conf, visit)
	c.selector = nil
}
