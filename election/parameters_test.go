package election_test

import (
	"maps"
	"math/big"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
)

var (
	flag    = election.Choice{Name: "flag", Words: []string{"odd", "even"}}
	delay   = election.Number{Name: "delay", Whole: true, Least: 1, Default: "10"}
	factor  = election.Number{Name: "factor", Least: -2, Most: 5, Default: "3/2"}
	timeout = election.Number{
		Name: "timeout", Whole: true, Least: 1, Most: 1000, Default: "2·delay + 1",
		Derived: func(p election.Parameters) *big.Rat { return delay.Linear(p, 2, 1) },
	}
)

var knobs = election.Declaration{Name: "knobs", Parameters: []election.Parameter{&flag, &delay, &factor, &timeout}}

func TestParametersAreGivenOrHaveTheirDefaults(t *testing.T) {
	for _, test := range []struct {
		given map[string]string
		want  string
	}{
		{nil, "flag odd, delay 10, factor 3/2, timeout 21"},
		{map[string]string{"flag": "even"}, "flag even, delay 10, factor 3/2, timeout 21"},
		{map[string]string{"delay": "7"}, "flag odd, delay 7, factor 3/2, timeout 15"},
		{map[string]string{"delay": "7", "timeout": "9"}, "flag odd, delay 7, factor 3/2, timeout 9"},
		{map[string]string{"factor": "-2"}, "flag odd, delay 10, factor -2, timeout 21"},
		{map[string]string{"factor": "6/4"}, "flag odd, delay 10, factor 3/2, timeout 21"},
		{map[string]string{"factor": "-0.25"}, "flag odd, delay 10, factor -1/4, timeout 21"},
		{map[string]string{"factor": "5", "delay": "499.0"}, "flag odd, delay 499, factor 5, timeout 999"},
	} {
		p, err := knobs.Set(test.given)
		if err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for _, name := range p.Names() {
			got = append(got, name+" "+p.Text(name))
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%v: %s; want %s", test.given, strings.Join(got, ", "), test.want)
		}
		if !flag.Is(p, p.Text("flag")) || flag.Is(p, "odd") == flag.Is(p, "even") || delay.Ticks(p).String() != p.Text("delay") || factor.Rational(p).RatString() != p.Text("factor") {
			t.Errorf("%v: odd %v, even %v, %s, %s", test.given, flag.Is(p, "odd"), flag.Is(p, "even"), delay.Ticks(p), factor.Rational(p))
		}
	}
}

func TestAParameterIsChangedIfItIsNotWhatFollowsFromTheOthers(t *testing.T) {
	for _, test := range []struct {
		given map[string]string
		want  string
	}{
		{nil, ""},
		{map[string]string{"flag": "even"}, "flag"},
		{map[string]string{"flag": "odd", "factor": "6/4"}, ""},
		{map[string]string{"delay": "7"}, "delay"}, // and with it the timeout, which follows from it
		{map[string]string{"delay": "7", "timeout": "15"}, "delay"},
		{map[string]string{"timeout": "15", "delay": "8"}, "delay timeout"},
	} {
		p, err := knobs.Set(test.given)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(p.Changed(), " "); got != test.want {
			t.Errorf("%v: changed: %s; want %s", test.given, got, test.want)
		}
	}
}

