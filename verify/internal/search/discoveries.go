package search

import "slices"

// discoveries tell how each state was found first: by which transition of which state. As states are numbered in the
// order in which they are found, the states that one state found are consecutive, and two bytes a state are enough.
type discoveries struct {
	roots    int // states 0 … roots-1 are beginnings
	states   int // found so far, except the roots
	counts   column[uint8]
	ordinals column[uint8]
	many     map[int]int // counts and ordinals that are not below 255
	late     map[int]int
}

const large = 255

// open begins the discoveries of the next state.
func (d *discoveries) open() { d.counts.add(0) }

// add adds a state, found by a transition of the state that was opened last.
func (d *discoveries) add(ordinal int) {
	if ordinal >= large {
		if d.late == nil {
			d.late = map[int]int{}
		}
		d.late[d.ordinals.len] = ordinal
	}
	d.ordinals.add(uint8(min(ordinal, large)))
	last := d.counts.len - 1
	count := d.counts.at(last)
	if *count < large {
		*count++
	}
	if *count == large {
		if d.many == nil {
			d.many = map[int]int{}
		}
		d.many[last] = max(large, d.many[last]+1)
	}
	d.states++
}

func (d *discoveries) count(state int) int {
	if count := int(*d.counts.at(state)); count < large {
		return count
	}
	return d.many[state]
}

func (d *discoveries) ordinal(state int) int {
	if ordinal := int(*d.ordinals.at(state - d.roots)); ordinal < large {
		return ordinal
	}
	return d.late[state-d.roots]
}

// path returns the shortest path by which a state was found: its root, and the ordinal of the transition at each state.
func (d *discoveries) path(to uint32) (root int, path []int) {
	state, found := int(to), d.roots+d.states
	for from := d.counts.len - 1; state >= d.roots; from-- {
		found -= d.count(from)
		if state >= found {
			path = append(path, d.ordinal(state))
			state = from
		}
	}
	slices.Reverse(path)
	return state, path
}

// column is a long list. It grows without being copied.
type column[T any] struct {
	pages [][]T
	len   int
}

func (c *column[T]) add(value T) {
	if c.len%chunk == 0 {
		c.pages = append(c.pages, make([]T, 0, min(chunk, max(64, chunk*len(c.pages)))))
	}
	last := &c.pages[len(c.pages)-1]
	*last = append(*last, value)
	c.len++
}

func (c *column[T]) at(i int) *T { return &c.pages[i/chunk][i%chunk] }
