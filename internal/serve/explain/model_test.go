package explain_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/explaintest"
	live "ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/storage"
)

// The records of real members are a run that the model allows.
func TestJoinedRecordsAreARunOfTheModel(t *testing.T) {
	for _, n := range []uint64{3, 5} {
		records, err := record.Open(t.Context(), explaintest.Faulty(t, n))
		if err != nil {
			t.Fatal(err)
		}
		g := explain.Of(records).Groups[0]
		c := g.Check(1 << 20)
		if c.Without != "" || c.Broken != "" || c.Steps < 100 || len(g.Violations) > 0 {
			t.Fatalf("%+v %+v", c, g.Violations)
		}
		t.Logf("%d members: %d steps, %v", n, c.Steps, c.Actions)
		if c.Of != c.Steps {
			t.Errorf("%d of %d steps were compared", c.Steps, c.Of)
		}
		if first := g.Check(50); first.Steps != 50 || first.Of != c.Of || first.Broken != "" {
			t.Errorf("the first 50 steps: %+v", first)
		}
		for _, action := range []string{"win", "grant-renew", "crash", "die", "release", "extend"} {
			if c.Actions[action] == 0 {
				t.Errorf("%s never happened", action)
			}
		}
	}
}

// A member alone leads without a message, and the model knows claims by their messages.
func TestARecordOfOneMemberIsNotCompared(t *testing.T) {
	records, err := record.Open(t.Context(), explaintest.Recorded(t, "", 1, func(c *ringleadertest.Cluster) { c.Pass(time.Second) }))
	if err != nil {
		t.Fatal(err)
	}
	if c := explain.Of(records).Groups[0].Check(1 << 20); c.Broken != "" || !strings.Contains(c.Without, "a member alone") {
		t.Errorf("%+v", c)
	}
}

// Clocks of machines may drift, within the bound of the timing, and a machine may be suspended.
func TestRecordsOfDriftingClocksAreARunOfTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	directory := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Record: ringleader.Record{Directory: directory}}, 1, 2, 3)
		defer c.Close()
		c.Host(1).Clock.Run(0.98)
		c.Host(2).Clock.Run(1.02)
		c.Start(1, 2, 3)
		c.Await(3)
		c.Pass(10 * time.Second)
		c.Host(2).Clock.Suspend(time.Second)
		c.Kill(3)
		c.Prove(3)
		c.Await(2)
		c.Start(3)
		c.Pass(10 * time.Second)
	})
	records, err := record.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	g := explain.Of(records).Groups[0]
	if c := g.Check(1 << 20); c.Without != "" || c.Broken != "" || c.Steps < 500 || c.Actions["win"] < 2 || c.Actions["die"] == 0 {
		t.Errorf("%+v", c)
	} else {
		t.Logf("%d steps, %v", c.Steps, c.Actions)
	}
}

// A member that ends while it saves has made no step for the others: it has sent nothing, and comes back without what it was saving.
func TestAStepThatWasNotSavedIsNone(t *testing.T) {
	directory := explaintest.Recorded(t, "", 3, func(c *ringleadertest.Cluster) {
		saves := make(chan struct{})
		c.Host(1).Disk.Intercept(func([]storage.Record) error {
			close(saves)
			<-time.After(time.Second)
			return storage.ErrFlush
		})
		c.Kill(3)
		c.Prove(3)
		<-saves // what it promises for a later term
		c.Kill(1)
		c.Host(1).Disk.Intercept(nil)
		c.Start(1)
		c.Await(2)
	})
	records, err := record.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	if c := explain.Of(records).Groups[0].Check(1 << 20); c.Without != "" || c.Broken != "" || c.Actions["win"] < 2 {
		t.Errorf("%+v", c)
	}
}

