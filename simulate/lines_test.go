package simulate_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/lcr"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// asWritten numbers the lines of each file as they are.
func asWritten(_ string, line int) int { return line }

// source returns the lines of a file of an algorithm, the first of which is that of number 1.
func source(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile("../algorithms/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{""}, strings.Split(string(text), "\n")...)
}

func TestTheLinesOfAStepAreThoseThatHaveItsEffects(t *testing.T) {
	lines := source(t, "lcr/lcr.go")
	r, err := simulate.New(lcr.Program).Run(simulate.Options{Setup: network.On(3, 5, 1, 4), Record: true, Lines: asWritten})
	if err != nil {
		t.Fatal(err)
	}
	swallowed := 0
	for _, step := range r.Record.Steps {
		var want []string // the code of each line, in order
		for _, d := range step.Decided {
			want = append(want, map[string]string{"leader": "out.Lead(0)", "follower": "out.Follow(m.ID, 0)"}[d.Role])
		}
		for _, m := range step.Sent {
			switch {
			case step.Event == trace.Start:
				want = append(want, "out.Send(Right, Election, Message{p.ID}) // L3")
			case m.Kind == "leader":
				want = append(want, "out.Send(Right, Leader, m)")
			default:
				want = append(want, "out.Send(Right, Election, m)")
			}
		}
		if len(want) == 0 {
			swallowed++
			want = []string{"func (p *Process) Receive(_ election.Port, kind election.Kind, m Message, out *election.Out[Message]) {"}
		}
		var got []string
		for _, line := range step.Lines {
			got = append(got, strings.TrimSpace(lines[line]))
		}
		if !slices.Equal(got, want) {
			t.Errorf("step %d, %s: lines %d are %q, want %q", step.Number, step.Event, step.Lines, got, want)
		}
	}
	if swallowed == 0 {
		t.Error("no message was swallowed")
	}
}

func TestARunIsTheSameWithLines(t *testing.T) {
	o := simulate.Options{Setup: network.On(1, 2, 3, 4, 5), Record: true, Seed: 3}
	o.Faults.Crashes = []faults.Crash{{Process: 4, At: election.Units(10)}}
	without, err := simulate.New(bully.Program).Run(o)
	if err != nil {
		t.Fatal(err)
	}
	o.Lines = asWritten
	with, err := simulate.New(bully.Program).Run(o)
	if err != nil {
		t.Fatal(err)
	}
	lined := 0
	for i := range with.Record.Steps {
		step := &with.Record.Steps[i]
		if passive := step.Event == trace.Crash || step.Event == trace.Lost; passive != (len(step.Lines) == 0) {
			t.Errorf("step %d, %s: lines %d", step.Number, step.Event, step.Lines)
		}
		lined += len(step.Lines)
		step.Lines = nil
	}
	for i := range without.Record.Steps {
		lined -= len(without.Record.Steps[i].Lines)
		without.Record.Steps[i].Lines = nil
	}
	if lined == 0 || !reflect.DeepEqual(with.Record, without.Record) || !reflect.DeepEqual(with.Messages, without.Messages) {
		t.Errorf("%d lines; the records differ", lined)
	}
}

// gambler is a process that decides by chance.
type gambler struct{ ID election.ID }

// chance has a line of its own for each decision.
var chance = election.Algorithm[gambler, struct{}]{
	Declaration: election.Declaration{
		Name: "chance", Topology: election.Ring, Timing: election.Asynchronous, Kinds: []election.MessageKind{{Name: "none"}},
	},
	New: func(l election.Local) gambler { return gambler{l.ID} },
	Start: func(p *gambler, out *election.Out[struct{}]) {
		switch out.Choose(3) {
		case 0:
			out.Follow(p.ID, 0) // 0
		case 1:
			out.Follow(p.ID, 0) // 1
			out.NoLeader()      // 1
		default:
			out.NoLeader() // 2
		}
	},
	Receive: func(*gambler, election.Port, election.Kind, struct{}, *election.Out[struct{}]) {},
}

// The lines are found by making the step again, with the same choices.
func TestTheLinesOfAStepAreThoseOfItsChoices(t *testing.T) {
	text, err := os.ReadFile("lines_test.go")
	if err != nil {
		t.Fatal(err)
	}
	code := append([]string{""}, strings.Split(string(text), "\n")...)
	seen := map[string]bool{}
	for seed := range uint64(20) {
		r, err := simulate.New(small(chance)).Run(simulate.Options{Setup: numbered(3), Record: true, Lines: asWritten, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range r.Record.Steps {
			var roles, marks []string
			for _, d := range step.Decided {
				roles = append(roles, d.Role)
			}
			for _, line := range step.Lines {
				if _, mark, marked := strings.Cut(code[line], "// "); marked { // the test itself is in the package, too
					marks = append(marks, mark)
				}
			}
			want := map[string]string{"follower": "0", "follower undecided": "1 1", "undecided": "2"}[strings.Join(roles, " ")]
			if got := strings.Join(marks, " "); got != want {
				t.Errorf("seed %d, process %d decides %q on lines %q, want %q", seed, step.Process, roles, got, want)
			}
			seen[want] = true
		}
	}
	if len(seen) != 3 {
		t.Errorf("the choices were %v", seen)
	}
}

func TestAWalkHasTheLinesOfARun(t *testing.T) {
	r, err := simulate.New(lcr.Program).Run(simulate.Options{Setup: network.On(3, 5, 1), Record: true, Lines: asWritten})
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, lcr.Program, simulate.Options{Setup: network.On(3, 5, 1), Lines: asWritten})
	if err := s.Follow(r.Record); err != nil {
		t.Fatal(err)
	}
	if made := s.Record().Steps; !slices.EqualFunc(made, r.Record.Steps, func(s, t trace.Step) bool { return slices.Equal(s.Lines, t.Lines) && len(s.Lines) > 0 }) {
		t.Errorf("%+v, want %+v", made, r.Record.Steps)
	}
}

func BenchmarkLines(b *testing.B) {
	ids := make(election.List, 200)
	for p := range ids {
		ids[p] = uint64(len(ids) - p)
	}
	for name, lines := range map[string]func(string, int) int{"without": nil, "with": asWritten} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := simulate.New(lcr.Program).Run(simulate.Options{Setup: network.Setup{IDs: ids}, Record: true, Lines: lines}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
