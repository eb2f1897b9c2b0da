// Package property tests properties of values that are drawn at random, and shows the smallest case against one that it finds.
package property

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/core/random"
)

const (
	cases      = 100  // that Check tests a property with
	mostTries  = 1000 // to find so many that are not skipped
	mostShrunk = 2000 // attempts to make a case smaller
)

// Check tests a property with 100 random cases, and with 10 of -short, which is for races: what is drawn changes none.
func Check(t *testing.T, property func(*T)) {
	t.Helper()
	if testing.Short() {
		CheckSome(t, cases/10, property)
		return
	}
	CheckSome(t, cases, property)
}

// CheckSome tests a property with so many random cases.
func CheckSome(t *testing.T, cases int, property func(*T)) {
	t.Helper()
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // it never fails
	source := random.New(binary.LittleEndian.Uint64(seed[:]), random.Inputs)
	for found, tries := 0, 0; found < cases; tries++ {
		if tries == mostTries {
			t.Fatalf("only %d cases of %d count", found, tries)
		}
		c := &T{source: source}
		switch c.test(property); {
		case c.failed:
			c = shrunk(property, c.choices)
			t.Fatalf("%s\n%s", strings.Join(c.drawn, "\n"), strings.Join(c.said, "\n"))
		case !c.skipped:
			found++
		}
	}
}

// shrunk returns a smaller case that fails, made from fewer and smaller choices.
func shrunk(property func(*T), choices []uint64) *T {
	attempts := 0
	fails := func(candidate []uint64) bool {
		attempts++
		c := &T{replayed: candidate}
		if c.test(property); !c.failed {
			return false
		}
		choices = c.choices
		return true
	}
	for smaller := true; smaller && attempts < mostShrunk; {
		smaller = false
		for length := 8; length > 0; length /= 2 {
			for i := 0; i+length <= len(choices) && attempts < mostShrunk; i++ {
				before := len(choices)
				if fails(slices.Delete(slices.Clone(choices), i, i+length)) && len(choices) < before {
					smaller = true
				}
			}
		}
		for i := 0; i < len(choices) && attempts < mostShrunk; i++ {
			for _, less := range []uint64{0, choices[i] / 2, choices[i] - 1} {
				if i < len(choices) && less < choices[i] {
					candidate := slices.Clone(choices)
					candidate[i] = less
					smaller = fails(candidate) || smaller
				}
			}
		}
	}
	c := &T{replayed: choices}
	c.test(property)
	return c
}

// TB is what helpers of tests need of a [T] or a [testing.T].
type TB interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Skip(args ...any)
}

// T is one case.
type T struct {
	source   *random.Source // nil: the choices are replayed
	replayed []uint64       // behind them, all are 0
	choices  []uint64       // those made
	nested   int            // how many generators draw
	drawn    []string
	said     []string
	failed   bool
	skipped  bool
}

// stop ends a case.
type stop struct{}

// test tests the property with this case.
func (t *T) test(property func(*T)) {
	defer func() {
		switch fault := recover().(type) {
		case nil, stop:
		default:
			t.Errorf("panic: %v\n%s", fault, debug.Stack())
		}
	}()
	property(t)
}

// Helper does nothing: a failure shows the case.
func (t *T) Helper() {}

// Error notes that the property does not hold.
func (t *T) Error(args ...any) { t.Errorf("%s", fmt.Sprintln(args...)) }

// Errorf is Error with a format.
func (t *T) Errorf(format string, args ...any) {
	t.failed = true
	t.said = append(t.said, fmt.Sprintf(format, args...))
}

// Fatal is Error, and ends the case.
func (t *T) Fatal(args ...any) {
	t.Error(args...)
	panic(stop{})
}

// Fatalf is Errorf, and ends the case.
func (t *T) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	panic(stop{})
}

// Skip discards a case that does not satisfy the precondition of the property. Check draws another one.
func (t *T) Skip(...any) {
	t.skipped = true
	panic(stop{})
}

// pick returns a number from 0 to most. Small numbers are more likely than others, and so are those near most.
func (t *T) pick(most uint64) (n uint64) {
	switch {
	case t.source == nil:
		if len(t.choices) < len(t.replayed) {
			n = min(t.replayed[len(t.choices)], most)
		}
	case most < 256:
		n = t.source.Below(most + 1)
	default:
		n = t.source.Uint64() >> t.source.Below(64)
		if most != 1<<64-1 {
			n %= most + 1
		}
		if t.source.Below(4) == 0 {
			n = most - n
		}
	}
	t.choices = append(t.choices, n)
	return n
}
