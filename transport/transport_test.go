package transport

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