func TestParametersThatCannotBeAreRefusedInOneLine(t *testing.T) {
	long := strings.Repeat("9", 1_000_000)
	for _, test := range []struct{ name, value, want string }{
		{"flag", "Odd", `parameter flag is one of odd, even, not "Odd"`},
		{"flag", "", `parameter flag is one of odd, even, not ""`},
		{"flag", "a\nb", `parameter flag is one of odd, even, not "a\nb"`},
		{"flag", long, `parameter flag is one of odd, even, not "` + long[:40] + `"`},
		{"delay", "0", "parameter delay is at least 1, not 0"},
		{"delay", "3/2", "parameter delay is a whole number, not 3/2"},
		{"delay", new(big.Int).Lsh(big.NewInt(1), 120).String(), "parameter delay is below 2^120, not 1329227995784915872903807060280344576"},
		{"delay", "1.5", "parameter delay is a whole number, not 1.5"},
		{"factor", "-5/2", "parameter factor is at least -2, not -5/2"},
		{"factor", "5.001", "parameter factor is at most 5, not 5.001"},
		{"timeout", "1001", "parameter timeout is at most 1000, not 1001"},
		{"delay", "500", "parameter timeout is at most 1000, not 1001"}, // which is derived from it
		{"size", "3", "knobs has no parameter size; it has flag, delay, factor, timeout"},
	} {
		if _, err := knobs.Set(map[string]string{test.name: test.value}); err == nil || err.Error() != test.want {
			t.Errorf("%.50s: %v; want %s", test.value, err, test.want)
		}
	}
	for _, number := range []string{
		"", " ", "x", "1 ", " 1", "+1", "--1", "1-", "1,5", "1_000", "1e2", "1E2", "1p2", "1e999999999", "1e-999999999", "0x10", "0b1", "0b11/1",
		"0o17", "010", "010/1", "1/010", "1/0", "1/", "/1", "1/2/3", "1/-2", "1.5/2", "2/1.5", ".", "-", "Inf", "NaN", "١", "1\n",
	} {
		_, err := knobs.Set(map[string]string{"factor": number})
		if err == nil || !strings.HasPrefix(err.Error(), "parameter factor is a number such as 3, 1.5 or 3/2, not \"") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", number, err)
		}
	}
	for _, number := range []string{long, "1/" + long, "0." + long, long + "e" + long} {
		if _, err := knobs.Set(map[string]string{"factor": number}); err == nil || len(err.Error()) > 200 {
			t.Errorf("%d digits: %.300v", len(number), err)
		}
	}

	two := map[string]string{"zeta": "1", "alpha": "2", "delay": "3"}
	if _, err := knobs.Set(two); err == nil || err.Error() != "knobs has no parameter alpha, zeta; it has flag, delay, factor, timeout" {
		t.Error(err)
	}
	none := election.Declaration{Name: "plain"}
	if _, err := none.Set(two); err == nil || err.Error() != "plain has no parameters, so no alpha, delay, zeta" {
		t.Error(err)
	}
	if p, err := none.Set(nil); err != nil || len(p.Names()) > 0 {
		t.Error(p, err)
	}
	if !maps.Equal(two, map[string]string{"zeta": "1", "alpha": "2", "delay": "3"}) {
		t.Error("what was given was changed")
	}
}

func TestEveryRationalIsReadExactly(t *testing.T) {
	x := election.Number{Name: "x", Least: -1 << 63, Default: "0"}
	exact := election.Declaration{Parameters: []election.Parameter{&x}}
	property.Check(t, func(t *property.T) {
		want := big.NewRat(property.Int64().Draw(t, "above"), int64(property.Uint64Range(1, 1<<63-1).Draw(t, "below")))
		text := want.RatString()
		if property.Bool().Draw(t, "decimal") {
			want.SetFrac64(want.Num().Int64(), 1000)
			text = want.FloatString(3)
		}
		p, err := exact.Set(map[string]string{"x": text})
		if err != nil || x.Rational(p).Cmp(want) != 0 {
			t.Fatalf("%s was read as %v, %v", text, p, err)
		}
	})
}

func TestAnAlgorithmThatAsksForWhatItDidNotDeclareIsStopped(t *testing.T) {
	far := election.Number{Name: "wait", Default: "1" + strings.Repeat("0", 50)}
	declared := election.Declaration{Parameters: []election.Parameter{&flag, &far}}
	p, err := declared.Set(nil)
	if err != nil {
		t.Fatal(err)
	}
	likewise := flag // another parameter of the same name
	for _, test := range []struct {
		ask  func()
		want any
	}{
		{func() { likewise.Is(p, "odd") }, "election: parameter flag is not declared"},
		{func() { delay.Rational(p) }, "election: parameter delay is not declared"},
		{func() { delay.Linear(p, 2, 1) }, "election: parameter delay is not declared"},
		{func() { p.Text("other") }, "election: parameter other is not declared"},
		{func() { flag.Is(p, "Odd") }, `election: parameter flag is never "Odd"`},
		{func() { far.Ticks(p) }, election.ErrTime},
	} {
		func() {
			defer func() {
				if r := recover(); r != test.want {
					t.Errorf("%v; want %v", r, test.want)
				}
			}()
			test.ask()
		}()
	}
}

func TestTheLongestDelayIsAParameterOrOneUnit(t *testing.T) {
	d := election.Declaration{Parameters: []election.Parameter{&flag, &delay}}
	p, err := d.Set(map[string]string{"delay": "7"})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.LongestDelay(p); got != election.Units(1) {
		t.Errorf("%s units, where no parameter is the delay", got)
	}
	d.Delay = &delay
	if got := d.LongestDelay(p); got != election.Units(7) {
		t.Errorf("%s units, where the delay is 7", got)
	}
}
