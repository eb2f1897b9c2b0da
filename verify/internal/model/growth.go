package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// looks is the number of states of a process, from an early one to its last, in which a field that grows without end is larger each time.
const looks = 16

// leastGrown is the smallest number of states of a process in which a field is said to grow.
const leastGrown = 1000

// Growing names a field of some process that seems to grow without end, with its values; empty if none does.
func (c *Checker) Growing() string {
	states := make([][]uint32, c.N)
	for number := range c.Processes.Values {
		q := c.Processes.Values[number].Position
		states[q] = append(states[q], uint32(number))
	}
	for q, numbers := range states {
		if len(numbers) < leastGrown {
			continue
		}
		first, last := map[string]uint64{}, map[string]uint64{}
		for look := 1; look <= looks; look++ { // a text leaves out fields that are 0, as at the beginning
			now := fieldsOf(c.Values.StateText(c.Processes.Values[numbers[look*(len(numbers)-1)/looks]].State))
			if look == 1 {
				first, last = maps.Clone(now), now
				continue
			}
			for _, field := range slices.Sorted(maps.Keys(first)) {
				if is, found := now[field]; !found || is <= last[field] {
					delete(first, field)
				}
			}
			last = now
		}
		if grown := slices.Sorted(maps.Keys(first)); len(grown) > 0 {
			field := grown[0]
			return fmt.Sprintf("%s of %s, from %d to %d", field, c.Network.Name(q), first[field], last[field])
		}
	}
	return ""
}

// fieldsOf returns the fields of a state that are natural numbers, from its text.
func fieldsOf(text string) map[string]uint64 {
	fields := map[string]uint64{}
	for part := range strings.SplitSeq(text, ", ") {
		name, value, _ := strings.Cut(part, " ")
		if number, err := strconv.ParseUint(value, 10, 64); err == nil {
			fields[name] = number
		}
	}
	return fields
}
