package agent

import (
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
)

// What prepares the next tenure is work of the moment at which another member begins to lead, perhaps on the same machine.
func TestWhatPreparesTheNextTenureWaitsUntilAnotherLeads(t *testing.T) {
	waits(t, ringleader.LAN(), ringleader.LAN().Lease)
	waits(t, ringleader.WAN(), time.Second)
}

func waits(t *testing.T, timing ringleader.Timing, pause time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		e := &executor{Agent: &Agent{
			config:  Config{Member: ringleader.Config{Timing: timing}},
			keepers: &keepers{means: ControlGroup}, // which has no keeper that waits
			standby: &standby{moved: make(chan struct{})},
		}}
		held := func(want bool, when string) {
			t.Helper()
			synctest.Wait()
			e.standby.mu.Lock()
			defer e.standby.mu.Unlock()
			if e.standby.held != want {
				t.Errorf("%s: the command that prepares is held: %v", when, e.standby.held)
			}
		}
		e.hold()
		held(true, "in a tenure")
		e.release()
		time.Sleep(pause - 1)
		held(true, "just before the pause is over")
		time.Sleep(time.Nanosecond)
		held(false, "after the pause")

		e.hold()
		e.release()
		time.Sleep(pause / 2)
		e.hold()
		time.Sleep(pause)
		held(true, "in a tenure that followed at once")
	})
}
