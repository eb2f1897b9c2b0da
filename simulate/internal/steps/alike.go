package steps

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
)

// Alike returns the classes of indistinguishable positions of a ring: the views out of port 0 are equal, and so are
// those out of port 1. The view out of a port, link by link, is a word of n letters, each the initial state of a
// process and the port that the word leaves it on; of twice as many letters, two words.
func (r *Core) Alike() (classes [][]int) {
	n := r.Instance.Size()
	newborn := map[string]int{}
	word, next := make([]int, 2*n), make([]int, 2*n) // by link, which is its first letter
	for link := range word {
		state := string(r.Processes.AppendState(nil, link/2, election.Ticks{}, codec.Whole))
		if _, known := newborn[state]; !known {
			newborn[state] = len(newborn)
		}
		word[link] = 2*newborn[state] + link%2
		p, port := r.Network.End(uint32(link))
		next[link] = 2*p + 1 - int(port)
	}
	for letters := 1; letters < n; letters *= 2 {
		numbers := map[[2]int]int{}
		longer, further := make([]int, 2*n), make([]int, 2*n)
		for link := range word {
			longer[link] = number(numbers, [2]int{word[link], word[next[link]]})
			further[link] = next[next[link]]
		}
		word, next = longer, further
	}
	numbers := map[[2]int]int{}
	for p := range n {
		k := number(numbers, [2]int{word[2*p], word[2*p+1]})
		if k == len(classes) {
			classes = append(classes, nil)
		}
		classes[k] = append(classes[k], p)
	}
	return classes
}

// number numbers pairs in the order in which they come.
func number(numbers map[[2]int]int, pair [2]int) int {
	if _, known := numbers[pair]; !known {
		numbers[pair] = len(numbers)
	}
	return numbers[pair]
}
