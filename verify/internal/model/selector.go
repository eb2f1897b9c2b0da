package model

// EventSelector lets a walk make one of the events that may come next, without the others. The events are visited twice: to count
// them, and to make the chosen one. All that has been counted comes again, in the same order.
type EventSelector struct {
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
	Counting selection = iota // it makes none
	Choosing                  // it makes the chosen one
	Locating                  // it makes all, to find out which transitions are those of the chosen one
)

// The kinds of event.
const (
	Ordinary = iota
	Faulty
)

// selects notes an event that may come next, and reports whether it is to be made.
func (c *Checker) selects(of Class) bool { return c.selector == nil || c.selector.selects(of) }

func (p *EventSelector) selects(of Class) bool {
	kind := Ordinary
	if of == ByFault {
		kind = Faulty
	}
	p.Due = p.Due || of == Due
	p.Current = kind == p.Kind && p.Met[kind] == p.Index
	p.Met[kind]++
	return p.mode == Locating || p.mode == Choosing && p.Current
}

// Visit visits the events of a configuration in a mode.
func (p *EventSelector) Visit(c *Checker, conf Configuration, mode selection, visit Visitor) {
	p.mode, p.Met, p.Due = mode, [2]int{}, false
	c.selector = p
	c.Transitions(conf, visit)
	c.selector = nil
}
