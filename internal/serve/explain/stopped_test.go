package explain_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/explaintest"
	"ringleader.example/ringleader/internal/serve/record"
)

// countdown is a context that ends when it has been asked so many times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func until(ctx context.Context, questions int) *countdown {
	c := &countdown{Context: ctx}
	c.left.Store(int64(questions))
	return c
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Wherever a signal comes, the work ends soon after it.
func TestTheWorkEndsWithItsContext(t *testing.T) {
	records, err := record.Open(t.Context(), explaintest.Records(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	const many = 1 << 30
	whole := until(t.Context(), many)
	r, err := explain.OfContext(whole, records)
	if err != nil {
		t.Fatal(err)
	}
	asked := many - int(whole.left.Load())
	if c := r.Groups[0].Check(1 << 20); c.Steps == 0 {
		t.Fatalf("%+v", c)
	}
	checked := many - int(whole.left.Load())
	if asked < 10 || checked < asked+100 {
		t.Errorf("the context is looked at %d times, and with a check %d times", asked, checked)
	}
	for left := range asked {
		c := until(t.Context(), left)
		if _, err := explain.OfContext(c, records); !errors.Is(err, context.Canceled) || c.left.Load() < -20 {
			t.Errorf("after %d questions: %v, and %d more", left, err, -c.left.Load())
		}
	}
	for left := asked; left < checked; left += 50 {
		c := until(t.Context(), left)
		r, err := explain.OfContext(c, records)
		if err != nil {
			t.Fatal(err)
		}
		if checked := r.Groups[0].Check(1 << 20); checked.Steps != 0 || checked.Broken != "" || checked.Without != context.Canceled.Error() {
			t.Errorf("after %d questions: %+v", left, checked)
		}
	}
}
