package rig_test

import (
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/internal/serve/rig"
)

func TestAProcessThatRunsStandsStillBetweenTwoLooksAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		longest := rig.Standstill()
		<-time.After(time.Second + 5*time.Millisecond)
		if took := longest(); took != 10*time.Millisecond {
			t.Errorf("it stood still for %v", took)
		}
	})
}
