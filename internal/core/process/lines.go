package process

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"ringleader.example/ringleader/election"
)

// listing finds the lines of an algorithm that have the effects of steps. The trial of a checked step is made again for each effect,
// and ends there by a panic: the stack then names the lines. So steps that are not listed take no notice.
type listing struct {
	home   string                          // the package of the algorithm
	number func(file string, line int) int // see [Processes.List]
	lines  []int                           // of the last checked step
	known  map[stack][]int
}

// stack holds the last calls of an effect, the last one first. Algorithms do not nest deeper, and a longer one takes longer.
type stack [16]uintptr

// List lets each checked step be followed by its [Processes.Lines]. Number returns the number that a line of a file of the
// algorithm's package has for readers, by the file's name without its folder; 0 leaves it out. A step then takes as many times
// longer as it has effects.
func (ps *Processes) List(number func(file string, line int) int) {
	ps.checker.listing = &listing{home: ps.store.home(), number: number, known: map[stack][]int{}}
}

// Lines returns the lines of the algorithm at which the last checked step sent, set timers and decided, with the calls that led
// to them, in increasing order. A step that did none of it has the line where its function begins.
func (ps *Processes) Lines() []int {
	if l := ps.checker.listing; l != nil {
		return l.lines
	}
	return nil
}

// list finds the lines of the step of an event, which sends so many messages.
func (ps *Processes) list(slot, position int, e Event, now election.Ticks, messages int) {
	c := &ps.checker
	l := c.listing
	l.lines = l.lines[:0]
	ps.store.choices(c.repeat)
	for k := range messages {
		ps.halted(slot, position, e, now, k+1, 0)
	}
	for k := range c.other {
		ps.halted(slot, position, e, now, 0, k+1)
	}
	if f := runtime.FuncForPC(ps.store.function(e.What)); f != nil && messages+len(c.other) == 0 {
		file, line := f.FileLine(f.Entry())
		l.lines = l.add(l.lines, f.Name(), file, line)
	}
	slices.Sort(l.lines)
	l.lines = slices.Compact(l.lines)
}

// halted makes the trial of a step again up to an effect, and adds the lines that have it.
func (ps *Processes) halted(slot, position int, e Event, now election.Ticks, message, other int) {
	c := &ps.checker
	ps.Copy(c.slot, slot)
	c.next = 0
	ps.store.halt(message, other)
	defer func() {
		var calls stack
		depth := runtime.Callers(2, calls[:])
		fault := recover()
		if ps.store.halt(0, 0); fault == (election.Halt{}) {
			c.listing.effect(calls, depth)
		} // an impure step may panic otherwise; made again, it is blamed
	}()
	for _, m := range ps.Step(c.slot, position, e, now).Sent { // an impure step may end
		ps.Release(m.Message)
	}
}

// effect adds the lines of an effect.
func (l *listing) effect(calls stack, depth int) {
	lines, found := l.known[calls]
	if !found {
		frames := runtime.CallersFrames(calls[:depth])
		for more := true; more; {
			var frame runtime.Frame
			frame, more = frames.Next()
			lines = l.add(lines, frame.Function, frame.File, frame.Line)
		}
		l.known[calls] = lines
	}
	l.lines = append(l.lines, lines...)
}

// add adds a line of a function, if it is one of the package.
func (l *listing) add(lines []int, function, file string, line int) []int {
	if strings.HasPrefix(function, l.home+".") {
		if number := l.number(path.Base(file), line); number > 0 {
			return append(lines, number)
		}
	}
	return lines
}
