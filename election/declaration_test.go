package election_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
)

func valid() election.Algorithm[int, int] {
	return election.Algorithm[int, int]{
		Declaration: election.Declaration{
			Name: "mine", Topology: election.Ring, Timing: election.Timed, Survives: election.Crash | election.Recovery,
			Kinds: []election.MessageKind{{Name: "token"}}, Timers: []string{"patience"}, Parameters: knobs.Parameters,
			Bounds: []election.Bound{
				{Of: "total", Case: election.Worst, Formula: "n²", Value: func(n uint64) uint64 { return n * n }},
				{Of: "time", Case: election.Best, Formula: "n", Value: func(n uint64) uint64 { return n }},
				{Of: "election", Case: election.Average, Formula: "nH(n)", Mean: election.Harmonic},
			},
		},
		New:     func(election.Local) int { return 0 },
		Start:   func(*int, *election.Out[int]) {},
		Receive: func(*int, election.Port, election.Kind, int, *election.Out[int]) {},
		Timeout: func(*int, election.Timer, *election.Out[int]) {},
		Recover: func(*int, *election.Out[int]) {},
		Suspect: func(*int, election.Port, *election.Out[int]) {},
		Trust:   func(*int, election.Port, *election.Out[int]) {},
		Durable: func(s *int) any { return s },
	}
}

// kinds returns that many kinds of message.
func kinds(count int) []election.MessageKind {
	all := make([]election.MessageKind, count)
	for i := range all {
		all[i].Name = fmt.Sprint("kind ", i)
	}
	return all
}

// never elects no leader among identifiers that repeat.
func never(election.Arrangement) error { return errors.New("never") }

