package verify

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"ringleader.example/ringleader/election"
)

// finding is a breach and the path to it.
type finding struct {
	breach
	root  int   // the index of the beginning
	path  []int // the index of the transition at each configuration
	round int   // how many of the last transitions can repeat for ever
}

// explore visits all configurations, breadth first, and stops at the first level with a violation. If fewer is not
// negative, it searches only for violations after fewer transitions than that.
func (c *checker) explore(report *Report, fewer int) *finding {
	x := &explorer{checker: c, report: report, visited: map[xxh3.Uint128]uint32{}}
	for _, conf := range c.beginnings() {
		x.reach(conf)
	}
	c.graph.roots = len(x.visited)
	for depth := 0; len(x.following) > 0 && x.found == nil && report.Complete; depth++ {
		if fewer >= 0 && depth >= fewer {
			return nil
		}
		report.Depth = max(report.Depth, depth)
		x.level(depth)
	}
	if x.found != nil && fewer >= 0 && len(x.found.path) >= fewer {
		return nil
	}
	return x.found
}

type explorer struct {
	*checker
	report    *Report
	visited   map[xxh3.Uint128]uint32 // by fingerprint: a collision would lose a state
	bytes     []byte
	frontier  []uint32 // consecutive configurations
	following []uint32
	found     *finding
}

// level explores all configurations of the last level.
func (x *explorer) level(depth int) {
	x.frontier, x.following = x.following, x.frontier[:0]
	size := len(x.base)
	for at := 0; at < len(x.frontier) && x.report.Complete; at += size {
		x.expand(configuration(x.frontier[at:at+size]), depth)
		if len(x.graph.first)%chunk == 0 && x.o.Progress != nil &&
			!x.o.Progress(x.report.States, (len(x.frontier)-at+len(x.following))/size) {
			x.report.Complete = false
		}
	}
}

// expand makes all transitions of one configuration.
func (x *explorer) expand(conf configuration, depth int) {
	state, ends, ordinal := uint32(len(x.graph.first)), true, 0
	x.graph.open()
	x.transitions(conf, func(t *transition, next configuration) {
		ends = ends && t.class != due
		x.report.Transitions++
		if t.breach != nil {
			x.violated(t.breach, state, depth+1, ordinal)
		} else if to, ok := x.reach(next); ok {
			e := edge{to: to, class: t.class}
			if t.outcome != nil {
				e.cost = t.outcome.cost
			}
			x.graph.add(e)
			if !x.o.SafetyOnly {
				x.graph.act(x.action(t, conf))
			}
		}
		ordinal++
	})
	if ends {
		x.report.Finals++
	}
	service := x.d.Task != election.Once // may end in a cycle
	if x.o.SafetyOnly || !ends && !service {
		return
	}
	f := x.settled(conf)
	if service {
		x.graph.settled = append(x.graph.settled, f == nil)
	}
	if ends && f != nil {
		x.violated(f, state, depth)
	}
}

// violated keeps a violation if no shorter path to one is known: the path to a state, and one more transition if any.
func (x *explorer) violated(f *breach, state uint32, length int, last ...int) {
	if x.found == nil || length < len(x.found.path) {
		x.found = &finding{breach: *f}
		x.found.root, x.found.path = x.graph.way(state)
		x.found.path = append(x.found.path, last...)
	}
}

// reach returns the number of a configuration's state. It reports false if there is no room for one more.
func (x *explorer) reach(conf configuration) (state uint32, ok bool) {
	x.bytes = x.bytes[:0]
	for _, part := range conf {
		x.bytes = binary.LittleEndian.AppendUint32(x.bytes, part)
	}
	fingerprint := xxh3.Hash128(x.bytes)
	if state, found := x.visited[fingerprint]; found {
		return state, true
	}
	if len(x.visited) == x.o.MaxStates {
		x.report.Complete = false
		return 0, false
	}
	x.report.States++
	state = uint32(len(x.visited))
	x.visited[fingerprint] = state
	x.following = append(x.following, conf...)
	return state, true
}
