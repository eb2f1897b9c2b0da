package verify

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
)

// holds expects that everything is explored and no property violated.
func holds[S, M any](t *testing.T, a election.Algorithm[S, M], o Options) *Report {
	t.Helper()
	report, err := Run(a, o)
	if err != nil {
		t.Fatal(err)
	}
	if v := report.Violation; v != nil {
		t.Fatalf("%s is violated: %s, after %d steps", v.Property, v.Detail, len(v.Record.Steps))
	}
	if !report.Complete {
		t.Fatalf("not complete after %d states", report.States)
	}
	return report
}

// fails expects that a property is violated after that many steps, not counting the passing of time.
func fails[S, M any](t *testing.T, a election.Algorithm[S, M], o Options, property string, steps int) *Violation {
	t.Helper()
	report, err := Run(a, o)
	if err != nil {
		t.Fatal(err)
	}
	v := report.Violation
	if v == nil {
		t.Fatalf("%d states, and no violation; want: %s", report.States, property)
	}
	if v.Property != property || len(v.Record.Steps) != steps {
		t.Errorf("%s (%s) after %d steps; want %s after %d", v.Property, v.Detail, len(v.Record.Steps), property, steps)
	}
	if err := v.Record.Validate(); err != nil {
		t.Error(err)
	}
	if report.MaxMessages != nil || report.MinMessages != nil {
		t.Error("extremes of runs, of which one is wrong")
	}
	return v
}

func with(parameters ...string) network.Setup {
	given := map[string]string{}
	for i := 0; i < len(parameters); i += 2 {
		given[parameters[i]] = parameters[i+1]
	}
	return network.Setup{Parameters: given}
}

var long = flag.Bool("long", false, "make more elections at random, and check the searches of a million states")

var everyStart = []Starts{AllFirst, AnyTime, EverySet}

// The messages in transit with decreasing identifiers correspond to paths through a grid that stay on one side.
func TestLCRWithFallingIdentifiersHasCatalanManyStates(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	catalan := 1 // of n+1
	for n := 1; n <= 10; n++ {
		catalan = catalan * 2 * (2*n + 1) / (n + 2)
		ids := make(election.List, n)
		for p := range ids {
			ids[p] = uint64(n - p)
		}
		report := holds(t, lcr.Algorithm, Options{Setup: network.Setup{IDs: ids}})
		if want := catalan + n + n; report.States != want { // plus n starts, and n steps of the announcement
			t.Errorf("n = %d: %d states, want %d", n, report.States, want)
		}
	}
}

func TestRingAlgorithmsHoldForEveryOrderAndScheduleAndCostWhatWasProved(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	extremes := []struct{ lcrMin, lcrMax, bullyMin, bullyMax uint64 }{
		1: {1, 1, 2, 2}, 2: {3, 3, 10, 10}, 3: {5, 6, 23, 23}, 4: {7, 10, 28, 32}, 5: {9, 15, 49, 55},
	}
	orders := 1
	for n := 1; n <= 5; n++ {
		orders *= max(n-1, 1)
		for _, starts := range everyStart {
			o, want := Options{Size: n, Starts: starts}, extremes[n]
			report := holds(t, lcr.Algorithm, o)
			if report.Orders != orders {
				t.Errorf("%d orders of a ring of %d, want %d", report.Orders, n, orders)
			}
			if starts != AllFirst {
				want.lcrMin = uint64(n) // the largest alone initiates
			}
			if got := [2]uint64{report.MinMessages.Election, report.MaxMessages.Election}; got != [2]uint64{want.lcrMin, want.lcrMax} {
				t.Errorf("lcr, n = %d, %s start: %d election messages, want %d to %d", n, starts, got, want.lcrMin, want.lcrMax)
			}
			if n == 5 && starts != AllFirst {
				continue // a million states for each order
			}
			report = holds(t, ringbully.Algorithm, o)
			if got := [2]uint64{report.MinMessages.Election, report.MaxMessages.Election}; got != [2]uint64{want.bullyMin, want.bullyMax} {
				t.Errorf("ring-bully, n = %d, %s start: %d election messages, want %d to %d", n, starts, got, want.bullyMin, want.bullyMax)
			}
			if report.MaxMessages.Announcement != uint64(n) || report.MinMessages.Announcement != uint64(n) {
				t.Errorf("ring-bully announces with %v to %v messages, want %d", report.MinMessages, report.MaxMessages, n)
			}
		}
	}
}

