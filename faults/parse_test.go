package faults_test

import (
	"reflect"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/network"
)

// every line is written as it is read, except optional words.
var faultLines = map[string]string{
	"dead 3,1":                    "",
	"crash 2 at 30":               "",
	"crash 2 at 30 after 0 sends": "",
	"crash 2 at 30 after 1 send":  "crash 2 at 30 after 1 send",
	"recover 2 at 170141183460469231731687303715884105727": "",
	"partition 1,2 | 3 from 30 until 150":                  "",
	"partition 1 | 2 | 3":                                  "partition 1 | 2 | 3 from 0",
	" partition\t1|others until 9 ":                        "partition 1 | 2,3,4 from 0 until 9",
	"cut 1->2,3 from 10 until 20":                          "cut 1 -> 2,3 from 10 until 20",
	"slow 3 by 4 from 0 until 100":                         "",
	"pause 3 from 10":                                      "",
	"suspect 2 of 4 from 10 until 20":                      "",
	"drift 4 by 11/10":                                     "",
	"drift 4 by 0.9":                                       "drift 4 by 9/10",
	"lose 0.05":                                            "lose 1/20",
	"duplicate 1":                                          "",
	"reorder":                                              "",
	"random 2 crashes, 1 recovery, 1 partition, 2 cuts, 1 slow, 1 pause, 3 suspicions until 500": "",
	"random 1 crashes until 5": "random 1 crash until 5",
}

func TestFaultsAreWrittenAsTheyAreRead(t *testing.T) {
	p := prepared(t, &detecting, numbered(4))
	for line, want := range faultLines {
		f := read(t, 4, line)
		if want == "" {
			want = line
		}
		if got := f.Lines(p); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, want %s", line, got, want)
		}
	}
}

func TestProcessesGoByIdentifierAndByPositionWhereThatIsNotEnough(t *testing.T) {
	r := faults.NewReader(election.List{5, 3, 5, 1})
	for _, line := range []string{"crash 3 at 1", "crash 5@2 at 2", "crash 5 at 3"} {
		if err := r.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	i := network.On(5, 3, 5, 1)
	i.Duplicates = true
	got := r.Script.Lines(prepared(t, &plain, i))
	if want := []string{"crash 3 at 1", "crash 5@2 at 2", "crash 5@0 at 3", "crash 5@2 at 3"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	nameless := plain
	nameless.Identifiers = election.Anonymous
	positions := prepared(t, &nameless, network.On(0, 1, 2))
	if got := (&faults.Script{Dead: []int{2}}).Lines(positions); len(got) != 1 || got[0] != "dead 2" {
		t.Errorf("%q, want the position", got)
	}
}

func TestLinesThatAreNoFaultsSayWhatWouldBeRight(t *testing.T) {
	for line, want := range map[string]string{
		"":                                "choose one of dead, crash",
		"explode 3":                       `no fault begins with "explode"`,
		"Crash 3 at 5":                    `no fault begins with "Crash"`,
		"crash":                           "ends early; as in crash 7 at 30",
		"crash x at 5":                    `"x" is no identifier; they are natural numbers up to 2^64 - 1`,
		"crash -1 at 5":                   `"-1" is no identifier`,
		"crash 99999999999999999999 at 5": "no identifier",
		"crash 0 at 5":                    "there is no process 0; the 4 processes have identifiers from 1 to 4",
		"crash 2@0 at 5":                  "there is no process 2 at position 0",
		"crash 2 on 5":                    `want "at", not "on"; as in crash 7`,
		"crash 2 at noon":                 `a time is a whole number of units below 2^127, not "noon"`,
		"crash 2 at -3":                   "whole number",
		"crash 2 at 1.5":                  "whole number",
		"crash 2 at 170141183460469231731687303715884105728": "below 2^127",
		"crash 2 at " + strings.Repeat("9", 10_000):          "below 2^127",
		"crash 2 at 5 after":                                 "ends early",
		"crash 2 at 5 after 2":                               "ends early",
		"crash 2 at 5 after two sends":                       `how many is a whole number up to 1048576, not "two"`,
		"crash 2 at 5 after 2 receives":                      `want "sends"`,
		"crash 2 at 5 6":                                     `"6" is unexpected`,
		"crash 2, at 5":                                      `"at" is no identifier`,
		"partition 1 from 3":                                 `want "|", not "from"`,
		"partition others | others":                          "others is given twice",
		"partition 1,2,3,4 | others":                         "there are no others",
		"partition 1 | 2 from 9 until 3":                     "it ends at 3, before it begins at 9",
		"partition 1 | 2 until 0":                            "ends at 0",
		"cut 1 | 2":                                          `want "->"`,
		"slow 3 by 1":                                        "from 2 on",
		"slow 3 by 99999999999999999999999":                  "from 2 on",
		"slow 3":                                             "ends early",
		"drift 4 by 0":                                       "above 0",
		"drift 4 by 1e9":                                     "above 0",
		"drift 4 by -1":                                      "above 0",
		"drift 4 by 1/0":                                     "above 0",
		"lose 2":                                             "a chance is from 0 to 1, such as 1/10 or 0.1",
		"lose":                                               "ends early",
		"reorder all":                                        "unexpected",
		"random 2 crashes":                                   "ends early",
		"random 2 quakes until 9":                            "crashes, recoveries, partitions, cuts, slow, pauses, suspicions",
		"random 0 crashes until 9":                           "at least 1",
		"random 1 crash, 1 crash until 9":                    "once",
		"random 1 crash until 0":                             "no time",
		"random until 9":                                     "whole number",
	} {
		r := faults.NewReader(numbered(4).IDs)
		err := r.Line(line)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 250 {
			t.Errorf("%.60s: %.300v; want … %s …", line, err, want)
		}
		if !reflect.DeepEqual(r.Script, faults.Script{}) {
			t.Errorf("%.60s: refused, and yet %+v", line, r.Script)
		}
	}
	r := faults.NewReader(numbered(4).IDs)
	for _, line := range []string{"lose 1/2", "random 1 crash until 9"} {
		if err := r.Line(line); err != nil {
			t.Fatal(err)
		}
		if err := r.Line(line); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Errorf("%s, twice: %v", line, err)
		}
	}
}

// FuzzFaultLine compares each line that can be read with what is written for it.
func FuzzFaultLine(f *testing.F) {
	for line := range faultLines {
		f.Add(line)
	}
	p := prepared(f, &detecting, numbered(4))
	f.Fuzz(func(t *testing.T, line string) {
		r := faults.NewReader(numbered(4).IDs)
		if err := r.Line(line); err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 500 {
				t.Fatalf("%q: %q", line, err)
			}
			return
		}
		again := faults.NewReader(numbered(4).IDs)
		for _, written := range r.Script.Lines(p) {
			if err := again.Line(written); err != nil {
				t.Fatalf("%q was written as %q: %v", line, written, err)
			}
		}
		want := r.Script
		for _, c := range []*faults.Chance{&want.Lose, &want.Duplicate} {
			if c.Times == 0 {
				*c = faults.Chance{} // never, which needs no line
			}
		}
		if !reflect.DeepEqual(again.Script, want) {
			t.Fatalf("%q: %+v was written and read as %+v", line, want, again.Script)
		}
		if err := settle(&r.Script, p, true); err != nil && strings.Contains(err.Error(), "\n") {
			t.Fatalf("%q: %q", line, err)
		}
	})
}

