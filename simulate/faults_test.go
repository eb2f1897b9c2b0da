package simulate_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// word is a message of chatter: how often its sender has spoken.
type word struct{ Spoken uint32 }

// speaker is a process of chatter.
type speaker struct {
	ID, Members election.ID
	Spoken      uint32 // durable
}

// chatter elects no leader: every process sends a word to all others when it starts, and again after 10 and 20 units.
// So a record shows the effects of faults, and nothing else.
var chatter = election.Algorithm[speaker, word]{
	Declaration: election.Declaration{
		Name: "chatter", Topology: election.Complete, Timing: election.Timed, KnowsSize: true, Task: election.Service,
		Survives: election.Crash | election.Recovery, Kinds: []election.MessageKind{{Name: "word"}}, Timers: []string{"pause"},
	},
	New: func(l election.Local) speaker { return speaker{ID: l.ID, Members: election.ID(l.N)} },
	Start: func(s *speaker, out *election.Out[word]) {
		s.Spoken++
		for id := election.ID(1); id <= s.Members; id++ {
			if id != s.ID {
				out.Send(election.To(id), 0, word{s.Spoken})
			}
		}
		if s.Spoken < 3 {
			out.After(0, election.Units(10))
		}
	},
	Receive: func(*speaker, election.Port, election.Kind, word, *election.Out[word]) {},
	Timeout: func(s *speaker, _ election.Timer, out *election.Out[word]) { speak(s, out) },
	Recover: func(s *speaker, out *election.Out[word]) { speak(s, out) },
	Suspect: func(*speaker, election.Port, *election.Out[word]) {},
	Trust:   func(*speaker, election.Port, *election.Out[word]) {},
	Durable: func(s *speaker) any { return &s.Spoken },
}

func init() { speak = chatter.Start }

var speak func(*speaker, *election.Out[word])

