package ringleader

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A program that runs before others is governed, also without a member, as the demo is, which only passes messages on.
func TestAProcessThatRunsBeforeOthersIsGoverned(t *testing.T) {
	var allowed, refused policy
	begun := make(chan bool, 3)
	govern := func() { begun <- true }
	allowed.set(nil, govern)
	<-begun
	allowed.set(nil, govern) // it is
	refused.set(errors.New("not permitted"), govern)
	if len(begun) > 0 {
		t.Error("there is a second governor, or one of an ordinary process")
	}
}

// A process that strangers keep busy leaves the processor to others, and takes its priority back when it has been calm for long enough.
func TestABusyProcessRunsAsOthersUntilItIsCalm(t *testing.T) {
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))
	var set []string
	g := governor{hurries: true, all: func() error { set = append(set, "all"); return nil }, none: func() error { set = append(set, "none"); return nil }}
	looks := func(n int, used time.Duration) string {
		set = nil
		for range n {
			g.look(log, time.Second, used)
		}
		return strings.Join(set, " ")
	}
	for _, step := range []struct {
		looks int
		used  time.Duration
		want  string
	}{
		{100, 500 * time.Millisecond, ""},
		{1, 501 * time.Millisecond, "none"},
		{100, 2 * time.Second, ""},
		{9, 0, ""},
		{1, time.Second, ""}, // it begins to count again
		{9, 0, ""},
		{1, 0, "all"},
		{100, 0, ""},
		{1, time.Second, "none"},
	} {
		if got := looks(step.looks, step.used); got != step.want {
			t.Errorf("%d seconds with %v of a processor each: %q, want %q", step.looks, step.used, got, step.want)
		}
	}
	if n := strings.Count(said.String(), "runs as ordinary ones do"); n != 2 {
		t.Errorf("it says so %d times: %s", n, &said)
	}

	// What may not be set is tried again.
	g = governor{hurries: true, none: func() error { return errors.New("not permitted") }}
	for range 2 {
		if g.look(log, time.Second, time.Second); !g.hurries {
			t.Error("it does not hurry, although that could not be set")
		}
	}
}

// The end of a process takes a processor from those that elect, unless it runs as ordinary ones do.
func TestAProcessWhoseLastMemberHasLeftRunsAsOthers(t *testing.T) {
	var set []string
	all := func() error { set = append(set, "all"); return nil }
	none := func() error { set = append(set, "none"); return nil }
	for _, c := range []struct {
		name   string
		result error
		steps  string // of members: + joins, - leaves
		want   string
		rests  int
		now    bool
	}{
		{"one member", nil, "+-", "none", 1, true},
		{"two members", nil, "++-", "", 0, false},
		{"two that leave", nil, "++--", "none", 1, true},
		{"one that joins again", nil, "+-+", "none all", 1, false},
		{"again and again", nil, "+-+-+-", "none all none all none", 3, true},
		{"an ordinary process", errors.New("not permitted"), "+-+-", "", 0, false},
	} {
		var p policy
		p.set(c.result, func() {})
		set = nil
		for _, step := range c.steps {
			if step == '+' {
				p.joined(all)
			} else {
				p.leaves(none)
			}
		}
		if got := strings.Join(set, " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if times, now := p.rest(); times != c.rests || now != c.now {
			t.Errorf("%s: %d rests, and one now: %v; want %d, %v", c.name, times, now, c.rests, c.now)
		}
	}
}
