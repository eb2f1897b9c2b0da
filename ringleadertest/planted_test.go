package ringleadertest_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	livebully "ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/ringleadertest"
)

// recorded returns the record of a member that has led, and has handed over.
func recorded(t *testing.T) *record.Log {
	directory := filepath.Join(t.TempDir(), "records", "of members") // which a member makes
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Record: ringleader.Record{Directory: directory}}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		c.Pass(ringleader.Test().Lease)
		if err := c.Member(3).Transfer(1); err != nil {
			t.Fatal(err)
		}
		c.Await(1)
	})
	records, err := record.Open(t.Context(), filepath.Join(directory, "3"))
	if err != nil || len(records.Logs) != 1 {
		t.Fatal(records, err)
	}
	return records.Logs[0]
}

// A machine with another rule does something else from the first step on in which the rule plays a part.
func TestAReplayFindsTheStepInWhichAChangedMachineDiffers(t *testing.T) {
	l := recorded(t)
	changed := quorumbully.Algorithm
	receive := changed.Receive
	changed.Receive = func(p *quorumbully.Process, port election.Port, kind election.Kind, m quorumbully.Message, out *election.Out[quorumbully.Message]) {
		receive(p, port, kind, m, out)
		if kind == quorumbully.Grant && p.Role == quorumbully.Leader {
			p.Offers++ // no message and no effect tells it
		}
	}
	_, err := l.Again(t.Context(), process.Must(process.Of(&changed)))
	var d *record.Difference
	if !errors.As(err, &d) || !strings.Contains(d.What, "the state after the step") {
		t.Fatalf("%v", err)
	}
	first := 0
	for e := range l.Entries() {
		if s, is := e.Body.(*record.Step); is && s.Input.What == process.Received && s.Input.Kind == quorumbully.Grant {
			for _, effect := range s.Effects {
				if effect.Op == election.Lead && first == 0 {
					first = e.Place.Block<<16 + e.Place.Entry
				}
			}
		}
	}
	if got := d.Entry.Place.Block<<16 + d.Entry.Place.Entry; got != first {
		t.Errorf("the difference is at %v, and the first grant to the leader is at block %d, entry %d", d.Entry.Place, first>>16, first&0xFFFF)
	}
	other := quorumbully.Algorithm
	other.Timers = append([]string{"another"}, other.Timers[1:]...)
	if _, err := l.Again(t.Context(), process.Must(process.Of(&other))); !errors.Is(err, record.ErrMachine) {
		t.Errorf("a machine of another schema: %v", err)
	}
}

// One bit of a recorded step is enough, whichever part of the step has it.
func TestAReplayFindsAChangedField(t *testing.T) {
	l := recorded(t)
	for _, c := range []struct {
		what, want string
		change     func(*record.Step) bool
	}{
		{"a byte of a sent message", "differs from byte", func(s *record.Step) bool {
			if len(s.Sent) == 0 {
				return false
			}
			s.Sent[0].Payload[3] ^= 1
			return true
		}},
		{"the length of a timer", "effect 1 is recorded", func(s *record.Step) bool {
			if len(s.Effects) == 0 {
				return false
			}
			s.Effects[0].Ticks.Lo ^= 1
			return true
		}},
		{"the checksum of a state", "the state after the step", func(s *record.Step) bool {
			s.Check ^= 1
			return s.Checked
		}},
		{"a message that is too short", "the message of the step", func(s *record.Step) bool {
			if len(s.Input.Message) == 0 {
				return false
			}
			s.Input.Message = s.Input.Message[1:]
			return true
		}},
		{"a port that does not exist", "port 9", func(s *record.Step) bool {
			s.Input.Port = 9
			return s.Input.What == process.Received
		}},
	} {
		r, err := record.NewReplayer(livebully.Program, &l.Segments[0].Head)
		if err != nil {
			t.Fatal(err)
		}
		steps := 0
		for e := range l.Entries() {
			s, is := e.Body.(*record.Step)
			if is {
				steps++
			}
			changed := steps > 30 && is && c.change(s)
			err := r.Take(e)
			if changed {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v", c.what, err)
				}
				break
			}
			if err != nil {
				t.Fatalf("%s: before the change: %v", c.what, err)
			}
		}
	}
}
