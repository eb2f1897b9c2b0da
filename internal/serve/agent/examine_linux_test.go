package agent_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/kernel"
)

// On a busy machine each measurement may take seconds. An examiner that is killed leaves nothing.
func TestAnExaminationThatIsCutShortTellsWhatItHasMeasured(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
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
			if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
				t.Errorf("it leaves %v, %v", left, err)
			}
			return
		case enough > limit:
			t.Fatalf("nothing was measured in %v: %+v, %v", enough, x, err)
		}
	}
}

// What doctor starts to measure a death must not keep a processor busy for ever if doctor is killed.
func TestAProcessThatSpinsEndsByItself(t *testing.T) {
	memory, err := kernel.NewMemory()
	if err != nil {
		t.Skip(err)
	}
	defer memory.Close()
	numbers, err := kernel.Map(memory, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer kernel.Unshare(numbers)
	c := exec.Command(os.Args[0], "spin", "1", "1ms")
	c.Stdin = memory
	said, err := c.CombinedOutput()
	if err != nil || numbers[1] == 0 {
		t.Errorf("it has told %d: %v, %s", numbers[1], err, said)
	}
}