func TestRingBullyOfFiveHoldsWheneverProcessesStart(t *testing.T) {
	if !*long {
		t.Skip("-long: a million states")
	}
	report := holds(t, ringbully.Algorithm, Options{Setup: network.On(5, 1, 2, 3, 4), Starts: AnyTime})
	if got := report.MaxMessages.Election; got != 49 {
		t.Errorf("at most %d election messages, want 49", got)
	}
}

func TestLCRNeedsNoOrderOfMessages(t *testing.T) {
	ordered := holds(t, lcr.Algorithm, Options{Size: 4, Starts: AnyTime})
	unordered := holds(t, lcr.Algorithm, Options{Size: 4, Starts: AnyTime, Unordered: true})
	if unordered.States <= ordered.States {
		t.Errorf("%d states without an order, %d with one", unordered.States, ordered.States)
	}
}

func TestMessagesOvertakeEachOtherOnLinksWithoutAnOrder(t *testing.T) {
	fails(t, coins(2), Options{Size: 2, Unordered: true}, Undecided, 5)
	// The record distinguishes overtaking messages by when they were sent.
	early := with("delay", "2", "answer-timeout", "4", "victory", "lower")
	fails(t, lenient(true), Options{Setup: early, Size: 3, Starts: EverySet, Unordered: true}, Disagreement, 7)
}

func TestBullySurvivesACrashAtAnyMoment(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for delay := 1; delay <= 2; delay++ {
		for _, starts := range everyStart {
			if starts != AnyTime && !*long {
				continue // AnyTime has these starts, too
			}
			setup := with("delay", fmt.Sprint(delay))
			holds(t, bully.Algorithm, Options{Setup: setup, Size: 3, Starts: starts, Crashes: 1})
			if delay == 1 {
				holds(t, bully.Algorithm, Options{Setup: setup, Size: 3, Starts: starts, Crashes: 1, Recoveries: 1})
			}
		}
	}
}

// believing returns Bully with the rule that a process contests a coordinator below itself, if bullies is set, and
// otherwise with S4's rule 5 to the letter: it follows every coordinator.
func believing(bullies bool) election.Algorithm[bully.Process, bully.Message] {
	a := bully.Algorithm
	a.Receive = func(p *bully.Process, port election.Port, kind election.Kind, m bully.Message, out *election.Out[bully.Message]) {
		if kind != bully.Coordinator || bullies && election.From(port) < p.ID {
			p.Receive(port, kind, m, out)
			return
		}
		p.Stage, p.Coordinator = 0, election.From(port)
		out.Stop(bully.AnswerTimeout)
		out.Stop(bully.VictoryTimeout)
		out.Follow(p.Coordinator, 0)
	}
	return a
}

// lenient returns the same in a task in which any process may lead for a while.
func lenient(bullies bool) election.Algorithm[bully.Process, bully.Message] {
	a := believing(bullies)
	a.Winner = election.Unspecified
	return a
}

// One process has just won when the highest recovers. Both tell the others, and the last message that arrives is
// believed.
func TestABullyThatBelievesEveryHigherCoordinatorMayDisagreeAfterARecovery(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	o := Options{Setup: with("delay", "2"), Size: 3, Starts: EverySet, Crashes: 1, Recoveries: 1}
	fails(t, believing(true), o, Disagreement, 9)
	o.Setup = with("delay", "1")
	holds(t, believing(true), o)
}

func TestBullyKeepsItsBoundInOneElection(t *testing.T) {
	for initiator := range 3 {
		for _, delay := range []string{"1", "2"} {
			report := holds(t, bully.Algorithm, Options{Setup: with("delay", delay), Size: 3, Initiators: []int{initiator}})
			// From the lowest: an Election and an Answer for each pair.
			if want := []uint64{6, 2, 0}[initiator]; report.MinMessages.Election != want {
				t.Errorf("at least %d election messages, want %d", report.MinMessages.Election, want)
			}
		}
	}
}

