package transport

import (
	"testing"

	"ringleader.example/ringleader/internal/core/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

func TestAReasonForARefusalIsLoggedOnceAndOfFewIdentifiers(t *testing.T) {
	var r refusals
	for _, step := range []struct {
		from   uint64
		reason string
		isNew  bool
	}{{1, "a", true}, {1, "a", false}, {2, "a", true}, {1, "b", true}, {1, "a", true}} {
		if r.isNew(step.from, step.reason) != step.isNew {
			t.Errorf("%+v", step)
		}
	}
	logged := 0
	for from := range uint64(2 * mostRefusals) {
		if r.isNew(100+from, "a") {
			logged++
		}
	}
	if logged != mostRefusals-2 {
		t.Errorf("%d of them are logged", logged)
	}
}

func TestADurationVariesByAHalf(t *testing.T) {
	const d = 1000
	least, most := 2*Jitter(d), Jitter(d)
	for range 1000 {
		j := Jitter(d)
		least, most = min(least, j), max(most, j)
		if j < d/2 || j >= d+d/2 {
			t.Fatalf("%d of %d", j, d)
		}
	}
	if least > d*3/4 || most < d*5/4 {
		t.Errorf("a thousand of them are from %d to %d", least, most)
	}
}