// suffer runs chatter among n processes with faults, and returns the recorded steps of some processes, without what
// they send.
func suffer(t *testing.T, n int, delay uint64, lines ...string) *simulate.Result {
	t.Helper()
	o := simulate.Options{Setup: numbered(n), Delay: delay, Record: true, Faults: scripted(t, n, lines...)}
	r, err := simulate.New(small(chatter)).Run(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Record.Validate(); err != nil {
		t.Fatal(err)
	}
	return r
}

func numbered(n int) network.Setup {
	ids := make([]uint64, n)
	for p := range ids {
		ids[p] = uint64(p + 1)
	}
	return network.On(ids...)
}

// scripted reads faults among processes 1 to n.
func scripted(t interface {
	Helper()
	Fatal(...any)
}, n int, lines ...string,
) faults.Script {
	t.Helper()
	r := faults.NewReader(numbered(n).IDs)
	for _, line := range lines {
		if err := r.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	return r.Script
}

// steps returns the steps of a record at the process with an identifier, as text; only these events, if any are
// named.
func steps(r *simulate.Result, id int, events ...trace.Event) (all []string) {
	for _, s := range r.Record.Steps {
		if s.Process != id-1 || len(events) > 0 && !slices.Contains(events, s.Event) {
			continue
		}
		text := fmt.Sprintf("%s %s", s.Time, s.Event)
		if s.From > 0 {
			text += fmt.Sprintf(" %d", s.From)
		}
		if s.Text != "" {
			text += ": " + s.Text
		}
		all = append(all, text)
	}
	return all
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const (
	gets     = trace.Receive
	loses    = trace.Lost
	suspects = trace.Suspect
	trusts   = trace.Trust
)

func TestACutLosesWhatIsSentOrWouldArriveOneWay(t *testing.T) {
	// Words leave at 0, 10, 20 and take one unit.
	for line, want := range map[string][]string{
		"cut 1 -> 2 from 0 until 1":   {"1 lost 1: 1", "11 receive 1: 2", "21 receive 1: 3"},
		"cut 1 -> 2 from 1 until 10":  {"1 lost 1: 1", "11 receive 1: 2", "21 receive 1: 3"},
		"cut 1 -> 2 from 2 until 10":  {"1 receive 1: 1", "11 receive 1: 2", "21 receive 1: 3"},
		"cut 1 -> 2 from 10 until 11": {"1 receive 1: 1", "11 lost 1: 2", "21 receive 1: 3"},
		"cut 1 -> 2 from 10":          {"1 receive 1: 1", "11 lost 1: 2", "21 lost 1: 3"},
		"partition 1 | 2 from 10":     {"1 receive 1: 1", "11 lost 1: 2", "21 lost 1: 3"},
	} {
		r := suffer(t, 2, 1, line)
		same(t, line, steps(r, 2, gets, loses), want...)
		back := "21 receive 2: 3"
		if line[:3] == "par" {
			back = "21 lost 2: 3"
		}
		same(t, line+", the other way", steps(r, 1, gets, loses)[2:], back)
		if lost := uint64(strings.Count(strings.Join(slices.Concat(steps(r, 1), steps(r, 2)), "\n"), "lost")); r.Lost != lost {
			t.Errorf("%s: %d lost, %d in the record", line, r.Lost, lost)
		}
	}
}

func TestWhatIsUnderWayBeforeAndAfterACutArrives(t *testing.T) {
	r := suffer(t, 2, 1, "slow 1 by 5 from 0 until 1", "cut 1 -> 2 from 2 until 4")
	same(t, "a word that takes 5", steps(r, 2, gets, loses)[:1], "5 receive 1: 1")
	r = suffer(t, 2, 1, "slow 1 by 5 from 0 until 1", "cut 1 -> 2 from 2 until 6")
	same(t, "a word that takes 5", steps(r, 2, gets, loses)[:1], "5 lost 1: 1")
}

func TestAPartialPartitionKeepsOtherLinks(t *testing.T) {
	r := suffer(t, 4, 1, "partition 1 | 2 from 0 until 5")
	same(t, "2", steps(r, 2, gets, loses)[:3], "1 lost 1: 1", "1 receive 3: 1", "1 receive 4: 1")
	same(t, "3", steps(r, 3, gets, loses)[:3], "1 receive 1: 1", "1 receive 2: 1", "1 receive 4: 1")
}

func TestADetectorSuspectsAcrossACutAfterTheLongestDelayAndTrustsAfterIt(t *testing.T) {
	r := suffer(t, 3, 4, "cut 1 -> 2 from 3 until 50")
	same(t, "the process that does not hear", steps(r, 2, suspects, trusts), "7 suspect 1", "50 trust 1")
	same(t, "the process that is not heard", steps(r, 1, suspects, trusts))
	same(t, "the process that hears all", steps(r, 3, suspects, trusts))
	r = suffer(t, 3, 4, "cut 1 -> 2 from 3 until 7") // ends before any process notices
	same(t, "a short cut", steps(r, 2, suspects, trusts))
	r = suffer(t, 3, 1, "partition 1 | 2,3 from 3 until 50", "cut 1 -> 2 from 40 until 60")
	same(t, "two cuts, 2", steps(r, 2, suspects, trusts), "4 suspect 1", "60 trust 1")
	same(t, "two cuts, 3", steps(r, 3, suspects, trusts), "4 suspect 1", "50 trust 1")
}

func TestWhatIsSentWhenACutIsOverArrives(t *testing.T) {
	r, err := simulate.New(bully.Program).Run(simulate.Options{
		Setup: network.On(1, 2, 3, 4, 5), Initiators: []int{4}, Record: true,
		Faults: faults.Script{Cuts: []faults.Cut{faults.Partition(election.Units(10), election.Units(60), []int{0, 1, 2}, []int{3, 4})}},
	})
	if err != nil {
		t.Fatal(err)
	}
	trusted := 0
	for _, s := range r.Record.Steps {
		if s.Event == trace.Trust {
			trusted++
		}
		if s.Event == trace.Lost && trusted > 0 {
			t.Fatalf("lost after all links are back: %+v", s)
		}
	}
	if trusted != 12 {
		t.Errorf("%d times a process trusts again, not 12", trusted)
	}
}

func TestNoProcessTrustsACrashedOneWhenACutEnds(t *testing.T) {
	r := suffer(t, 2, 1, "partition 1 | 2 from 3 until 50", "crash 1 at 20")
	same(t, "2", steps(r, 2, suspects, trusts), "4 suspect 1")
	r = suffer(t, 2, 1, "partition 1 | 2 from 3 until 50", "crash 1 at 20", "recover 1 at 30")
	same(t, "2", steps(r, 2, suspects, trusts), "4 suspect 1", "31 suspect 1", "50 trust 1")
	same(t, "1", steps(r, 1, suspects, trusts), "4 suspect 2", "31 suspect 2", "50 trust 2")
	r = suffer(t, 2, 1, "suspect 2 of 1 from 12 until 15", "crash 1 at 13")
	same(t, "2", steps(r, 2, suspects, trusts), "12 suspect 1")
}

func TestAMistakeOfADetectorEndsInTimeOrWithAMessage(t *testing.T) {
	r := suffer(t, 2, 1, "suspect 2 of 1 from 3 until 8")
	same(t, "in time", steps(r, 2, suspects, trusts), "3 suspect 1", "8 trust 1")
	r = suffer(t, 2, 1, "suspect 2 of 1 from 3 until 15", "suspect 2 of 1 from 5 until 13", "suspect 2 of 1 from 12 until 14")
	same(t, "with a message", steps(r, 2, suspects, trusts, gets)[1:4], "3 suspect 1", "11 trust 1", "11 receive 1: 2")
	same(t, "and again", steps(r, 2, suspects, trusts)[2:], "12 suspect 1", "14 trust 1")
}

func TestACrashAmidABroadcastLetsAPrefixLeave(t *testing.T) {
	const n = 5
	for sends := range n - 1 {
		r := suffer(t, n, 1, fmt.Sprintf("crash 5 at 7 after %d sends", sends))
		for id := 1; id < n; id++ {
			heard := len(steps(r, id, gets)) - 3*(n-2) - 1 // the others' words, and the first one of 5
			if want := map[bool]int{true: 1}[id <= sends]; heard != want {
				t.Errorf("after %d sends, %d heard %d second words of 5", sends, id, heard)
			}
			same(t, "what they notice", steps(r, id, suspects), "11 suspect 5")
		}
		same(t, "5", steps(r, 5, trace.Timeout, trace.Crash), "10 timeout: pause", fmt.Sprintf("10 crash: after %d of 4 messages", sends))
		last := r.Record.Steps[slices.IndexFunc(r.Record.Steps, func(s trace.Step) bool { return s.Event == trace.Crash })-1]
		if len(last.Sent) != sends || len(last.Timers) != 0 || r.Messages.Total != uint64(3*4*4+4+sends) || len(r.Missed) != 0 {
			t.Errorf("after %d sends: %+v, %d messages in all", sends, last, r.Messages.Total)
		}
	}
	r := suffer(t, n, 1, "crash 5 at 7 after 4 sends")
	if len(r.Dead) > 0 || !slices.Equal(r.Missed, []string{"crash 5 at 7 after 4 sends"}) {
		t.Errorf("dead %v, missed %v; no step sends more than 4", r.Dead, r.Missed)
	}
	r = suffer(t, n, 1, "crash 5 at 3 after 0 sends", "recover 5 at 4")
	if len(r.Dead) > 0 || len(r.Missed) != 1 || len(steps(r, 5, trace.Recover)) > 0 {
		t.Errorf("dead %v, missed %v; it recovers before it would crash", r.Dead, r.Missed)
	}
	r = suffer(t, n, 1, "crash 5 at 0 after 2 sends") // during its start
	same(t, "5", steps(r, 5), append([]string{"0 start", "0 crash: after 2 of 4 messages"}, steps(r, 5, loses)...)...)
}

// Durable state is saved before any message leaves: a process that crashed during a step knows that it took the step.
func TestACrashAmidAStepKeepsWhatItHasToKeep(t *testing.T) {
	r := suffer(t, 3, 1, "crash 3 at 5 after 0 sends", "recover 3 at 30")
	same(t, "after its third word", steps(r, 1, gets)[4:], "31 receive 3: 3")
	forgetful := chatter
	forgetful.Durable = func(s *speaker) any { return &s.Members }
	o := simulate.Options{Setup: numbered(3), Delay: 1, Record: true, Faults: scripted(t, 3, "crash 3 at 5 after 0 sends", "recover 3 at 30")}
	mutant := run(t, small(forgetful), o)
	if slices.Equal(steps(mutant, 1, gets), steps(r, 1, gets)) {
		t.Error("one that forgets what it has kept does the same")
	}
}

func TestASlowProcessIsHeardLate(t *testing.T) {
	r := suffer(t, 2, 1, "slow 1 by 7 from 5 until 15")
	same(t, "2 hears", steps(r, 2, gets), "1 receive 1: 1", "17 receive 1: 2", "21 receive 1: 3")
	same(t, "1 hears", steps(r, 1, gets), "1 receive 2: 1", "11 receive 2: 2", "21 receive 2: 3")
	r = suffer(t, 2, 1, "slow 1 by 1000000 from 5 until 15") // the next word may not overtake it
	same(t, "2 hears", steps(r, 2, gets)[1:], "1000010 receive 1: 2", "1000010 receive 1: 3")
	r = suffer(t, 2, 1, "slow 1 by 7 from 5 until 15", "crash 1 at 11") // its last words come first
	same(t, "2", steps(r, 2, gets, suspects)[1:], "17 receive 1: 2", "17 suspect 1")
}

func TestAProcessThatPausesLearnsAllAtTheEnd(t *testing.T) {
	r := suffer(t, 3, 1, "pause 2 from 10 until 25")
	same(t, "2", steps(r, 2), "0 start", "1 receive 1: 1", "1 receive 3: 1",
		"10 fault: pause 2", "25 heal: pause 2", "25 timeout: pause",
		"25 receive 1: 2", "25 receive 3: 2", "25 receive 1: 3", "25 receive 3: 3", "35 timeout: pause")
	r = suffer(t, 2, 1, "pause 2 from 0 until 5", "crash 1 at 2")
	same(t, "2", steps(r, 2), "0 fault: pause 2", "5 heal: pause 2", "5 start", "5 receive 1: 1", "5 suspect 1", "15 timeout: pause", "25 timeout: pause")
	r = suffer(t, 2, 1, "pause 2 from 5 until 30", "crash 2 at 8", "recover 2 at 12")
	same(t, "2", steps(r, 2)[2:7], "5 fault: pause 2", "8 crash", "30 heal: pause 2", "30 recover", "30 receive 1: 2")
	r = suffer(t, 2, 1, "pause 2 from 5")
	same(t, "for ever", steps(r, 2)[2:], "5 fault: pause 2")
}

func TestAClockThatDriftsTimesItsOwnProcessOnly(t *testing.T) {
	for rate, want := range map[string][]string{
		"10/9": {"9 timeout: pause", "18 timeout: pause"},
		"2":    {"5 timeout: pause", "10 timeout: pause"},
		"0.5":  {"20 timeout: pause", "40 timeout: pause"},
		"3/2":  {"7 timeout: pause", "14 timeout: pause"}, // 6 2/3 is too early
	} {
		r := suffer(t, 2, 1, "drift 1 by "+rate)
		same(t, "1 by "+rate, steps(r, 1, trace.Timeout), want...)
		same(t, "2", steps(r, 2, trace.Timeout), "10 timeout: pause", "20 timeout: pause")
	}
}

func TestARecoveredProcessWithoutARecoverStartsAnew(t *testing.T) {
	o := simulate.Options{Setup: numbered(3), Record: true, Faults: scripted(t, 3, "crash 3 at 1", "recover 3 at 2")}
	r, err := simulate.Run(lcr.Algorithm, o) // under fifo, which has a clock
	if err != nil {
		t.Fatal(err)
	}
	last := r.Record.Steps[slices.IndexFunc(r.Record.Steps, func(s trace.Step) bool { return s.Event == trace.Recover })]
	if len(last.Sent) != 1 || last.Time != election.Units(2) || !slices.Equal(r.Script.Unclaimed(r.Prepared.Declaration()), []string{"crashes", "recoveries"}) {
		t.Errorf("%+v, beyond its claims: %v", last, r.Script.Unclaimed(r.Prepared.Declaration()))
	}
}

func TestTheRecordHasTheFaults(t *testing.T) {
	r := suffer(t, 3, 1, "partition 1 | 2 from 2 until 5", "slow 2 by 3 from 3 until 4", "crash 3 at 7 after 1 sends")
	diagram, err := drawing.Diagram(r.Record, trace.Window{})
	if err != nil {
		t.Fatal(err)
	}
	var story, drawn bytes.Buffer
	if err := errors.Join(r.Record.Story(&story), diagram.SVG(&drawn)); err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(story.String()) {
		if _, words, _ := strings.Cut(strings.Join(strings.Fields(line), " "), " "); strings.Contains(words, "fault") ||
			strings.Contains(words, "heal") || strings.Contains(words, "crash") {
			told = append(told, words)
		}
	}
	same(t, "story", told, "t=2 1 fault: partition 1 | 2", "t=3 2 fault: slow 2 by 3", "t=4 2 healed: slow 2 by 3",
		"t=5 1 healed: partition 1 | 2", "t=10 3 crashes after 1 of 2 messages")
	for _, name := range []string{"partition 1 | 2", "slow 2 by 3", `href="#crash"`} {
		if !strings.Contains(drawn.String(), name) {
			t.Errorf("%s is not drawn:\n%s", name, drawn.String())
		}
	}
}

func TestFaultsComeUnderEveryClock(t *testing.T) {
	for _, o := range []simulate.Options{
		{Schedule: simulate.FIFO},
		{Schedule: simulate.RandomDelay},
		{Timing: election.Timed},
		{Timing: election.Timed, Delay: 9},
		{Timing: election.Synchronous},
	} {
		for _, line := range []string{
			"crash 3 at 2", "crash 3 at 0 after 0 sends", "partition 3 | others from 0", "pause 3 from 0", "slow 3 by 100000 from 0",
		} {
			o.Setup, o.Record = numbered(5), true
			o.Faults = faults.Script{}
			plain := run(t, small(lcr.Algorithm), o)
			o.Faults = scripted(t, 5, line)
			r := run(t, small(lcr.Algorithm), o)
			if reflect.DeepEqual(r.Record.Steps, plain.Record.Steps) {
				t.Errorf("%s %s: %s changes nothing", o.Timing, o.Schedule, line)
			}
			if err := r.Record.Validate(); err != nil {
				t.Errorf("%s %s, %s: %v", o.Timing, o.Schedule, line, err)
			}
		}
	}
	large := make([]uint64, 1<<13) // other engines run these without faults
	for p := range large {
		large[p] = uint64(p + 1)
	}
	for line, leaders := range map[string]int{"cut 1 -> 2 from 0": 0, "cut 1 -> 2 from 20000": 1, "pause 8192 from 0": 0} {
		r := faults.NewReader(election.List(large))
		if err := r.Line(line); err != nil {
			t.Fatal(err)
		}
		if got := run(t, whole(lcr.Algorithm), simulate.Options{Setup: network.On(large...), Faults: r.Script}); len(got.Leaders) != leaders {
			t.Errorf("%s: %d leaders, want %d", line, len(got.Leaders), leaders)
		}
	}
}

// budgets draws budgets that fit n processes.
func budgets(n int) *property.Generator[faults.Budget] {
	return property.Custom(func(t *property.T) faults.Budget {
		upTo := func(most int, what string) int { return property.IntRange(0, most).Draw(t, what) }
		b := faults.Budget{
			Crashes: upTo(n-1, "crashes"), Slow: upTo(2, "slow"), Pauses: upTo(2, "pauses"),
			Until: election.Units(property.Uint64Range(20, 300).Draw(t, "until")),
		}
		b.Recoveries = upTo(b.Crashes, "recoveries")
		if n > 1 {
			b.Partitions, b.Cuts, b.Suspicions = upTo(2, "partitions"), upTo(2, "cuts"), upTo(2, "suspicions")
		}
		return b
	})
}

// A process that crashes shortly before the end of the time has few moments to recover in.
func TestEveryCrashThatIsDrawnCanBeFollowedByARecovery(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for seed := range uint64(200) {
		o := simulate.Options{Setup: numbered(7), Seed: seed, Limit: 1}
		o.Faults.Random = faults.Budget{Crashes: 6, Recoveries: 6, Until: election.Units(300)}
		if _, err := simulate.New(bully.Program).Run(o); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func TestWhatTheSeedDrawsIsInItsBudgetAndReplaysAsGiven(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	property.Check(t, func(t *property.T) {
		n := property.IntRange(1, 7).Draw(t, "n")
		b := budgets(n).Draw(t, "budget")
		o := simulate.Options{Setup: numbered(n), Seed: property.Uint64().Draw(t, "seed"), Delay: property.Uint64Range(1, 4).Draw(t, "delay"), Record: true, Limit: 100_000}
		o.Faults.Random = b
		first, err := simulate.New(bully.Program).Run(o)
		var wrong *faults.Error
		if errors.As(err, &wrong) && b.Slow+b.Pauses > 0 {
			return // two may not fit in
		} else if err != nil {
			t.Fatal(err)
		}
		f := first.Script
		if len(f.Crashes) != b.Crashes || len(f.Recoveries) != b.Recoveries || len(f.Cuts) != b.Partitions+b.Cuts ||
			len(f.Slow) != b.Slow+b.Pauses || len(f.Suspicions) != b.Suspicions || f.Random != (faults.Budget{}) {
			t.Fatalf("%s drew %v", &b, f.Lines(first.Prepared))
		}
		o.Faults = scripted(t, n, f.Lines(first.Prepared)...)
		if !reflect.DeepEqual(o.Faults, f) {
			t.Fatalf("%+v was written and read as %+v", f, o.Faults)
		}
		again, err := simulate.New(bully.Program).Run(o)
		if err != nil {
			t.Fatal(err)
		}
		var one, two bytes.Buffer
		if _, err := first.Record.WriteTo(&one); err != nil {
			t.Fatal(err)
		}
		if _, err := again.Record.WriteTo(&two); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Fatalf("%v given is another run than drawn", f.Lines(first.Prepared))
		}
	})
}

// Progress is called often, since steps can take long if states are large.
func TestAnEndlessFaultyRunEndsSoonAfterItIsAsked(t *testing.T) {
	asked := 0
	r, err := simulate.New(bully.Program).Run(simulate.Options{
		Setup: numbered(5), Faults: scripted(t, 5, "partition 1 | 5"),
		Progress: func(uint64) bool { asked++; return asked < 3 },
	})
	if err != nil || r.Complete || asked != 3 || r.Deliveries > 3*5000 {
		t.Errorf("asked %d times, stopped after %d deliveries, %v", asked, r.Deliveries, err)
	}
}

// A step that sends many messages takes long, and so does one that an adversary selects among many.
func TestAFloodedRunEndsSoonAfterItIsAsked(t *testing.T) {
	flood := lcr.Algorithm
	flood.Receive = func(_ *lcr.Process, _ election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		for range 100 {
			out.Send(lcr.Right, kind, m)
		}
	}
	for schedule, most := range map[simulate.Schedule]uint64{simulate.FIFO: 2 * 5000 / 100, simulate.LIFO: 2 * 5000 / 100, simulate.MaxMessages: 2 * 5000 / 105} {
		asked := 0
		o := simulate.Options{Setup: numbered(5), Schedule: schedule, Progress: func(uint64) bool { asked++; return asked < 3 }}
		if r, err := simulate.New(small(flood)).Run(o); err != nil || r.Complete || asked != 3 || r.Deliveries > most {
			t.Errorf("%s: asked %d times, stopped after %d deliveries, %v", schedule, asked, r.Deliveries, err)
		}
	}
}

func TestARunRefusesFaultsThatCannotHappen(t *testing.T) {
	for line, f := range map[string]faults.Script{
		"crash @3 at 0":             {Crashes: []faults.Crash{{Process: 3}}},
		"random 3 crashes until 9":  {Random: faults.Budget{Crashes: 3, Until: election.Units(9)}},
		"random 1 recovery until 9": {Random: faults.Budget{Recoveries: 1, Until: election.Units(9)}},
	} {
		_, err := simulate.New(bully.Program).Run(simulate.Options{Setup: numbered(3), Faults: f})
		var wrong *faults.Error
		if !errors.Is(err, simulate.ErrOptions) || !errors.As(err, &wrong) || wrong.Line != line {
			t.Errorf("%s: %v", line, err)
		}
	}
	_, err := simulate.Run(lcr.Algorithm, simulate.Options{Setup: numbered(4), Faults: scripted(t, 4, "suspect 1 of 2")})
	if !errors.Is(err, simulate.ErrOptions) || !strings.Contains(err.Error(), "no failure detector") {
		t.Error(err)
	}
}

// FuzzARunOfAnyLine expects that a run takes every line that is read, or refuses it in one line.
func FuzzARunOfAnyLine(f *testing.F) {
	for _, line := range []string{
		"crash 2 at 30 after 0 sends", "recover 2 at 170141183460469231731687303715884105727", "partition 1,2 | 3 from 30 until 150",
		"slow 3 by 18446744073709551615", "pause 3 from 10", "suspect 2 of 4 from 10 until 20", "drift 4 by 18446744073709551615/2",
		"duplicate 1", "lose 1", "reorder", "random 2 crashes, 1 recovery, 1 partition, 2 cuts, 1 slow, 1 pause, 3 suspicions until 500",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		r := faults.NewReader(numbered(4).IDs)
		if r.Line(line) != nil {
			return
		}
		o := simulate.Options{Setup: numbered(4), Faults: r.Script, Limit: 10_000}
		if _, err := simulate.New(bully.Program).Run(o); err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatalf("%q: %q", line, err)
		}
	})
}