func TestABoundForOneStarterIsNotForMore(t *testing.T) {
	one := lcr.Algorithm
	one.Bounds = []election.Bound{{
		OneStart: true, Of: "election", Case: election.Worst, Formula: "2n - 1", Value: func(n uint64) uint64 { return 2*n - 1 },
	}}
	holds(t, one, Options{Size: 4})
	holds(t, one, Options{Size: 4, Starts: AnyTime})
	one.Bounds[0].Value = func(n uint64) uint64 { return 2*n - 2 }
	report, err := Run(one, Options{Size: 4, Initiators: []int{1}})
	if err != nil || report.Violation == nil || report.Violation.Property != BoundBroken {
		t.Fatalf("%v, %v", report, err)
	}
}

func TestAnLCRThatForwardsSmallerIdentifiersElectsAWrongLeader(t *testing.T) {
	mutant := lcr.Algorithm
	mutant.Receive = func(p *lcr.Process, port election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		if kind == lcr.Election && m.ID < p.ID {
			out.Send(lcr.Right, kind, m)
			return
		}
		p.Receive(port, kind, m, out)
	}
	fails(t, mutant, Options{Size: 2}, WrongLeader, 7)
	fails(t, mutant, Options{Size: 3}, WrongLeader, 12)
}

func TestAnLCRThatSwallowsLargerIdentifiersElectsNobody(t *testing.T) {
	mutant := lcr.Algorithm
	mutant.Receive = func(p *lcr.Process, port election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		if kind == lcr.Leader || m.ID <= p.ID {
			p.Receive(port, kind, m, out)
		}
	}
	fails(t, mutant, Options{Size: 2}, Undecided, 4)
	fails(t, mutant, Options{Size: 3}, Undecided, 6)
	fails(t, mutant, Options{Size: 3, Starts: AnyTime}, Undecided, 2)
}

// The timer may expire at the moment at which the answer arrives.
func TestBullyThatWaitsJustTwiceTheDelayMakesTwoWinners(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	hasty := func(delay, timeout, victory string) Options {
		return Options{Setup: with("delay", delay, "answer-timeout", timeout, "victory", victory), Size: 3, Starts: EverySet}
	}
	for _, a := range []election.Algorithm[bully.Process, bully.Message]{bully.Algorithm, believing(true), believing(false)} {
		for _, victory := range []string{"others", "lower"} {
			fails(t, a, hasty("1", "2", victory), WrongLeader, 3)
			fails(t, a, hasty("2", "4", victory), WrongLeader, 3)
		}
	}
	// If two winners for a while are allowed, the check finds the disagreement at the end. The process that was
	// contested announces itself again; but with different delays, news of the old victory may come after that.
	fails(t, lenient(false), hasty("1", "2", "others"), NoLeader, 8)
	fails(t, lenient(true), hasty("1", "2", "lower"), Disagreement, 7)
	fails(t, lenient(true), hasty("2", "4", "others"), Disagreement, 10)
	holds(t, lenient(true), hasty("1", "2", "others"))
	for _, victory := range []string{"others", "lower"} {
		holds(t, believing(false), hasty("1", "3", victory))
		holds(t, believing(false), hasty("2", "5", victory))
	}
}

func TestBullyNeedsSuspicionToComeAfterTheLastMessage(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	v := fails(t, bully.Algorithm, Options{Size: 3, Starts: AnyTime, Crashes: 1, hasty: true}, Undecided, 5)
	if v.Detail != "process 2 has not decided" {
		t.Error(v.Detail)
	}
}

func TestEveryChoiceIsTried(t *testing.T) {
	two := holds(t, coins(2), Options{Size: 2})
	if two.MaxMessages != nil || two.MinMessages == nil || two.MinMessages.Total != 2 {
		t.Errorf("%v to %v messages, want 2 and no limit", two.MinMessages, two.MaxMessages)
	}
	if three := holds(t, coins(3), Options{Size: 2}); three.States <= two.States {
		t.Errorf("%d states with three sides, %d with two", three.States, two.States)
	}
}

