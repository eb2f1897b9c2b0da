package fence_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"ringleader.example/ringleader/fence"
)

// A leader that was replaced writes once more, and is refused.
func Example() {
	var (
		guard fence.Guard
		value string
	)
	write := func(term uint64, text string) {
		err := guard.Do(term, func() error { value = text; return nil })
		fmt.Printf("%q in term %d: %v\n", text, term, err)
	}
	write(1, "by the first leader")
	write(4, "by the second leader")
	write(1, "by the first one again")
	fmt.Println(value)
	// Output:
	// "by the first leader" in term 1: <nil>
	// "by the second leader" in term 4: <nil>
	// "by the first one again" in term 1: a leader of a later term has written already: term 4, and this is term 1
	// by the second leader
}

func TestTermsOfWritesNeverDecrease(t *testing.T) {
	guard := fence.New(5)
	if err := guard.Do(4, func() error { t.Error("it writes in a term below the first"); return nil }); !errors.Is(err, fence.ErrStale) {
		t.Error(err)
	}
	var (
		wait  sync.WaitGroup
		terms []uint64 // only written within the guard
	)
	for term := range uint64(100) {
		wait.Go(func() {
			guard.Do(term, func() error { terms = append(terms, term); return nil })
		})
	}
	wait.Wait()
	if !slices.IsSorted(terms) || !slices.Contains(terms, 99) || guard.Highest() != 99 {
		t.Errorf("it wrote in terms %v; the highest is %d", terms, guard.Highest())
	}
}

func TestTheErrorOfAWriteIsReturnedAndItsTermCounts(t *testing.T) {
	var guard fence.Guard
	broken := errors.New("broken")
	if err := guard.Do(7, func() error { return broken }); !errors.Is(err, broken) || guard.Highest() != 7 {
		t.Errorf("%v, and the highest is %d", err, guard.Highest())
	}
	if err := guard.Do(7, func() error { return nil }); err != nil {
		t.Errorf("a second write in one term: %v", err)
	}
}
