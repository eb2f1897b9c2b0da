package verify_test

import (
	"reflect"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/dolevklawerodeh"
	"ringleader.example/ringleader/internal/runners/lcr"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

func walks(t *testing.T, a program.Program, o verify.Options, count int, seed uint64) *verify.Report {
	t.Helper()
	r, err := verify.Walks(a, o, count, seed)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWalksFindWhatASearchFindsAndTheSameOnAnyNumberOfCores(t *testing.T) {
	o := verify.Options{Size: 6, Unordered: true}
	one := walks(t, dolevklawerodeh.Program, o, 500, 1)
	o.Cores = 3
	three := walks(t, dolevklawerodeh.Program, o, 500, 1)
	if one.Violation == nil || !reflect.DeepEqual(one, three) {
		t.Errorf("%+v and, on three cores, %+v", one, three)
	}
	if other := walks(t, dolevklawerodeh.Program, o, 500, 2); other.Violation != nil && reflect.DeepEqual(other.Violation.Record, one.Violation.Record) {
		t.Error("another seed makes the same walk")
	}
	o.Unordered = false
	r := walks(t, dolevklawerodeh.Program, o, 200, 1)
	if r.Violation != nil || r.Complete || r.Walks != 200 || r.States < 200*6 {
		t.Errorf("with FIFO links: %+v", r)
	}
	o.Progress = func(p verify.Progress) bool { return p.Done == 0 }
	if r := walks(t, lcr.Program, o, 10_000, 1); !r.Stopped || r.Walks != 16 {
		t.Errorf("stopped: %+v", r)
	}
}

// A walk of faults ends in the simulator as it does in the checker.
func TestTheSimulatorRepeatsAWalk(t *testing.T) {
	o := verify.Options{Setup: network.Setup{Parameters: map[string]string{"bullying": "no"}}, Size: 4, Crashes: 1, Recoveries: 1}
	r := walks(t, bully.Program, o, 2000, 3)
	if r.Violation == nil {
		t.Fatalf("%+v", r)
	}
	s, err := simulate.New(bully.Program).Session(simulate.Options{
		Setup: network.Setup{IDs: election.List{1, 2, 3, 4}, Parameters: o.Setup.Parameters}, AnyTime: true, Delay: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Follow(&r.Violation.Record); err != nil {
		t.Error(err)
	}
}

func TestAViolationIsShrunk(t *testing.T) {
	a := bully.Program.Hidden()
	o := verify.Options{Setup: network.Setup{Parameters: map[string]string{"bullying": "no"}}, Size: 3, Crashes: 2, Recoveries: 2, Starts: verify.EverySet}
	less, r := verify.Shrink(a, o, verify.NoLeader)
	if r == nil || less.Size != 2 || less.Crashes != 1 || less.Recoveries != 1 {
		t.Fatalf("%+v", less)
	}
	if r.Violation.Property != verify.NoLeader || r.Violation.Record.N != 2 {
		t.Errorf("%+v", r.Violation)
	}
	if again, _ := verify.Shrink(a, *less, verify.NoLeader); again != nil {
		t.Errorf("and once more: %+v", again)
	}
}

// Equal identifiers stay equal when others are left out, and identifiers become small.
func TestShrinkingLeavesOutIdentifiers(t *testing.T) {
	o := verify.Options{Setup: network.Setup{IDs: election.List{90, 20, 90, 70}, Duplicates: true}}
	less, r := verify.Shrink(lcr.Program.Hidden(), o, verify.TwoLeaders)
	if r == nil || !reflect.DeepEqual(less.Setup.IDs, election.Arrangement(election.List{1, 1})) {
		t.Errorf("%+v", less)
	}
}