func TestAnElectionThatGoesRoundForEverIsFound(t *testing.T) {
	v := fails(t, coins(1), Options{Size: 2}, NeverEnds, 4)
	last := v.Record.Steps[len(v.Record.Steps)-1]
	if before := v.Record.Steps[1]; last.State != before.State {
		t.Errorf("it ends with %s, and began its round with %s", last.State, before.State)
	}
}

func TestMessagesMayCarryLists(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	report := holds(t, collecting(copied), Options{Size: 4, Starts: AnyTime})
	if got := report.MaxMessages.Total; got != 16 {
		t.Errorf("%d messages, want 16", got)
	}
}

func TestWritingIntoASharedListIsFound(t *testing.T) {
	careless := collecting(func(ids []election.ID, id election.ID) []election.ID {
		ids[0] = max(ids[0], id)
		return append(ids, id)
	})
	fails(t, careless, Options{Size: 2}, BrokeContract, 3)
}

func TestChangingAConstantFieldIsFound(t *testing.T) {
	fickle := lcr.Algorithm
	fickle.Start = func(p *lcr.Process, out *election.Out[lcr.Message]) {
		p.Textbook = true
		p.Start(out)
	}
	if v := fails(t, fickle, Options{Size: 2}, BrokeContract, 1); !strings.HasSuffix(v.Detail, " and "+process.ErrConstant.Error()) {
		t.Error(v.Detail)
	}
}

func TestAStepThatDependsOnMoreThanItsArgumentsIsFound(t *testing.T) {
	steps := 0
	counting := lcr.Algorithm
	counting.Receive = func(p *lcr.Process, port election.Port, kind election.Kind, m lcr.Message, out *election.Out[lcr.Message]) {
		if steps++; steps%2 == 0 {
			p.Receive(port, kind, m, out)
		}
	}
	v := fails(t, counting, Options{Size: 2}, BrokeContract, 3)
	if v.Detail != "process 1 receives ⟨election 2⟩ from process 2 and "+process.ErrImpure.Error() || v.Record.Steps[2].Broken != process.ErrImpure.Error() {
		t.Error(v.Detail)
	}
}

func TestTreesAreExplored(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, edges := range [][][2]int{{}, {{0, 1}}, {{0, 1}, {1, 2}}, {{0, 1}, {1, 2}, {1, 3}}} {
		n := len(edges) + 1
		for _, starts := range everyStart {
			report := holds(t, saturation, Options{Setup: network.Setup{Edges: edges}, Size: n, Starts: starts})
			// All wake their neighbours; then a message goes up each edge once, and both ways on one; and down both
			// ways.
			want := Messages{Election: uint64(2*len(edges) + len(edges) + min(len(edges), 1)), Announcement: uint64(2 * len(edges))}
			want.Total = want.Election + want.Announcement
			if report.Orders != []int{1, 2, 6, 24}[n-1] || *report.MaxMessages != want || *report.MinMessages != want {
				t.Errorf("n = %d: %d orders, %v to %v messages, want %v", n, report.Orders, report.MinMessages, report.MaxMessages, want)
			}
		}
	}
}

func TestTimeJumpsToTheNextTimerHoweverFar(t *testing.T) {
	holds(t, waiting(election.Timed, election.Power(100)), Options{Size: 2})
	late := waiting(election.Timed, election.Power(100))
	late.Timeout = func(_ *patient, _ election.Timer, out *election.Out[hello]) { out.Follow(1, 0) }
	v := fails(t, late, Options{Size: 2}, WrongLeader, 5)
	if got := v.Record.Steps[4].Time; got != election.Power(100) {
		t.Errorf("the timer fires at %s, want 2^100", got)
	}
}

