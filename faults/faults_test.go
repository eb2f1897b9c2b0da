package faults_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
)

// detecting is the declaration of an algorithm with timers on a complete graph; plain that of one without, on a ring.
var (
	detecting = election.Declaration{Name: "detecting", Topology: election.Complete, Timing: election.Timed, Timers: []string{"patience"}}
	plain     = election.Declaration{Name: "plain", Topology: election.Ring}
)

func numbered(n int) network.Setup {
	ids := make([]uint64, n)
	for p := range ids {
		ids[p] = uint64(p + 1)
	}
	return network.On(ids...)
}

func prepared(t interface{ Fatal(...any) }, d *election.Declaration, i network.Setup) *network.Instance {
	p, err := network.Prepare(d, i)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// read reads faults among processes 1 to n.
func read(t *testing.T, n int, lines ...string) faults.Script {
	t.Helper()
	r := faults.NewReader(numbered(n).IDs)
	for _, line := range lines {
		if err := r.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	return r.Script
}

// settle does what an engine does with a script before a run.
func settle(f *faults.Script, p *network.Instance, detects bool) error {
	if err := f.Check(p, detects); err != nil {
		return err
	}
	return f.Draw(p, detects, 1)
}

func TestALongFaultIsNamedByItsBeginning(t *testing.T) {
	err := &faults.Error{Line: "dead " + strings.Repeat("3,", 500_000), Why: "they are too many"}
	if text := err.Error(); len(text) > 250 || !strings.HasPrefix(text, "dead 3,3,") || !strings.HasSuffix(text, "…: they are too many") {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
}

func TestHopelessFaultsAreRefusedInOneLine(t *testing.T) {
	crash := func(f ...faults.Crash) faults.Script { return faults.Script{Crashes: f} }
	late := election.Units(9)
	for name, c := range map[string]struct {
		f          faults.Script
		line, want string
	}{
		"no process there":      {crash(faults.Crash{Process: 3}), "crash @3 at 0", "0 to 2"},
		"before the first":      {faults.Script{Dead: []int{-1}}, "dead @-1", "0 to 2"},
		"dead twice":            {faults.Script{Dead: []int{1, 1}}, "dead 2,2", "once"},
		"all dead":              {faults.Script{Dead: []int{1, 0, 2}}, "dead 2,1,3", "at least one must"},
		"down already":          {crash(faults.Crash{}, faults.Crash{At: late}), "crash 1 at 9", "once it has recovered"},
		"dead already":          {faults.Script{Dead: []int{0}, Crashes: []faults.Crash{{}}}, "crash 1 at 0", "once it has recovered"},
		"all down":              {crash(faults.Crash{}, faults.Crash{Process: 1}, faults.Crash{Process: 2}), "crash 3 at 0", "at least one must"},
		"negative sends":        {crash(faults.Crash{Amid: true, Sends: -1}), "crash 1 at 0 after -1 sends", "the least is after 0 sends"},
		"back without a crash":  {faults.Script{Recoveries: []faults.Recovery{{At: late}}}, "recover 1 at 9", "crash 1 at an earlier time"},
		"back too early":        {faults.Script{Crashes: []faults.Crash{{At: late}}, Recoveries: []faults.Recovery{{}}}, "recover 1 at 0", "earlier"},
		"one group":             {faults.Script{Cuts: []faults.Cut{{Groups: [][]int{{1}}}}}, "partition 2 from 0", "1,2 | 3"},
		"three, one way":        {faults.Script{Cuts: []faults.Cut{{OneWay: true, Groups: [][]int{{1}, {0}, {2}}}}}, "cut 2 -> 1 -> 3 from 0", "1 -> 2"},
		"no process in a group": {faults.Script{Cuts: []faults.Cut{{Groups: [][]int{{1}, nil}}}}, "partition 2 |  from 0", "at least one"},
		"in two groups":         {faults.Script{Cuts: []faults.Cut{{Groups: [][]int{{1}, {1, 2}}}}}, "partition 2 | 2,3 from 0", "one group"},
		"over before it begins": {faults.Script{Cuts: []faults.Cut{{Groups: [][]int{{1}, {2}}, At: late, Until: late}}}, "partition 2 | 3 from 9 until 9", "later than from"},
		"not slow":              {faults.Script{Slow: []faults.Slow{{Factor: 1}}}, "slow 1 by 1 from 0", "by 2"},
		"slow for ever":         {faults.Script{Slow: []faults.Slow{{Factor: 2}, {Factor: 3, At: late}}}, "slow 1 by 3 from 9", "before the next begins"},
		"slow twice": {
			faults.Script{Slow: []faults.Slow{{Factor: 2, At: late}, {Factor: 3, Until: election.Units(10)}}},
			"slow 1 by 2 from 9", "before the next begins",
		},
		"of itself":             {faults.Script{Suspicions: []faults.Suspicion{{}}}, "suspect 1 of 1 from 0", "neighbours"},
		"a clock that stands":   {faults.Script{Drifts: []faults.Drift{{Of: 1}}}, "drift 1 by 0", "11/10"},
		"two rates":             {faults.Script{Drifts: []faults.Drift{{Times: 2, Of: 1}, {Times: 3, Of: 1}}}, "drift 1 by 3", "one rate"},
		"too many":              {faults.Script{Random: faults.Budget{Crashes: 3, Until: late}}, "random 3 crashes until 9", "so that one lives"},
		"no process to recover": {faults.Script{Random: faults.Budget{Recoveries: 1, Until: late}}, "random 1 recovery until 9", "as many can be drawn as processes stay down"},
		"no time":               {faults.Script{Random: faults.Budget{Crashes: 1}}, "random 1 crash until 0", "2^63"},
	} {
		err := settle(&c.f, prepared(t, &detecting, numbered(3)), true)
		var wrong *faults.Error
		if !errors.As(err, &wrong) || wrong.Line != c.line || !strings.Contains(wrong.Why, c.want) ||
			strings.Contains(err.Error(), "\n") || len(err.Error()) > 250 {
			t.Errorf("%s: %v; want %s: … %s …", name, err, c.line, c.want)
		}
	}
	for line, want := range map[string]string{
		"suspect 1 of 2": "no failure detector", "drift 1 by 2": "no timers", "cut 1 -> 3": "only neighbours",
	} {
		f := read(t, 4, line)
		err := settle(&f, prepared(t, &plain, numbered(4)), false)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", line, err, want)
		}
	}
}

func TestBudgetsAreSpentDifferentlyByEverySeed(t *testing.T) {
	seen, amid := map[string]bool{}, 0
	p := prepared(t, &detecting, numbered(5))
	for seed := range uint64(100) {
		f := faults.Script{Random: faults.Budget{Crashes: 2, Until: election.Units(1000)}}
		if err := f.Draw(p, true, seed); err != nil {
			t.Fatal(err)
		}
		if f.Random != (faults.Budget{}) || len(f.Crashes) != 2 {
			t.Fatalf("seed %d: %+v after the draw", seed, f)
		}
		seen[strings.Join(f.Lines(p), "; ")] = true
		for _, c := range f.Crashes {
			if c.Amid {
				amid++
			}
		}
	}
	if len(seen) < 99 || amid < 70 || amid > 130 {
		t.Errorf("%d of 100 seeds drew something of their own; %d of 200 crashes came amid a step", len(seen), amid)
	}
}

// Most draws of a recovery are of a process that is not down then.
func TestAFaultThatCannotHappenIsDrawnAgain(t *testing.T) {
	p := prepared(t, &detecting, numbered(9))
	for seed := range uint64(20) {
		f := faults.Script{Random: faults.Budget{Crashes: 1, Recoveries: 1, Until: election.Units(100)}}
		if err := f.Draw(p, true, seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := f.Check(p, true); err != nil || len(f.Crashes) != 1 || len(f.Recoveries) != 1 {
			t.Errorf("seed %d: %q, %v", seed, f.Lines(p), err)
		}
	}
}

func TestUnclaimedFaultsAreThoseThatAnAlgorithmDoesNotSurvive(t *testing.T) {
	sturdy := detecting
	sturdy.Survives = election.Crash | election.Recovery | election.Partition
	mortal := detecting
	mortal.Survives = election.Crash
	ordered := detecting
	ordered.FIFO = true
	for _, c := range []struct {
		d    *election.Declaration
		line string
		want string
	}{
		{&sturdy, "dead 1", ""},
		{&sturdy, "crash 1 at 5", ""},
		{&plain, "dead 1", "crashes"},
		{&plain, "crash 1 at 5", "crashes"},
		{&sturdy, "crash 1 at 5; recover 1 at 9", ""},
		{&mortal, "crash 1 at 5; recover 1 at 9", "recoveries"},
		{&plain, "crash 1 at 5; recover 1 at 9", "crashes, recoveries"},
		{&plain, "partition 1 | 2 until 9", "partitions"},
		{&sturdy, "partition 1 | 2 until 9", ""},
		{&sturdy, "partition 1 | 2", "partitions that never end"},
		{&plain, "slow 1 by 2; pause 2", ""},
		{&sturdy, "slow 1 by 2", "slow processes"},
		{&sturdy, "pause 1", "pauses"},
		{&sturdy, "suspect 1 of 2", "wrong suspicions"},
		{&sturdy, "drift 1 by 2", "clocks that drift"},
		{&sturdy, "lose 1/2", "loss"},
		{&sturdy, "duplicate 1/2", "duplication"},
		{&sturdy, "reorder", ""},
		{&ordered, "reorder", "reordering"},
	} {
		f := read(t, 3, strings.Split(c.line, "; ")...)
		if got := strings.Join(f.Unclaimed(c.d), ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.line, got, c.want)
		}
	}
	revived := detecting
	revived.Survives = election.Recovery
	for line, want := range map[string]string{
		"crash 1 at 5; recover 1 at 9": "", "crash 1 at 5; recover 2 at 9": "crashes",
		"crash 1 at 5; recover 1 at 9; crash 1 at 12": "crashes",
	} {
		f := read(t, 3, strings.Split(line, "; ")...)
		if got := strings.Join(f.Unclaimed(&revived), ", "); got != want {
			t.Errorf("%s, survived with a recovery: %q, want %q", line, got, want)
		}
	}
}

func TestACutCutsTheLinksBetweenItsGroupsInItsDirection(t *testing.T) {
	for _, d := range []*election.Declaration{&detecting, &plain} {
		net := prepared(t, d, numbered(5)).Network
		for line, group := range map[string][]int{
			"partition 1,2 | 3 | 5": {1, 1, 2, 0, 3},
			"cut 1,2 -> 3,5":        {1, 1, 2, 0, 2},
		} {
			cut := read(t, 5, line).Cuts[0]
			var got, want []uint32
			for link := range cut.Links(net) {
				got = append(got, link)
			}
			for link := range uint32(net.Links()) {
				to, _ := net.End(link)
				from, to := group[net.Owner(link)], group[to]
				if from != 0 && to != 0 && from != to && (!cut.OneWay || from == 1) {
					want = append(want, link)
				}
			}
			slices.Sort(got)
			if len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("%s, %s: links %v, want %v", d.Topology, line, got, want)
			}
		}
	}
}

func TestASuspicionIsOfTheProcessBehindALink(t *testing.T) {
	for n, want := range map[int]int{2: 2, 5: 1} { // a ring of two has two parallel links
		net := prepared(t, &plain, numbered(n)).Network
		s, links := faults.Suspicion{Process: 0, Of: 1}, 0
		for link := range s.Links(net) {
			if to, _ := net.End(link); net.Owner(link) != 0 || to != 1 {
				t.Errorf("n=%d: link %d leads from %d to %d", n, link, net.Owner(link), to)
			}
			links++
		}
		if links != want {
			t.Errorf("n=%d: %d links, want %d", n, links, want)
		}
	}
}

func TestTheLastTimeOfAScriptIsWhenItsLastFaultBeginsOrIsOver(t *testing.T) {
	if f := read(t, 3, "dead 1", "lose 1/2"); !f.Last().IsZero() || f.Timed() || !f.Lossy() {
		t.Errorf("%+v: last %s, timed %t, lossy %t", f, f.Last(), f.Timed(), f.Lossy())
	}
	for _, line := range []string{
		"crash 1 at 7", "recover 1 at 7", "partition 1 | 2 from 7", "partition 1 | 2 from 3 until 7", "slow 1 by 2 from 7", "pause 1 until 7",
		"suspect 1 of 2 from 7", "suspect 1 of 2 until 7",
	} {
		if f := read(t, 3, "crash 2 at 5", line); f.Last() != election.Units(7) || !f.Timed() || f.Lossy() {
			t.Errorf("%s: last %s, timed %t, lossy %t", line, f.Last(), f.Timed(), f.Lossy())
		}
	}
	if f := read(t, 3, "duplicate 1/2"); f.Timed() || !f.Lossy() {
		t.Error("a link that duplicates needs no clock and is lossy")
	}
	if f := read(t, 3, "drift 1 by 2"); !f.Timed() {
		t.Error("a drift needs a clock")
	}
	if f := read(t, 3, "random 1 crash until 5"); !f.Timed() {
		t.Error("a drawn crash comes at a time")
	}
}
