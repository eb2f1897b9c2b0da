package explain_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/explaintest"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/ringleadertest"
)

// Member 3 leads, is killed and comes back when another one has led for long. What its record alone tells of that time is a bound.
func TestATimeThatNoRecordWatchedIsNotKnown(t *testing.T) {
	directory := explaintest.Recorded(t, "", 3, func(c *ringleadertest.Cluster) {
		c.Pass(time.Second)
		c.Kill(3)
		after(c)
		c.Pass(15 * time.Second)
		c.Start(3)
		c.Pass(3 * time.Second)
	})
	told := func(paths ...string) (*explain.Change, string) {
		records, err := record.Open(t.Context(), paths...)
		if err != nil {
			t.Fatal(err)
		}
		r := explain.Of(records)
		var text bytes.Buffer
		r.WriteText(&text)
		return change(t, r.Groups[0], 3, explain.Killed), text.String()
	}
	if c, _ := told(directory); c.AtMost || c.Nobody > 2 {
		t.Errorf("by all records: %+v", c)
	}
	if c, _ := told(filepath.Join(directory, "1"), filepath.Join(directory, "3")); c.AtMost || c.Nobody > 2 {
		t.Errorf("by the records of the one that led and of one that watched: %+v", c)
	}
	c, text := told(filepath.Join(directory, "3"))
	missing := strings.Join(c.Missing, "\n")
	if bounded := strings.Join(c.Bounded, "\n"); !c.AtMost || c.Nobody < 15 || strings.Contains(bounded, "restarted") || !strings.Contains(bounded, "not known") || !strings.Contains(missing, "members 1, 2") {
		t.Errorf("by its own record: %+v", c)
	}
	if !strings.Contains(text, ", at most 1") {
		t.Error(text)
	}
}

// hears are the entries of a member that begins to run, connects to a leader of which there is no record, and follows it.
func hears(h *hand, connects, follows int) {
	h.add(connects, &record.Connected{Peer: 9, Incarnation: 1})
	h.add(follows, &record.Decision{Role: "follower", Leader: 9, Term: 7})
	h.add(follows+5000, &record.End{})
}

func TestAMemberThatStartsDoesNotKnowHowOldALeadIs(t *testing.T) {
	for name, test := range map[string]struct {
		connects, follows int
		atMost            bool
		cause             explain.Cause
	}{
		"it follows at once": {300, 310, true, explain.Elected},
		"it follows later":   {300, 900, false, explain.Restarted},
	} {
		h := byHand(1, "m", 0)
		h.add(0, &record.Start{Recovering: true})
		hears(h, test.connects, test.follows)
		c := explain.Of(record.Parse("test", archived(h))).Groups[0].Changes[0]
		if c.AtMost != test.atMost || c.Cause != test.cause {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// The one follower of which there is a record stood still, and has seen neither the end of the one lead nor the beginning of the next.
func TestAFollowerThatStoodStillKnowsNoTimes(t *testing.T) {
	two := byHand(2, "m", 0)
	for _, peer := range []uint64{1, 3} {
		two.add(10, &record.Connected{Peer: peer, Incarnation: 1})
	}
	two.add(1000, &record.Decision{Role: "follower", Leader: 1, Term: 1})
	two.add(9000, &record.Late{By: 6 * time.Second})
	two.add(9010, &record.Decision{Role: "follower", Leader: 3, Term: 2})
	two.add(9900, &record.End{})
	c := explain.Of(record.Parse("test", archived(two))).Groups[0].Changes[1]
	if !c.AtMost || c.Nobody != 6.01 {
		t.Errorf("%+v", c)
	}
}

// The record of a long life begins amid it. Nobody was without a leader since its start.
func TestARecordThatBeginsAmidALifeBeginsThere(t *testing.T) {
	late := amid(1, "m", 0)
	late.add(3_600_000, &record.Snapshot{Members: []uint64{1, 2, 3}, Decision: record.Decision{Role: "leader", Leader: 1, Term: 4, Until: time.Hour + time.Second}})
	late.add(3_600_500, &record.End{})
	g := explain.Of(record.Parse("test", archived(late))).Groups[0]
	if c := g.Changes[0]; c.Nobody != 0 || !g.From.Equal(c.Begun) || g.From.Unix() != 1_000+3_600 {
		t.Errorf("from %v: %+v", g.From, c)
	}
}
