package observe_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/observe"
)

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestAReaderGetsEachLineOnce(t *testing.T) {
	b := observe.NewBoard("a group")
	say := func(text string) { b.Say(time.Now(), observe.Change, text) }
	say("one")
	say("two")
	s, changed := b.Read(0)
	if len(s.Lines) != 2 || s.Lines[1].Text != "two" || s.Last != 2 || isClosed(changed) {
		t.Fatalf("%+v", s)
	}
	say("three")
	if !isClosed(changed) {
		t.Error("a line is no change")
	}
	if s, _ := b.Read(s.Last); len(s.Lines) != 1 || s.Lines[0].Text != "three" || s.Lines[0].Number != 3 {
		t.Errorf("after two of three lines: %+v", s.Lines)
	}
	for _, number := range []int{3, 4, math.MaxInt} {
		if s, _ := b.Read(number); len(s.Lines) != 0 {
			t.Errorf("after line %d: %+v", number, s.Lines)
		}
	}
}

func TestABoardKeepsTheLastLinesAndReigns(t *testing.T) {
	b := observe.NewBoard("a group")
	begun := time.Now()
	b.Begin(begun)
	var reigns []observe.Reign
	for i := range 2 * observe.MostLines {
		b.Say(begun, observe.Remark, "line")
		reigns = append(reigns, observe.Reign{Leader: 1, Begin: begun.Add(time.Duration(i) * time.Millisecond)})
	}
	b.Show(observe.State{Reigns: reigns})
	s, _ := b.Read(0)
	if len(s.Lines) != observe.MostLines || s.Lines[0].Number != observe.MostLines+1 {
		t.Errorf("%d lines, the first is %+v", len(s.Lines), s.Lines[0])
	}
	if len(s.Reigns) != observe.MostReigns || s.Reigns[observe.MostReigns-1].From != 2*observe.MostLines-1 {
		t.Errorf("%d reigns", len(s.Reigns))
	}
}

func TestALeaseRunsDownAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := observe.NewBoard("a group")
		renew := func(d time.Duration) {
			until := time.Now().Add(d)
			b.Show(observe.State{
				Members: []observe.Member{{ID: 3, Role: ringleader.Leader, Term: 7, Until: until, Grants: []observe.Grant{{By: 3, Until: until.Add(time.Millisecond)}, {By: 4, Until: until.Add(-400 * time.Millisecond)}}}},
				Reigns:  []observe.Reign{{Leader: 3, Term: 7, Begin: time.Now(), End: until, Goes: true}},
			})
		}
		check := func(left, of float64, goes bool, grants ...observe.Grant) {
			t.Helper()
			s, _ := b.Read(0)
			same := func(a, b observe.Grant) bool { return a.By == b.By && a.Left == b.Left }
			if g := s.Members[0].Grants; !slices.EqualFunc(g, grants, same) {
				t.Errorf("the grants are %+v, want %+v", g, grants)
			}
			lease := s.Members[0].Lease
			if (lease == nil) != (left == 0) || lease != nil && (lease.Left != left || lease.Of != of) || s.Reigns[0].Goes != goes {
				t.Errorf("the lease is %+v, want %v of %v; the lead goes on: %v", lease, left, of, s.Reigns[0].Goes)
			}
		}
		renew(500 * time.Millisecond)
		check(500, 500, true, observe.Grant{By: 3, Left: 501}, observe.Grant{By: 4, Left: 100})
		<-time.After(200 * time.Millisecond)
		check(300, 500, true, observe.Grant{By: 3, Left: 301})
		renew(450 * time.Millisecond)
		check(450, 500, true, observe.Grant{By: 3, Left: 451}, observe.Grant{By: 4, Left: 50})
		<-time.After(450 * time.Millisecond)
		check(0, 0, false, observe.Grant{By: 3, Left: 1})
	})
}

func TestAStateInJSONHasListsAndIdentifiersAsText(t *testing.T) {
	b := observe.NewBoard("a group")
	empty, _ := b.Read(0)
	b.Show(observe.State{Members: []observe.Member{{ID: math.MaxUint64, Misses: []observe.ID{2}}}, Cut: [][2]observe.ID{{1, math.MaxUint64}}})
	full, _ := b.Read(0)
	for _, c := range []struct {
		state observe.State
		want  string
	}{
		{empty, `"members":[],"reigns":[]`},
		{full, `"members":[{"id":"18446744073709551615","condition":"","misses":["2"]}],"cut":[["1","18446744073709551615"]]`},
	} {
		text, err := json.Marshal(c.state)
		if err != nil || !strings.Contains(string(text), c.want) {
			t.Errorf("%s, %v; want %s", text, err, c.want)
		}
	}
}