// A suspension that is too short for the loop of a member to notice is known from its steps: its timers stand still, and the end of a grant comes later on the time of all.
func TestAShortSuspensionIsInTheRecords(t *testing.T) {
	directory := explaintest.Recorded(t, "", 3, func(c *ringleadertest.Cluster) {
		renewed := make(chan struct{}, 1)
		c.Hold(func(f ringleadertest.Frame) bool {
			if f.From == 1 && f.Kind == "grant" {
				select {
				case renewed <- struct{}{}:
				default:
				}
			}
			return false
		})
		<-renewed
		c.Host(1).Clock.Suspend(3 * time.Millisecond)
		<-renewed // with a reading after the suspension, of which nothing else tells at that time
		c.Pass(ringleader.Test().Renewal / 4)
		c.Kill(3)
		c.Await(2)
	})
	records, err := record.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	if c := explain.Of(records).Groups[0].Check(1 << 20); c.Without != "" || c.Broken != "" || c.Actions["unbind"] == 0 {
		t.Errorf("%+v", c)
	}
}

// Records of a machine that forgets what it has granted are told with the step that breaks the rule.
func TestARecordOfAPlantedBugIsTold(t *testing.T) {
	original := live.Program
	defer func() { live.Program = original }()
	wrong := quorumbully.Algorithm
	suspect := wrong.Suspect
	wrong.Suspect = func(p *quorumbully.Process, port election.Port, out *election.Out[quorumbully.Message]) {
		p.Given = quorumbully.Process{}.Given
		suspect(p, port, out)
	}
	live.Program = process.Must(process.Of(&wrong))
	directory := explaintest.Faulty(t, 3)
	records, err := record.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	c := explain.Of(records).Groups[0].Check(1 << 20)
	t.Log(c.Broken)
	if !strings.Contains(c.Broken, "member ") || !strings.Contains(c.Broken, "segment 1, block") {
		t.Errorf("%+v", c)
	}
}

// Without the records of all members from the beginning on it says what is missing.
func TestRecordsThatCannotBeComparedSayWhy(t *testing.T) {
	directory := explaintest.Faulty(t, 3)
	records, err := record.Open(t.Context(), filepath.Join(directory, "1"), filepath.Join(directory, "2"))
	if err != nil {
		t.Fatal(err)
	}
	if c := explain.Of(records).Groups[0].Check(1000); !strings.Contains(c.Without, "the record of member 3 is missing") {
		t.Errorf("%+v", c)
	}
	if records, err = record.Open(t.Context(), directory); err != nil {
		t.Fatal(err)
	}
	for _, l := range records.Logs {
		l.Segments = l.Segments[len(l.Segments)-1:]
		l.Segments[0].Head.Incarnation++ // of no life that begins
	}
	if c := explain.Of(records).Groups[0].Check(1000); c.Without == "" && c.Broken == "" {
		t.Errorf("%+v", c)
	}
}

// A member that was killed where no memory outlives it, or whose machine has failed, has sent what its record has not.
func TestARecordWithoutItsLastStepsIsNotCompared(t *testing.T) {
	directory := explaintest.Recorded(t, "", 3, func(c *ringleadertest.Cluster) { c.Pass(10 * time.Second) })
	files, err := filepath.Glob(filepath.Join(directory, "1", "0*.seg"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	newest := slices.Max(files)
	whole, err := os.ReadFile(newest)
	if err != nil {
		t.Fatal(err)
	}
	torn := func(content []byte) (any bool) {
		for _, damage := range record.Parse(newest, content).Logs[0].Segments[0].Entries() {
			any = any || damage != nil
		}
		return any
	}
	less := whole[:len(whole)-1]
	for torn(less) {
		less = less[:len(less)-1]
	}
	if err := os.WriteFile(newest, less, 0o600); err != nil {
		t.Fatal(err)
	}
	records, err := record.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	if c := explain.Of(records).Groups[0].Check(1 << 20); !strings.Contains(c.Without, "the record of member 1 lacks a message that member ") {
		t.Errorf("%+v", c)
	}
}
