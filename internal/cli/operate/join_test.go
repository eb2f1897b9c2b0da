package operate

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/internal/show/report"
)

func TestAMemberIsGivenWhatItsFlagsSay(t *testing.T) {
	t.Parallel()
	var o joinOptions
	flags := pflag.NewFlagSet("join", pflag.ContinueOnError)
	o.define(flags)
	if err := flags.Parse([]string{
		"--id", "2", "--group", "jobs", "--data", "d", "--listen", ":7", "--preset", "wan", "--lease", "9s", "--preempt", "--heartbeat", "1s",
		"--suspicion", "4s", "--hang", "70ms", "--stall", "3s", "--insecure", "--member", "1=h:1,priority=7", "--member", "2=h:2,witness",
	}); err != nil {
		t.Fatal(err)
	}
	c, err := o.config(flags)
	timing := ringleader.WAN()
	timing.Lease, timing.ShortestLease, timing.LongestLease, timing.Renewal, timing.Grace, timing.Margin = 9*time.Second, 9*time.Second, 9*time.Second, 0, 0, 0
	timing.Heartbeat, timing.Suspicion, timing.Hang, timing.Stall = time.Second, 4*time.Second, 70*time.Millisecond, 3*time.Second
	timing = timing.WithDefaults()
	want := ringleader.Config{
		Group: "jobs", ID: 2, Data: "d", Listen: "127.0.0.1:7", Timing: timing, Preempt: true, Insecure: true, Record: ringleader.Record{Size: 32 << 20}, Algorithm: ringleader.QuorumBully,
		Members: []ringleader.MemberAddress{{ID: 1, Address: "h:1", Priority: 7}, {ID: 2, Address: "h:2", Witness: true}},
	}
	if err != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("%v\n%+v, want\n%+v", err, c, want)
	}
}

// The error that ends a member is printed when it has ended. All others are told at once.
func TestOnlyTheErrorThatEndsAMemberIsNotLogged(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	log := newLog(&program{Host{Printer: &report.Printer{Err: &said}}}, notice, &joinOptions{id: 1})
	log.With("member", 1).Error(view.EndedByError, "error", "the disk failed")
	log.WithGroup("of").Error(view.EndedByError)
	log.With("member", 1).Error("a term has had two leaders", "term", 7)
	if got := said.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "error: a term has had two leaders term=7\n") {
		t.Errorf("%q", got)
	}
}

func TestEachFieldOfATimingHasANameForOperators(t *testing.T) {
	fields := reflect.VisibleFields(reflect.TypeFor[ringleader.Timing]())
	for _, field := range fields {
		if !slices.ContainsFunc(timingSettings, func(s timingSetting) bool { return s.field == field.Name }) {
			t.Errorf("Timing.%s has none", field.Name)
		}
	}
}
