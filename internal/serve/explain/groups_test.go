package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/explaintest"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/ringleadertest"
)

// brief are the changes of a group, in words.
func brief(g *explain.Group) (all []string) {
	id := func(p *uint64) uint64 {
		if p == nil {
			return 0
		}
		return *p
	}
	for _, c := range g.Changes {
		all = append(all, fmt.Sprintf("%d to %d: %s", id(c.From), id(c.To), c.Cause))
	}
	return all
}

// Members may be in several groups. The name of the first one may be empty, as that of what concerns all groups is.
func TestTheChangesOfEachGroupOfTheMembersAreTold(t *testing.T) {
	for _, first := range []string{"first", ""} {
		directory := explaintest.Recorded(t, first, 3, func(c *ringleadertest.Cluster) {
			c.Pass(5 * time.Second)
			c.Join(ringleader.GroupConfig{Group: "shard"}, 1, 2, 3)
			c.Pass(3 * time.Second)
			c.Leave("shard", 3)
			c.Pass(3 * time.Second)
			c.Join(ringleader.GroupConfig{Group: "shard"}, 3)
			c.Pass(3 * time.Second)
			if err := c.Member(3).Transfer(1); err != nil {
				t.Fatal(err)
			}
			c.Await(1)
		})
		records, err := record.Open(t.Context(), directory)
		if err != nil {
			t.Fatal(err)
		}
		for e := range records.Logs[0].Notable() {
			if s, is := e.Body.(*record.Snapshot); is && (s.Voters == nil || len(s.Voters.Members) != 3) {
				t.Errorf("a snapshot of group %q has the voters %+v", e.Group, s.Voters)
			}
		}
		r := explain.Of(records)
		if len(r.Groups) != 2 || len(r.Damages) > 0 {
			t.Fatalf("%d groups, damages %q", len(r.Groups), r.Damages)
		}
		for i, want := range [][]string{{"0 to 3: elected", "3 to 1: transferred"}, {"0 to 3: elected", "3 to 2: closed"}} {
			if g := r.Groups[i]; g.Name != []string{first, "shard"}[i] || !slices.Equal(brief(g), want) || len(g.Violations) > 0 || len(g.Older) > 0 {
				t.Errorf("group %q: %q, %+v", g.Name, brief(g), g.Violations)
			}
		}
		if c := r.Groups[1].Changes[0]; c.Nobody > 1 {
			t.Errorf("the group began before its members joined it: %+v", c)
		}
		if c := r.Groups[0].Check(20_000); c.Broken != "" || c.Without != "" || c.Steps == 0 {
			t.Errorf("the first group is not compared with the model: %+v", c)
		}
		if c := r.Groups[1].Check(20_000); c.Broken != "" {
			t.Errorf("a group that members join and leave breaks a rule: %+v", c)
		}
	}
}

// A group without details is told as members told it at once.
func TestTheOlderChangesOfEachGroupAreTold(t *testing.T) {
	var archive []byte
	for _, name := range []string{"detailed", "shard"} {
		h := amid(1, "m", 0, func(h *record.Head) { h.Changes = name == "shard" })
		for i := range 2 {
			at := record.Clocks{Boottime: time.Duration(i) * time.Second}
			h.writer.Add(at, name, &record.Change{Time: time.Unix(500+int64(i), 0), From: uint64(i), To: uint64(i + 1), Term: uint64(i + 1), Cause: "elected"})
		}
		archive = append(archive, archived(h)...)
	}
	for _, g := range explain.Of(record.Parse("test", archive)).Groups {
		if n := len(g.Older); (n == 2) != (g.Name == "shard") {
			t.Errorf("group %q has %d changes without details", g.Name, n)
		}
	}
}

// Many groups of members are not told without end.
func TestMoreGroupsThanAreToldAreALine(t *testing.T) {
	h := byHand(1, "m", 0)
	for i := range 120 {
		h.writer.Add(record.Clocks{}, fmt.Sprintf("shard %03d", i), &record.Decision{Role: "leader", Leader: 1, Term: 1})
	}
	r := explain.Of(record.Parse("test", archived(h)))
	if len(r.Groups) != 100 || r.Groups[99].Name != "shard 098" || len(r.Damages) != 1 || !strings.Contains(r.Damages[0], "in 121 groups; 100 of them are told") {
		t.Errorf("%d groups, %q", len(r.Groups), r.Damages)
	}
}

// Two members lead and follow, and the third runs in another group alone.
func TestAMemberThatHasNotJoinedAGroupIsNotCutOff(t *testing.T) {
	one, two, three := byHand(1, "m", 0), byHand(2, "m", 0), byHand(3, "m", 0)
	in := func(h *hand, ms int, group string, body record.Body) {
		at := time.Duration(ms) * time.Millisecond
		h.writer.Add(record.Clocks{Monotonic: at, Boottime: at}, group, body)
	}
	for _, h := range []*hand{one, two} {
		in(h, 1, "shard", &record.Group{})
	}
	in(one, 100, "shard", &record.Decision{Role: "leader", Leader: 1, Term: 1, Until: 600 * time.Millisecond})
	in(two, 110, "shard", &record.Decision{Role: "follower", Leader: 1, Term: 1})
	in(two, 120, "", &record.End{})
	in(one, 600, "shard", &record.Lapse{Until: 600 * time.Millisecond})
	in(one, 600, "shard", &record.Decision{Role: "candidate", Term: 1})
	in(one, 2000, "", &record.End{})
	in(three, 2000, "", &record.End{})
	r := explain.Of(record.Parse("test", archived(one, two, three)))
	c := r.Groups[len(r.Groups)-1].Changes[1]
	if c.Cause != explain.Followers || !slices.Contains(c.Evidence, "member 3 ran, and had not joined the group, or had left it") {
		t.Errorf("%+v", c)
	}
}