func TestATimerMayBeFirstExceptInASynchronousRun(t *testing.T) {
	holds(t, waiting(election.Synchronous, election.Units(1)), Options{Size: 2})
	holds(t, waiting(election.Timed, election.Units(2)), Options{Size: 2})
	fails(t, waiting(election.Timed, election.Units(1)), Options{Size: 2}, WrongLeader, 3)
	fails(t, waiting(election.Timed, election.Units(2)), Options{Size: 2, Delay: 2}, WrongLeader, 3)
}

func TestLeasesNeverOverlapAndAreRenewedForEver(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, o := range []Options{{}, {Crashes: 1}, {Commands: 1}, {Crashes: 1, Commands: 2}} {
		o.Size, o.Delay = 2, 2
		holds(t, leasing(leaseLength), o)
		o.Delay = 1
		holds(t, leasing(leaseLength), o)
	}
	fails(t, leasing(3), Options{Size: 2, Delay: 2}, TwoLeases, 5)
}

func TestALeaseThatEndsForGoodLeavesNoLeaderAndIsSafe(t *testing.T) {
	tired := leasing(leaseLength)
	tired.Timeout = func(*lessee, election.Timer, *election.Out[renewal]) {}
	fails(t, tired, Options{Size: 2}, NoLeader, 5)
	holds(t, tired, Options{Size: 2, SafetyOnly: true})
	holds(t, coins(1), Options{Size: 2, SafetyOnly: true})
}

func TestTwoLeadersOfOneTermAreFoundEvenIfOneIsGone(t *testing.T) {
	mutant := lcr.Algorithm
	mutant.Task, mutant.Winner = election.Service, election.Unspecified
	mutant.Start = func(_ *lcr.Process, out *election.Out[lcr.Message]) {
		out.Lead(1)
		out.NoLeader()
	}
	fails(t, mutant, Options{Size: 2}, TwoInTerm, 2)
}

func TestABoundThatIsTooLowIsBrokenByARunThatCostsMore(t *testing.T) {
	mutant := lcr.Algorithm
	mutant.Bounds = []election.Bound{{
		Of: "election", Case: election.Worst, Formula: "n(n+1)/2 - 1", Value: func(n uint64) uint64 { return n*(n+1)/2 - 1 },
	}}
	report, err := Run(mutant, Options{Size: 4})
	if err != nil || report.Violation == nil || report.Violation.Property != BoundBroken {
		t.Fatalf("%v, %v", report, err)
	}
	sent := 0
	for _, step := range report.Violation.Record.Steps {
		for _, m := range step.Sent {
			if m.Kind == "election" {
				sent++
			}
		}
	}
	if sent != 10 {
		t.Errorf("the run sends %d election messages, want 10", sent)
	}
}

func TestStepsThatPanicOrBreakTheContractAreViolations(t *testing.T) {
	type step = func(*lcr.Process, *election.Out[lcr.Message])
	for name, broken := range map[string]struct {
		start    step
		property string
	}{
		"panic":           {func(*lcr.Process, *election.Out[lcr.Message]) { panic("so it ends") }, Panicked},
		"time":            {func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.Deadline(election.Power(127).Times(2)) }, Panicked},
		"no choice":       {func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.Choose(0) }, BrokeContract},
		"port":            {func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.Send(2, 0, lcr.Message{}) }, BrokeContract},
		"other way":       {func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.Send(1, 0, lcr.Message{}) }, BrokeContract},
		"kind":            {func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.Send(0, 2, lcr.Message{}) }, BrokeContract},
		"timer":           {func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.After(0, election.Units(1)) }, BrokeContract},
		"twice":           {func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.Lead(0); out.Lead(0) }, Irrevocable},
		"doubt":           {func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.NoLeader() }, Irrevocable},
		"term":            {func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.Lead(1) }, WrongTerm},
		"unknown leader":  {func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.Follow(7, 0) }, WrongLeader},
		"says nothing":    {func(*lcr.Process, *election.Out[lcr.Message]) {}, Undecided},
		"another process": {func(_ *lcr.Process, out *election.Out[lcr.Message]) { out.Follow(0, 0) }, NoLeader},
	} {
		t.Run(name, func(t *testing.T) {
			mutant := lcr.Algorithm
			mutant.Start = broken.start
			fails(t, mutant, Options{Size: 1}, broken.property, 1)
		})
	}
}

