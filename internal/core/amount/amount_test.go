package amount_test

import (
	"testing"

	"ringleader.example/ringleader/internal/core/amount"
)

func TestOneThingIsSingular(t *testing.T) {
	for thing, things := range map[string]string{"step": "steps", "process": "processes", "random walk": "random walks", "crash": "crashes", "delivery": "deliveries", "way": "ways"} {
		for n, want := range map[int]string{0: "0 " + things, 1: "1 " + thing, 2: "2 " + things} {
			if got := amount.Of(n, thing); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}
