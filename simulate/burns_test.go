package simulate_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/runners/afekgafni"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/dolevklawerodeh"
	"ringleader.example/ringleader/internal/runners/dolevklawerodehb"
	"ringleader.example/ringleader/internal/runners/franklin"
	"ringleader.example/ringleader/internal/runners/highamprzytycka"
	"ringleader.example/ringleader/internal/runners/hirschbergsinclair"
	"ringleader.example/ringleader/internal/runners/itairodeh"
	"ringleader.example/ringleader/internal/runners/lelann"
	"ringleader.example/ringleader/internal/runners/minmax"
	"ringleader.example/ringleader/internal/runners/peterson"
	"ringleader.example/ringleader/internal/runners/petersonalternating"
	"ringleader.example/ringleader/internal/runners/ringbullysimple"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

func ring(t *testing.T, name string, n int) network.Setup {
	t.Helper()
	o, err := order.Parse(name, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	return network.Setup{IDs: o}
}

func runBurns(t *testing.T, p program.Program, o simulate.Options) *simulate.Result {
	t.Helper()
	r, err := under(p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// uniform are the algorithms on asynchronous rings that do not know n.
var uniform = []struct {
	name    string
	program program.Program
	want    [][2]uint64 // decreasing order, n = 2, 4, … 64: open deliveries, total messages
}{
	{"lcr", small(lcr.Algorithm), [][2]uint64{{1, 5}, {4, 11}, {16, 29}, {64, 89}, {256, 305}, {1024, 1121}}},
	{"ring-bully", small(ringbully.Algorithm), [][2]uint64{{3, 12}, {14, 32}, {44, 84}, {125, 202}, {321, 478}, {788, 1096}}},
	{"hirschberg-sinclair", hirschbergsinclair.Program, [][2]uint64{{4, 12}, {17, 32}, {51, 88}, {144, 212}, {366, 508}, {895, 1168}}},
	{"franklin", franklin.Program, [][2]uint64{{2, 10}, {9, 20}, {25, 56}, {69, 112}, {165, 288}, {405, 576}}},
	{"dolev-klawe-rodeh", dolevklawerodeh.Program, [][2]uint64{{1, 8}, {6, 16}, {21, 48}, {56, 96}, {147, 256}, {358, 512}}},
	{"peterson-alternating", petersonalternating.Program, [][2]uint64{{1, 6}, {5, 16}, {17, 40}, {45, 80}, {113, 192}, {277, 448}}},
	{"ring-bully-simple", ringbullysimple.Program, nil},
	{"lelann", lelann.Program, nil},
	{"peterson", peterson.Program, nil},
	{"dolev-klawe-rodeh-b", dolevklawerodehb.Program, nil},
	{"minmax", minmax.Program, nil},
	{"higham-przytycka", highamprzytycka.Program, nil},
}

func TestBurnsTable(t *testing.T) {
	for _, a := range uniform {
		for i, want := range a.want {
			n := 2 << i
			o := simulate.Options{Setup: ring(t, "decreasing", n)}
			if a.name == "hirschberg-sinclair" {
				o.Setup.Parameters = map[string]string{"announce": "no"}
			}
			r := runBurns(t, a.program, o)
			if got := [2]uint64{r.Open.Messages, r.Messages.Total}; got != want {
				t.Errorf("%s, n=%d: %d open deliveries and %d messages, want %d", a.name, n, got[0], got[1], want)
			}
		}
	}
}

// The claim is M(n): M(2) = 1, M(n) = 2M(n/2) + (n/2 - 1)/2.
func TestBurnsReachesHisClaimAndThenOneLeads(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, a := range uniform {
		claim := 1.0
		for n := 2; n <= 256; n *= 2 {
			if n > 2 {
				claim = 2*claim + float64(n/2-1)/2
			}
			for _, name := range []string{"increasing", "decreasing", "random"} {
				o := simulate.Options{Setup: ring(t, name, n)}
				r := runBurns(t, a.program, o)
				if r.Open.Claim != claim || float64(r.Open.Messages) < claim {
					t.Errorf("%s, n=%d, %s: %d open deliveries, a claim of %v; want at least M(n) = %v", a.name, n, name, r.Open.Messages, r.Open.Claim, claim)
				}
				if !r.Right || !r.Complete || len(r.Faults) > 0 || r.Deliveries != r.Messages.Total {
					t.Errorf("%s, n=%d, %s: leaders at %v, %d of %d decided, %v", a.name, n, name, r.Leaders, r.Decided, r.Live, r.Faults)
				}
				given, made := make([]uint64, n), make([]uint64, n)
				for p := range n {
					given[p], made[p] = o.Setup.IDs.At(p), r.Prepared.Real(p)
				}
				slices.Sort(given)
				if slices.Sort(made); !slices.Equal(given, made) {
					t.Errorf("%s, n=%d, %s: other processes than were given", a.name, n, name)
				}
			}
		}
	}
}

func TestNothingIsDeliveredOverOneEdgeBeforeTheLastIsOpened(t *testing.T) {
	const n = 32
	flipped := make([]bool, n)
	for p := range flipped {
		flipped[p] = p%3 == 0
	}
	turned := ring(t, "random", n)
	turned.Flipped = flipped
	for name, r := range map[string]*simulate.Result{
		"lcr":               runBurns(t, small(lcr.Algorithm), simulate.Options{Setup: ring(t, "random", n), Record: true}),
		"ring-bully":        runBurns(t, small(ringbully.Algorithm), simulate.Options{Setup: ring(t, "random", n), Record: true}),
		"ports called both": runBurns(t, hirschbergsinclair.Program, simulate.Options{Setup: turned, Record: true}),
	} {
		if err := r.Record.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r.Record.Header.Schedule != "burns" || r.Record.Header.Clock || !r.Right {
			t.Errorf("%s: schedule %s, clock %v, right %v", name, r.Record.Header.Schedule, r.Record.Header.Clock, r.Right)
		}
		var over [n]uint64 // by edge
		deliveries := uint64(0)
		for i, step := range r.Record.Steps {
			if i < n != (step.Event == trace.Start) {
				t.Fatalf("%s: step %d is %s; all start first", name, i, step.Event)
			}
			if step.Event == trace.Receive && deliveries < r.Open.Messages {
				deliveries++
				from, to := step.From-1, step.Process
				if (from+1)%n == to {
					over[from]++
				} else {
					over[to]++
				}
			}
		}
		shut := 0
		for _, messages := range over {
			if messages == 0 {
				shut++
			}
		}
		if shut != 1 || over[n-1] != 0 {
			t.Errorf("%s: %d deliveries over the edges; want none over just one, the last", name, over)
		}
	}
}

func TestBurnsRefusesWhatHisProofDoesNotCover(t *testing.T) {
	refused := func(want string, _ *simulate.Result, err error) {
		t.Helper()
		if err == nil || !errors.Is(err, simulate.ErrOptions) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line that says %q", err, want)
		}
	}
	try := func(want string, o simulate.Options) {
		t.Helper()
		r, err := under(small(lcr.Algorithm), o)
		refused(want, r, err)
	}
	try("2 or 4 would do", simulate.Options{Setup: ring(t, "random", 1)})
	try("2 or 4 would do", simulate.Options{Setup: ring(t, "random", 3)})
	try("64 or 128 would do", simulate.Options{Setup: ring(t, "random", 100)})
	try("leave out times of starts", simulate.Options{Setup: ring(t, "random", 4), AnyTime: true})
	try("leave out times of starts", simulate.Options{Setup: ring(t, "random", 4), Initiators: []int{1}})
	try("dead processes", simulate.Options{Setup: ring(t, "random", 4), Faults: faults.Script{Dead: []int{1}}})
	try("asynchronous", simulate.Options{Setup: ring(t, "random", 4), Timing: election.Synchronous})
	try("order", simulate.Options{Setup: ring(t, "random", 4), Schedule: simulate.Random, Faults: faults.Script{Unordered: true}})
	try("different identifiers", simulate.Options{Setup: network.Setup{IDs: election.List{1, 1}, Duplicates: true}})
	r, err := under(itairodeh.Program, simulate.Options{Setup: ring(t, "random", 4)})
	refused("it knows n", r, err)
	r, err = under(bully.Program, simulate.Options{Setup: ring(t, "random", 4)})
	refused("timed", r, err)
	r, err = under(afekgafni.Program, simulate.Options{Setup: ring(t, "random", 4)})
	refused("complete graph", r, err)
	chance := lcr.Algorithm
	chance.Start = func(p *lcr.Process, out *election.Out[lcr.Message]) {
		out.Choose(2)
		p.Start(out)
	}
	r, err = under(small(chance), simulate.Options{Setup: ring(t, "random", 4)})
	refused("by chance", r, err)
}

// counting is a process of LCR that counts what it receives.
type counting struct {
	lcr.Process
	Heard int
}

// counted returns LCR whose processes call broken before they start, with no identifier, and before each receipt.
func counted(broken func(p *counting, received election.ID)) election.Algorithm[counting, lcr.Message] {
	return election.Algorithm[counting, lcr.Message]{
		Declaration: lcr.Algorithm.Declaration,
		New:         func(l election.Local) counting { return counting{Process: lcr.Algorithm.New(l)} },
		Start: func(p *counting, out *election.Out[lcr.Message]) {
			broken(p, 0)
			p.Start(out)
		},
		Receive: func(p *counting, port election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
			p.Heard++
			broken(p, m.ID)
			p.Process.Receive(port, kind, m, out)
		},
	}
}

// Every event of the adversary's search is made the violation, also those of the schedules that it tries and rejects.
func TestAViolationUnderBurnsAdversaryHasItsStory(t *testing.T) {
	type event struct {
		process, received election.ID
		heard             int
	}
	const n = 8
	events := map[event]bool{}
	o := simulate.Options{Schedule: simulate.Burns, Setup: ring(t, "decreasing", n)}
	if _, err := under(small(counted(func(p *counting, received election.ID) { events[event{p.ID, received, p.Heard}] = true })), o); err != nil {
		t.Fatal(err)
	}
	if len(events) < 40 {
		t.Errorf("%d events", len(events))
	}
	for e := range events {
		a := counted(func(p *counting, received election.ID) {
			if (event{p.ID, received, p.Heard}) == e {
				panic("so")
			}
		})
		for _, o.Record = range []bool{false, true} {
			v, story := violation(t, small(a), o)
			if !strings.HasSuffix(story, "BREAKS THE CONTRACT: panics: so\n") || !strings.HasPrefix(v.Detail, fmt.Sprintf("process %d ", e.process)) {
				t.Errorf("%+v: %s\n%s", e, v.Detail, story)
				continue
			}
			var b bytes.Buffer
			_, err := v.Record.WriteTo(&b)
			if _, again := trace.Read(&b); err != nil || again != nil {
				t.Errorf("%+v: %v, %v", e, err, again)
			}
		}
	}
}

func TestAViolationUnderBurnsAdversaryThatDoesNotHappenAgainIsReported(t *testing.T) {
	once := 0
	a := receiving(func(p *lcr.Process, port election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		if once++; once == 10 {
			panic("so")
		}
		p.Receive(port, kind, m, out)
	})
	runner := simulate.New(small(a))
	o := simulate.Options{Schedule: simulate.Burns, Setup: ring(t, "decreasing", 8), Record: true}
	_, _ = runner.Run(o) // with a rehearsal, which the next run has behind it
	once = 0
	_, err := runner.Run(o)
	if v := new(simulate.Violation); !errors.As(err, &v) || v.Record != nil || v.Property != process.Panicked {
		t.Errorf("%v: %+v", err, v)
	}
}

func TestBurnsEndsAtTheLimitAndWhenAsked(t *testing.T) {
	answering := ringbully.Algorithm // neighbours send one message back and forth for ever
	answering.Receive = func(_ *ringbully.Process, port election.Port, kind election.Kind, m ringbully.Message, out *election.Out[ringbully.Message]) {
		out.Send(port, kind, m)
	}
	r := runBurns(t, small(answering), simulate.Options{Setup: ring(t, "random", 8), Limit: 1000})
	if r.Complete || r.Open != nil {
		t.Errorf("no open schedule to be found: complete %v, open %v", r.Complete, r.Open)
	}
	told := 0
	r = runBurns(t, small(answering), simulate.Options{Setup: ring(t, "random", 8), Progress: func(uint64) bool {
		told++
		return false
	}})
	if told != 1 || r.Complete || r.Open != nil {
		t.Errorf("told %d times, complete %v, open %v", told, r.Complete, r.Open)
	}
	relaying := lcr.Algorithm // one message goes round for ever
	relaying.Receive = func(_ *lcr.Process, _ election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		out.Send(lcr.Right, kind, m)
	}
	r = runBurns(t, small(relaying), simulate.Options{Setup: ring(t, "random", 8), Limit: 1000})
	if r.Complete || r.Open == nil || r.Deliveries != 1000 {
		t.Errorf("complete %v after %d deliveries, open %v; want an open schedule and then the limit", r.Complete, r.Deliveries, r.Open)
	}
}

func TestBurnsFindsBrokenSteps(t *testing.T) {
	broken := lcr.Algorithm
	broken.Start = func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.Send(2, lcr.Election, lcr.Message{}) }
	if _, err := under(small(broken), simulate.Options{Setup: ring(t, "random", 4)}); !errors.Is(err, simulate.ErrBroken) {
		t.Errorf("error %v, want %v", err, simulate.ErrBroken)
	}
}

// under runs an algorithm with Burns' adversary.
func under(p program.Program, o simulate.Options) (*simulate.Result, error) {
	o.Schedule = simulate.Burns
	return simulate.New(p).Run(o)
}
