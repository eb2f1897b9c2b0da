package explain_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/explaintest"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/ringleadertest"
)

// Nobody led for a second, since nobody was able to, and then one stood still.
func TestWhatHeldMembersUpIsTold(t *testing.T) {
	one, two, three := byHand(1, "m", 0, func(h *record.Head) { h.Members = []uint64{1, 2, 3, 4} }), byHand(2, "m", 0), byHand(3, "m", 0)
	const work = "it has no work at present"
	one.leads(100, 1, 1, 600)
	two.add(110, &record.Decision{Role: "follower", Leader: 1, Term: 1})
	one.add(400, &record.Told{Peer: 1, Term: 1, Cause: "resigned", Detail: "its command has ended"})
	one.add(400, &record.Decision{Role: "undecided", Term: 1})
	one.add(400, &record.Standing{Peer: 1, Unable: work})
	one.add(450, &record.Standing{Peer: 4, Unable: "its check fails"}) // of which there is no record
	two.add(300, &record.Standing{Peer: 2, Unable: work})
	two.add(350, &record.Standing{Peer: 2, Weight: 1})
	two.add(360, &record.Standing{Peer: 3, Unable: "by hearsay"})
	two.add(500, &record.Standing{Peer: 2, Unable: work})
	two.add(1000, &record.Standing{Peer: 2, Weight: 1})
	three.add(1350, &record.Late{By: 700 * time.Millisecond})
	one.add(1380, &record.Flush{Took: 550 * time.Millisecond, Groups: 1})
	two.leads(1400, 2, 2, 1900)
	two.add(1850, &record.Flush{Took: 500 * time.Millisecond}) // for which it has not waited
	for _, h := range []*hand{one, two, three} {
		h.add(3000, &record.End{})
	}
	c := explain.Of(record.Parse("test", archived(one, two, three))).Groups[0].Changes[1]
	told := strings.Join(c.Bounded, "\n")
	for _, want := range []string{
		"member 1 was not able to lead for 1.0 s of it: " + work,
		"member 2 was not able to lead for 500 ms of it: " + work,
		"member 4 was not able to lead for 950 ms of it: its check fails",
		"member 3 did nothing for 700 ms of it",
		"a flush of member 1 took 550 ms of it",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is not told:\n%s", want, told)
		}
	}
	if strings.Contains(told, "a flush of member 2") {
		t.Errorf("a flush that began with the next lead is told:\n%s", told)
	}
	if strings.Count(told, "member 3") != 1 {
		t.Errorf("what another one heard of member 3 counts more than its own record:\n%s", told)
	}
}

// A member that has restarted waits once. A later time without a leader has nothing of that.
func TestTheWaitAfterARestartCountsWhereItIs(t *testing.T) {
	records, err := record.Open(t.Context(), explaintest.Recorded(t, "", 3, func(c *ringleadertest.Cluster) {
		for id := uint64(1); id <= 3; id++ {
			c.Kill(id)
		}
		c.Start(1, 2, 3)
		id := c.AwaitAny()
		c.Pass(500 * time.Millisecond)
		c.Kill(id)
		c.AwaitAny()
		c.Pass(time.Second)
	}))
	if err != nil {
		t.Fatal(err)
	}
	var waits []int
	for _, c := range explain.Of(records).Groups[0].Changes {
		waits = append(waits, strings.Count(strings.Join(c.Bounded, "\n"), "had restarted"))
	}
	if !slices.Equal(waits, []int{0, 3, 0}) {
		t.Errorf("%v", waits)
	}
}

// Members that restart at the moment at which the first leader begins did not hold it up.
func TestARestartAtTheMomentOfTheFirstLeadIsNoWaitForIt(t *testing.T) {
	records, err := record.Open(t.Context(), explaintest.Unstarted(t, "", 3, func(c *ringleadertest.Cluster) {
		c.Start(1, 2, 3)
		if _, err := c.Member(3).WaitToLead(context.Background()); err != nil { // it returns at that moment of the bubble
			t.Fatal(err)
		}
		for id := uint64(1); id <= 3; id++ {
			c.Kill(id)
		}
		c.Start(1, 2, 3)
		c.AwaitAny()
		c.Pass(time.Second)
	}))
	if err != nil {
		t.Fatal(err)
	}
	first := explain.Of(records).Groups[0].Changes[0]
	if len(first.Bounded) > 0 || first.Cause != explain.Elected {
		t.Errorf("the first leader was %s: %q", first.Cause, first.Bounded)
	}
}
