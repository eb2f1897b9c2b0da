package verify

import (
	"fmt"
	"math/big"
	"testing"

	"ringleader.example/ringleader/algorithms/afekgafni"
	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/franklin"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/runners/invitation"
	"ringleader.example/ringleader/internal/runners/lcrsynchronous"
	"ringleader.example/ringleader/internal/runners/quorumbully"
	"ringleader.example/ringleader/internal/runners/variablespeeds"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify/internal/model"
)

// moments are the times of a run: elected, decided, quiet.
type moments [3]election.Ticks

// inTime returns two programs of an algorithm: as it is, and as one whose messages have a time in any case.
func inTime[S, M any](a election.Algorithm[S, M]) [2]*process.Program {
	plain := process.Must(process.Of(&a))
	if a.Timing == election.Asynchronous {
		a.Timing = election.Timed
	}
	return [2]*process.Program{plain, process.Must(process.Of(&a))}
}

// both returns the program of an algorithm whose messages have a time in any case, as inTime does.
func both(p *process.Program) [2]*process.Program { return [2]*process.Program{p, p} }

// byTrying returns the least and the greatest times of all complete runs of a setup, each of which is made: nothing is left
// out but runs that continue as another one does, from the same configuration with the same times.
func byTrying(t *testing.T, program *process.Program, o Options) (least, most moments) {
	t.Helper()
	if err := o.check(program.Declaration, program.Functions); err != nil {
		t.Fatal(err)
	}
	c, err := model.NewChecker(program, o.model(), o.Setup)
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		conf  model.Configuration
		now   election.Ticks
		times moments
	}
	var open []place
	seen, ends := map[string]bool{}, 0
	reach := func(p place) {
		if key := fmt.Sprint(p); !seen[key] {
			seen[key] = true
			p.conf = append(model.Configuration{}, p.conf...)
			open = append(open, p)
		}
	}
	for _, conf := range c.Beginnings() {
		reach(place{conf: conf})
	}
	for ; len(open) > 0; ends++ {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		goes := false
		c.Transitions(at.conf, func(taken *model.Transition, next model.Configuration) {
			goes = goes || taken.Class == model.Due
			to := place{next, at.now.Add(taken.Time), at.times}
			if taken.Event != model.Waits {
				was, is := c.Process(at.conf, taken.Process).Decision, c.Process(next, taken.Process).Decision
				if is != was {
					to.times[1] = to.now
				}
				if is != was && is.Role == network.Leader {
					to.times[0] = to.now
				}
				if taken.Event == model.Receives {
					to.times[2] = to.now
				}
			}
			reach(to)
		})
		if goes {
			ends--
			continue
		}
		for i, time := range at.times {
			if ends == 0 || time.Less(least[i]) {
				least[i] = time
			}
			if most[i].Less(time) {
				most[i] = time
			}
		}
	}
	return least, most
}

func TestTimesAreThoseOfAllSchedules(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	silence := both(variablespeeds.Program.Hidden())
	for _, test := range []struct {
		of   [2]*process.Program
		o    Options
		want string // of quiet
	}{
		{inTime(lcr.Algorithm), Options{Size: 4}, "8 to 8"},
		{inTime(lcr.Algorithm), Options{Setup: network.On(2, 1, 3), Initiators: []int{1}}, "7 to 7"},
		{inTime(lcr.Algorithm), Options{Setup: network.On(2, 1, 3), Starts: EverySet}, "6 to 8"},
		{both(lcrsynchronous.Program.Hidden()), Options{Size: 4}, "4 to 4"},
		{inTime(franklin.Algorithm), Options{Size: 4}, "9 to 11"},
		{inTime(ringbully.Algorithm), Options{Size: 3}, "12 to 12"},
		{inTime(afekgafni.Algorithm), Options{Size: 3}, "5 to 7"},
		{inTime(afekgafni.Algorithm), Options{Size: 3, Unordered: true, Reduce: AnyReduction, Cores: 2}, "5 to 7"},
		{inTime(bully.Algorithm), Options{Size: 3}, "2 to 3"},
		{inTime(bully.Algorithm), Options{Size: 3, Setup: network.Setup{Parameters: map[string]string{"delay": "2"}}}, ""},
		{inTime(bully.Algorithm), Options{Size: 3, Initiators: []int{0}, Crashes: 1, Commands: 0, Suspicions: 1}, ""},
		{silence, Options{Setup: network.On(70, 69)}, ""},
	} {
		checkTimes(t, test.of, test.o, test.want)
	}
}

