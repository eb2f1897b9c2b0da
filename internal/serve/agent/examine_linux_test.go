package agent_test

import (
	"context"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/agent"
)

// On a busy machine each measurement may take seconds.
func TestAnExaminationThatIsCutShortTellsWhatItHasMeasured(t *testing.T) {
	for enough := time.Second; ; enough *= 2 {
		ctx, cancel := context.WithTimeout(t.Context(), enough)
		x, err := agent.Examine(ctx, 1_000_000)
		cancel()
		switch {
		case err == nil:
			t.Fatalf("it has ended, with %d deaths", len(x.Deaths))
		case x.Timer != "":
			t.Skip(x.Timer)
		case len(x.Deaths) > 0:
			return
		case enough > limit:
			t.Fatalf("nothing was measured in %v: %+v, %v", enough, x, err)
		}
	}
}
