package order

import "slices"

// Arrange turns a list in decreasing order into the one that follows after so many steps of [Next].
func Arrange(ids []uint64, steps uint64) {
	for rest := ids; len(rest) > 1; rest = rest[1:] {
		below := uint64(1) // orders of the others
		for k := 2; k < len(rest) && below <= steps; k++ {
			below *= uint64(k)
		}
		if below > steps {
			continue
		}
		place := steps / below
		id := rest[place]
		copy(rest[1:], rest[:place])
		rest[0] = id
		steps %= below
	}
}

// Next turns a list into the next one in decreasing order. It reports false after the last.
func Next(ids []uint64) bool {
	i := len(ids) - 2
	for i >= 0 && ids[i] < ids[i+1] {
		i--
	}
	if i < 0 {
		return false
	}
	j := len(ids) - 1
	for ids[j] > ids[i] {
		j--
	}
	ids[i], ids[j] = ids[j], ids[i]
	slices.Reverse(ids[i+1:])
	return true
}
