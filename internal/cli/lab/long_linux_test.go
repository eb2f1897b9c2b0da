package lab_test

import (
	"context"
	"encoding/json"
	"flag"
	"sync"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/core/memory"
)

var long = flag.Bool("long", false, "flood the lab with runs that grow")

// TestRunsThatNeverEndTakeLimitedMemory floods the lab with runs that grow: messages that double, records without an end.
func TestRunsThatNeverEndTakeLimitedMemory(t *testing.T) {
	if !*long {
		t.Skip("-long: it computes on all cores for 20 seconds")
	}
	const most = 3 << 30
	var runs sync.WaitGroup
	for i, words := range []labObject{
		{"run": []string{"quorum-bully", "--n=100", "--until=1000000000"}},
		{"run": []string{"lcr", "--n=1000", "--duplicate=1", "--schedule=random"}},
		{"run": []string{"quorum-bully", "--n=9"}, "choices": []any{}, "go": 200_000},
		{"run": []string{"invitation", "--n=2", "--param=rule-c=no,stagger=3", "--until=100000000"}},
	} {
		runs.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			body, _ := json.Marshal(words)
			_, _ = theLab().Ask(ctx, "run", body, func(string) {}) // an answer or an error
			if used := memory.Used(); used > most {
				t.Errorf("run %d: the program takes %d MiB", i, used>>20)
			}
		})
	}
	runs.Wait()
}