func TestEveryScriptIsReadAsItWasWritten(t *testing.T) {
	p := prepared(t, &detecting, numbered(6))
	position := property.IntRange(0, 5)
	at := property.Custom(func(t *property.T) election.Ticks {
		return election.Ticks{Hi: property.Uint64Range(0, 1).Draw(t, "hi"), Lo: property.Uint64Range(1, 1<<63).Draw(t, "lo")}
	})
	property.Check(t, func(t *property.T) {
		var f faults.Script
		for range property.IntRange(0, 3).Draw(t, "of each") {
			begin := at.Draw(t, "begin")
			end := begin.Add(at.Draw(t, "length"))
			sides := property.Permutation([]int{0, 1, 2, 3, 4, 5}).Draw(t, "sides")
			one := property.IntRange(1, 5).Draw(t, "in the first")
			f.Crashes = append(f.Crashes, faults.Crash{Process: position.Draw(t, "who"), At: begin, Amid: true, Sends: position.Draw(t, "sends")})
			f.Recoveries = append(f.Recoveries, faults.Recovery{Process: position.Draw(t, "who"), At: end})
			f.Cuts = append(f.Cuts, faults.Cut{
				Groups: [][]int{sides[:one], sides[one:]}, OneWay: property.Bool().Draw(t, "one way"), At: begin, Until: end,
			})
			factor := property.SampledFrom([]uint64{0, 2, 1<<64 - 1}).Draw(t, "factor")
			f.Slow = append(f.Slow, faults.Slow{Process: position.Draw(t, "who"), Factor: factor, At: begin})
			f.Suspicions = append(f.Suspicions, faults.Suspicion{Process: position.Draw(t, "who"), Of: position.Draw(t, "of"), Until: end})
		}
		r := faults.NewReader(numbered(6).IDs)
		for _, line := range f.Lines(p) {
			if err := r.Line(line); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(r.Script, f) {
			t.Fatalf("%+v was read as %+v", f, r.Script)
		}
	})
}
