package electiontest

import (
	"fmt"
	"testing"
)

func TestRingsAreAllOrdersThatDiffer(t *testing.T) {
	factorial := 1
	for n := 1; n <= 6; n++ {
		factorial *= max(n-1, 1)
		seen := map[string]bool{}
		for ids := range Rings(n) {
			if ids[0] != uint64(n) {
				t.Errorf("%v does not begin with the largest", ids)
			}
			seen[fmt.Sprint(ids)] = true
		}
		if len(seen) != factorial {
			t.Errorf("n=%d: %d rings, want %d", n, len(seen), factorial)
		}
	}
}