func TestWhatIsDecidedWronglyIsSaidOnceAndOfWhom(t *testing.T) {
	for want, start := range map[string]func(*lcr.Process, *election.Out[lcr.Message]){
		"decided twice; process 1: was leader, then leader": func(_ *lcr.Process, out *election.Out[lcr.Message]) {
			out.Lead(0)
			out.Lead(0)
		},
		"went back on a term; process 1: one-shot decisions have term 0, not 3": func(_ *lcr.Process, out *election.Out[lcr.Message]) {
			out.Lead(3)
		},
	} {
		mutant := lcr.Algorithm
		mutant.Start = start
		r, err := Run(mutant, Options{Size: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Violation.Property + "; " + r.Violation.Detail; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestABirthThatPanicsIsAViolation(t *testing.T) {
	mutant := lcr.Algorithm
	mutant.New = func(election.Local) lcr.Process { panic("no") }
	if v := fails(t, mutant, Options{Size: 1}, Panicked, 0); v.Detail != "New of process 1 panics: no" || v.Record.N != 1 {
		t.Errorf("%+v", v)
	}
}

func TestReachingTheLimitIsReported(t *testing.T) {
	report, err := Run(lcr.Algorithm, Options{Size: 5, MaxStates: 30})
	if err != nil {
		t.Fatal(err)
	}
	if report.Complete || report.States != 30 || report.Orders != 1 || report.Violation != nil || report.MaxMessages != nil {
		t.Errorf("%+v", report)
	}
}

func TestProgressIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("it searches 65 536 states")
	}
	told := 0
	report := holds(t, lcr.Algorithm, Options{
		Setup: network.On(11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1),
		Progress: func(p Progress) bool {
			states, frontier := p.States, p.Frontier
			if p.Done != 0 || p.Orders != 1 {
				t.Errorf("%+v of one order", p)
			}
			if states < told || frontier < 1 || frontier > states {
				t.Errorf("%d states, %d of them to be explored, after %d states", states, frontier, told)
			}
			told = states
			return true
		},
	})
	if told < 1<<16 || told > report.States {
		t.Errorf("the last that was told is %d of %d states", told, report.States)
	}
}

func TestProgressCanEndTheExploration(t *testing.T) {
	report, err := Run(lcr.Algorithm, Options{
		Setup:    network.On(11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1),
		Progress: func(Progress) bool { return false },
	})
	if err != nil || report.Complete || report.States > 1<<17 {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestEveryOrientationIsTried(t *testing.T) {
	mutant := ringbully.Algorithm
	mutant.Unoriented = true // but it announces on port 1
	if report := holds(t, mutant, Options{Size: 3}); report.Orders != 2 {
		t.Errorf("%d orders, want 2", report.Orders)
	}
	v := fails(t, mutant, Options{Size: 3, Orientations: true}, Undecided, 28)
	if v.Detail != "process 2 has not decided" {
		t.Error(v.Detail)
	}
}

func TestOptionsThatDoNotGoTogetherAreRefused(t *testing.T) {
	for name, o := range map[string]Options{
		"nobody":               {},
		"negative":             {Size: 3, Crashes: -1},
		"no such position":     {Size: 3, Initiators: []int{3}},
		"no process starts":    {Size: 3, Initiators: []int{}},
		"no recovery declared": {Size: 3, Crashes: 1, Recoveries: 1},
		"no command":           {Size: 3, Commands: 1},
		"no delay":             {Size: 3, Delay: 2},
		"oriented":             {Size: 3, Orientations: true},
		"too many sets":        {Size: 17, Starts: EverySet},
	} {
		if _, err := Run(lcr.Algorithm, o); !errors.Is(err, ErrOptions) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run(bully.Algorithm, Options{Size: 3, Recoveries: 1}); !errors.Is(err, ErrOptions) {
		t.Error(err)
	}
	if _, err := Run(lcr.Algorithm, Options{Setup: network.On(1, 1)}); !errors.Is(err, network.ErrSetup) {
		t.Error(err)
	}
}