func checkTimes(t *testing.T, of [2]*process.Program, o Options, want string) {
	t.Helper()
	name := of[0].Name + " " + fmt.Sprint(o.Size, o.Setup.IDs, o.Starts, o.Delay)
	o.Extremes = true
	r, err := Program(of[0], o)
	if err != nil || r.Extremes == nil || r.Extremes.Time == nil {
		t.Fatalf("%s: %+v, %v", name, r, err)
	}
	var least, most moments
	var leasts, mosts [3]big.Int
	orders := int64(0)
	for setup := range setups(of[0].Declaration, &o) {
		alone := o
		alone.Setup, alone.Crashes, alone.Losses, alone.Suspicions = setup, 0, 0, 0
		few, many := byTrying(t, of[1], alone)
		for i := range few {
			if orders == 0 || few[i].Less(least[i]) {
				least[i] = few[i]
			}
			if most[i].Less(many[i]) {
				most[i] = many[i]
			}
			leasts[i].Add(&leasts[i], few[i].Big())
			mosts[i].Add(&mosts[i], many[i].Big())
		}
		orders++
	}
	for i, e := range []*Extreme{&r.Extremes.Time.Elected, &r.Extremes.Time.Decided, &r.Extremes.Time.Quiet} {
		if e.Min.Value != least[i] || e.Max.Value != most[i] {
			t.Errorf("%s: time %d is %s to %s; want %s to %s", name, i, e.Min.Value, e.Max.Value, least[i], most[i])
		}
		if e.MeanMin.Cmp(new(big.Rat).SetFrac(&leasts[i], big.NewInt(orders))) != 0 || e.MeanMax.Cmp(new(big.Rat).SetFrac(&mosts[i], big.NewInt(orders))) != 0 {
			t.Errorf("%s: time %d has means %s and %s; want the sums %s and %s by %d", name, i, e.MeanMin, e.MeanMax, &leasts[i], &mosts[i], orders)
		}
		if few, many := momentsOf(&e.Min.Record)[i], momentsOf(&e.Max.Record)[i]; few != least[i] || many != most[i] {
			t.Errorf("%s: the runs have time %d at %s and %s; want %s and %s", name, i, few, many, least[i], most[i])
		}
	}
	if got := fmt.Sprintf("%s to %s", least[2], most[2]); want != "" && got != want {
		t.Errorf("%s: %s units until quiescence; want %s", name, got, want)
	}
}

// momentsOf returns the times of a recorded run.
func momentsOf(r *trace.Record) (times moments) {
	before := map[int]string{}
	for _, step := range r.Steps {
		for _, d := range step.Decided {
			is := fmt.Sprint(d.Role, d.Term)
			if d.Leader != nil {
				is = fmt.Sprint(is, *d.Leader)
			}
			if is == before[step.Process] {
				continue
			}
			if before[step.Process], times[1] = is, step.Time; d.Role == network.Leader.String() {
				times[0] = step.Time
			}
		}
		if step.Event == trace.Receive {
			times[2] = step.Time
		}
	}
	return times
}

