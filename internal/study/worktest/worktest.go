// Package worktest cuts jobs into pieces, for tests.
package worktest

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"testing"

	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/internal/study/work"
)

// Cut computes a task in pieces of 1 to most units, cut at random. They come in random order, and some of them twice. A
// seed determines all of it.
func Cut(t testing.TB, task work.Task, most, seed uint64) (parts []work.Part) {
	t.Helper()
	numbers := random.New(seed, random.Schedule)
	for from := uint64(0); from < task.Units(); {
		p := work.Piece{From: from, To: min(task.Units(), from+1+numbers.Below(most))}
		result, err := task.Compute(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + numbers.Below(2) {
			parts = append(parts, work.Part{Piece: p, Result: result})
		}
		from = p.To
	}
	for i := len(parts) - 1; i > 0; i-- {
		j := numbers.Below(uint64(i) + 1)
		parts[i], parts[j] = parts[j], parts[i]
	}
	return parts
}

// Same expects of so many random cuts into pieces of 1 to most units that they join to the result of all units.
func Same(t testing.TB, task work.Task, most, times uint64) {
	t.Helper()
	want, err := task.Compute(t.Context(), work.Piece{From: 0, To: task.Units()})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range times {
		r, err := work.NewResults(task, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range Cut(t, task, most, seed) {
			if _, err := r.Take(part.Piece, part.Result); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := r.Joined(); err != nil || !bytes.Equal(got, want) || len(r.Missing()) > 0 {
			t.Fatalf("seed %d: %s, %v, want %s", seed, got, err, want)
		}
	}
}

// Seal gives the lines of a file of results that a test has changed the checks that they would have.
func Seal(text []byte) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	sealed := bytes.Clone(lines[0])
	for _, line := range lines[1:] {
		line = bytes.TrimSuffix(line, []byte("}\n"))
		line, _, _ = bytes.Cut(line, []byte(`,"check":`))
		if len(line) > 0 {
			sealed = fmt.Appendf(append(sealed, line...), ",\"check\":\"%08x\"}\n", crc32.ChecksumIEEE(line))
		}
	}
	return sealed
}