func TestADeclarationThatContradictsItselfIsRefusedWithTheReason(t *testing.T) {
	complete := valid()
	if err := complete.Validate(); err != nil {
		t.Fatal(err)
	}
	type algorithm = *election.Algorithm[int, int]
	const badDelay = "Delay is one of the Parameters, a whole number of at least 1, and means something when Timing is Timed only"
	tooShort := election.Number{Name: "delay", Whole: true, Least: 1, Default: "0"}
	maybe := election.Number{Name: "maybe", Whole: true, Default: "0"} // 0 is allowed
	for _, test := range []struct {
		change func(algorithm)
		want   []string
	}{
		{func(a algorithm) { a.Name = "" }, []string{"has no Name"}},
		{func(a algorithm) { a.Kinds = []election.MessageKind{{Name: "to\x1b[31mken"}} }, []string{"the Name of Kinds[0] is longer than 64 characters, or has some that a terminal does not show, such as escapes"}},
		{func(a algorithm) { a.Source = strings.Repeat("é", 257) }, []string{"Source is longer than 256 characters, or has some that a terminal does not show, such as escapes"}},
		{func(a algorithm) { a.Source = strings.Repeat("é", 256) }, nil},
		{func(a algorithm) { a.Timers = []string{"a\u202e"} }, []string{"Timers[0] is longer than 64 characters, or has some that a terminal does not show, such as escapes"}},
		{func(a algorithm) { a.New = nil }, []string{"New, Start and Receive are obligatory"}},
		{func(a algorithm) { a.Start = nil }, []string{"New, Start and Receive are obligatory"}},
		{func(a algorithm) { a.Receive = nil }, []string{"New, Start and Receive are obligatory"}},
		{func(a algorithm) { a.Kinds = nil }, []string{"declares 1 to 16 Kinds of message"}},
		{func(a algorithm) { a.Kinds = kinds(17) }, []string{"declares 1 to 16 Kinds of message"}},
		{func(a algorithm) { a.Kinds = kinds(16) }, nil},
		{func(a algorithm) { a.Kinds = slices.Repeat(a.Kinds, 2) }, []string{"two Kinds are called token"}},
		{func(a algorithm) { a.Kinds = []election.MessageKind{{Name: "token", Class: 3}} }, []string{"the Class of Kinds[0] is none of the declared constants"}},
		{func(a algorithm) { a.Timers = []string{""} }, []string{"a timer of Timers has no name"}},
		{func(a algorithm) { a.Topology = 4 }, []string{"Topology is none of the declared constants"}},
		{func(a algorithm) { a.Timing = 3 }, []string{"Timing is none of the declared constants"}},
		{func(a algorithm) { a.Identifiers = 3 }, []string{"Identifiers is none of the declared constants"}},
		{func(a algorithm) { a.Starts = 3 }, []string{"Starts is none of the declared constants"}},
		{func(a algorithm) { a.Counts = 4 }, []string{"Counts is none of the declared constants"}},
		{func(a algorithm) { a.Task = 3 }, []string{"Task is none of the declared constants"}},
		{func(a algorithm) { a.Decides = 2 }, []string{"Decides is none of the declared constants"}},
		{func(a algorithm) { a.Winner = 4 }, []string{"Winner is none of the declared constants"}},
		{func(a algorithm) { a.Bounds[0].Case = 3 }, []string{"the Case of a Bound is none of the declared constants: n²"}},
		{func(a algorithm) { a.Kinds = append(a.Kinds, election.MessageKind{}) }, []string{"Kinds[1] has no Name"}},
		{func(a algorithm) { a.Timers = slices.Repeat(a.Timers, 9) }, []string{"declares at most 8 Timers"}},
		{func(a algorithm) { a.Timers = slices.Repeat(a.Timers, 8) }, nil},
		{func(a algorithm) { a.Timers = nil }, []string{"Timers are declared if and only if Timeout is set"}},
		{func(a algorithm) { a.Timeout = nil }, []string{"Timers are declared if and only if Timeout is set"}},
		{func(a algorithm) { a.Timing = election.Asynchronous }, []string{"timers mean nothing when Timing is Asynchronous"}},
		{func(a algorithm) { a.Survives = election.Crash }, nil}, // a claim less than the functions allow
		{func(a algorithm) { a.Recover, a.Durable = nil, nil }, []string{"Recovery is declared and Recover is not set"}},
		{func(a algorithm) { a.Recover, a.Survives = nil, election.Crash }, []string{"Durable needs Recover"}},
		{func(a algorithm) { a.Suspect = nil }, []string{"Trust needs Suspect"}},
		{func(a algorithm) { a.Topology, a.OneWay = election.Tree, true }, []string{"OneWay means something on a Ring only"}},
		{func(a algorithm) { a.OneWay = true }, nil},
		{func(a algorithm) { a.Unoriented = true }, nil},
		{func(a algorithm) { a.Unoriented, a.OneWay = true, true }, []string{"Unoriented means something on a Ring of two ways only"}},
		{func(a algorithm) { a.Unoriented, a.Topology = true, election.Complete }, []string{"Unoriented means something on a Ring of two ways only"}},
		{
			func(a algorithm) { a.Identifiers, a.Winner = election.Anonymous, election.Largest },
			[]string{"Anonymous processes have no Largest and no Smallest"},
		},
		{func(a algorithm) { a.Identifiers = election.Anonymous }, nil},
		{func(a algorithm) { a.Identifiers, a.Votes = election.Anonymous, true }, []string{"Votes need identifiers"}},
		{func(a algorithm) { a.AllowDuplicates, a.Topology = never, election.Ring }, nil},
		{func(a algorithm) { a.AllowDuplicates, a.Topology = never, election.Tree }, []string{"AllowDuplicates means something on a Ring only, where identifiers are Compared"}},
		{func(a algorithm) { a.AllowDuplicates, a.Identifiers = never, election.Anonymous }, []string{"AllowDuplicates means something on a Ring only, where identifiers are Compared"}},
		{func(a algorithm) { a.Winner = election.Voted }, []string{"the Winner is Voted where there are Votes"}},
		{func(a algorithm) { a.Winner, a.Votes = election.Voted, true }, nil},
		{func(a algorithm) { a.Bounds[0].Value = nil }, []string{"a Bound has a Mean if it is an Average and a Value otherwise: n²"}},
		{func(a algorithm) { a.Bounds[0].Case = election.Average }, []string{"a Bound has a Mean if it is an Average and a Value otherwise: n²"}},
		{func(a algorithm) { a.Bounds[2].Value = a.Bounds[1].Value }, []string{"a Bound has a Mean if it is an Average and a Value otherwise: nH(n)"}},
		{func(a algorithm) { a.Bounds[1].Of = "messages" }, []string{`a Bound is Of "messages"`}},
		{func(a algorithm) { a.Parameters[0] = &election.Choice{Words: flag.Words} }, []string{"a Parameter has no Name"}},
		{func(a algorithm) { a.Parameters[0] = &election.Number{Default: "1"} }, []string{"a Parameter has no Name"}},
		{func(a algorithm) { a.Parameters[0] = &election.Choice{Name: "flag"} }, []string{"parameter flag has no Words"}},
		{func(a algorithm) { a.Parameters[0] = &election.Choice{Name: "delay", Words: flag.Words} }, []string{"declares parameter delay twice"}},
		{func(a algorithm) { a.Parameters[1] = &tooShort }, []string{"parameter delay is at least 1, not 0"}},
		{func(a algorithm) { a.Parameters[0] = &election.Number{Name: "x"} }, []string{`parameter x is a number such as 3, 1.5 or 3/2, not ""`}},
		{func(a algorithm) { a.Delay = &delay }, nil},
		{func(a algorithm) { a.Delay = &tooShort }, []string{badDelay}}, // which is not declared
		{func(a algorithm) { a.Delay = &factor }, []string{badDelay}},
		{func(a algorithm) { a.Delay, a.Parameters[0] = &maybe, &maybe }, []string{badDelay}},
		{func(a algorithm) { a.Delay, a.Timing = &delay, election.Synchronous }, []string{badDelay}},
		{ // all faults are reported at once
			func(a algorithm) { a.Suspect, a.Kinds, a.Parameters[1] = nil, nil, &tooShort },
			[]string{"declares 1 to 16 Kinds of message", "Trust needs Suspect", "parameter delay is at least 1, not 0"},
		},
	} {
		a := valid()
		a.Parameters, a.Bounds = slices.Clone(a.Parameters), slices.Clone(a.Bounds)
		test.change(&a)
		got := ""
		if err := a.Validate(); err != nil {
			got = err.Error()
		}
		want := ""
		for i, fault := range test.want {
			if i > 0 {
				want += "\n"
			}
			want += "algorithm \"" + a.Name + "\": " + fault
		}
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// The error does not print a name with escapes, or a very long one.
func TestANameThatATerminalDoesNotShowIsRefusedWithoutIt(t *testing.T) {
	for _, name := range []string{"a\x1b[31m", "a\nb", "\xff", strings.Repeat("a", 65)} {
		a := valid()
		a.Name = name
		want := `algorithm "?": Name is longer than 64 characters, or has some that a terminal does not show, such as escapes`
		if err := a.Validate(); err == nil || err.Error() != want {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestTheFirstBoundOnMessagesIsTheBoundOfItsCase(t *testing.T) {
	d := election.Declaration{Bounds: []election.Bound{
		{Of: "time", Case: election.Worst}, {Of: "total", Case: election.Worst, Formula: "first"}, {Of: "election", Case: election.Worst},
	}}
	if b := d.Bound(election.Worst); b == nil || b.Formula != "first" || d.Bound(election.Best) != nil {
		t.Errorf("the first bound on messages is %+v", b)
	}
}

func TestCeilLogIsTheLeastThatSuffices(t *testing.T) {
	k := uint64(0)
	for n := uint64(1); n <= 5000; n++ {
		if n > 1<<k {
			k++
		}
		if got := election.CeilLog(n); got != k {
			t.Fatalf("⌈log %d⌉ = %d, not %d", n, got, k)
		}
	}
	for _, e := range []uint64{31, 32, 62, 63} {
		if below, at, above := election.CeilLog(1<<e-1), election.CeilLog(1<<e), election.CeilLog(1<<e+1); below != e || at != e || above != e+1 {
			t.Errorf("about 2^%d: %d, %d, %d", e, below, at, above)
		}
	}
	if got := election.CeilLog(math.MaxUint64); got != 64 {
		t.Errorf("⌈log(2⁶⁴ - 1)⌉ = %d", got)
	}
}

func TestHarmonicIsTheSumToTheLastDigitsOfAFloat(t *testing.T) {
	if election.Harmonic(0) != 0 || election.Harmonic(1) != 1 || election.Harmonic(2) != 1.5 {
		t.Errorf("%v, %v, %v", election.Harmonic(0), election.Harmonic(1), election.Harmonic(2))
	}
	sum, rest := 0.0, 0.0 // Kahan's summation
	for n := uint64(1); n <= 1_000_000; n++ {
		term := 1/float64(n) - rest
		next := sum + term
		sum, rest = next, next-sum-term
		if n < 2000 || n%9973 == 0 || n == 1_000_000 {
			if got := election.Harmonic(n); math.Abs(got-sum) > 4e-15*sum {
				t.Fatalf("H(%d) = %.17g, not %.17g", n, got, sum)
			}
		}
	}
}