// A time without bound is one that some run, or every run, lacks.
func TestATimeMayHaveNoBound(t *testing.T) {
	for _, test := range []struct {
		program     *process.Program
		o           Options
		least, most [3]bool
	}{
		{process.Must(process.Of(new(coins(2)))), Options{Size: 2}, [3]bool{}, [3]bool{true, true, true}},
		{invitation.Program.Hidden(), Options{Size: 2}, [3]bool{2: true}, [3]bool{2: true}}, // it polls for ever
	} {
		test.o.Extremes = true
		r, err := Program(test.program, test.o)
		if err != nil || r.Extremes == nil || r.Extremes.Time == nil {
			t.Fatalf("%s: %+v, %v", test.program.Name, r, err)
		}
		for i, e := range []*Extreme{&r.Extremes.Time.Elected, &r.Extremes.Time.Decided, &r.Extremes.Time.Quiet} {
			if e.Min.Unbounded != test.least[i] || e.Max.Unbounded != test.most[i] || (e.MeanMin == nil) != test.least[i] || (e.MeanMax == nil) != test.most[i] {
				t.Errorf("%s: time %d is %+v", test.program.Name, i, e)
			}
		}
	}
}

func TestWhyNoTimeIsStated(t *testing.T) {
	for _, test := range []struct {
		program *process.Program
		o       Options
		want    string
	}{
		{process.Must(process.Of(&lcr.Algorithm)), Options{Size: 2}, ""},
		{process.Must(process.Of(&lcr.Algorithm)), Options{Size: 2, Starts: EverySet}, ""},
		{process.Must(process.Of(&lcr.Algorithm)), Options{Size: 2, Starts: AnyTime}, "a process may initiate after any time"},
		{process.Must(process.Of(&lcr.Algorithm)), Options{Size: 2, Starts: Each}, "a process may initiate after any time"},
		{process.Must(process.Of(&ringbully.Algorithm)), Options{Size: 2}, ""},
		{process.Must(process.Of(&ringbully.Algorithm)), Options{Setup: network.On(1, 2), Initiators: []int{1}}, "a process may initiate after any time"},
		{process.Must(process.Of(&ringbully.Algorithm)), Options{Size: 2, Starts: EverySet}, "a process may initiate after any time"},
		{quorumbully.Program.Hidden(), Options{Size: 1}, "a leader renews its lease for ever"},
		{quorumbully.Program.Hidden(), Options{Size: 1, Lazy: true}, "in lazy time a message takes any time"},
	} {
		if got := test.o.untimed(test.program.Declaration); got != test.want {
			t.Errorf("%s, %+v: %q; want %q", test.program.Name, test.o, got, test.want)
		}
	}
}

// With delays of up to 2 units the moment at which one process receives matters to another: here process 3 leads if one answer has
// overtaken the other by two units. A timer that expires after the last message has arrived does not count.
func TestProcessesTakeTurnsOnlyIfMessagesTakeOneUnit(t *testing.T) {
	a := calling(election.Timed, func(p *caller, out calls) {
		out.After(0, election.Units(20))
		out.Send(0, ring, call{})
		out.Send(1, ring, call{})
	})
	a.OneWay, a.Decides, a.Winner = false, election.LeaderOnly, election.Unspecified
	a.Receive = func(p *caller, port election.Port, _ election.Kind, _ call, out calls) {
		switch {
		case p.ID != 3:
			out.Send(port, ring, call{})
		case p.Heard < 2 && port == 1: // from process 2
			p.Heard++
			if out.Send(1, ring, call{}); p.Heard == 2 {
				out.Lead(0)
			}
		default:
			p.Heard = 2
		}
	}
	of := inTime(a)
	for delay, leads := range map[int]string{1: "0", 2: "4"} {
		o := Options{Setup: network.On(1, 2, 3), Initiators: []int{2}, Delay: delay, SafetyOnly: true}
		checkTimes(t, of, o, "")
		o.Extremes = true
		r, err := Program(of[0], o)
		if err != nil || r.Extremes.Time.Elected.Max.Value.String() != leads {
			t.Errorf("delays up to %d: %+v, %v; want a leader at %s", delay, r.Extremes.Time.Elected, err, leads)
		}
	}
}
