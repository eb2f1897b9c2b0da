package verify

import (
	"errors"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/franklin"
	"ringleader.example/ringleader/internal/runners/ringbully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify/internal/model"
)

// tallied counts the messages of a run by class.
func tallied(d *election.Declaration, r *trace.Record) (counts [model.Costs]uint64) {
	class := map[string]election.Class{}
	for _, k := range d.Kinds {
		class[k.Name] = k.Class
	}
	for _, step := range r.Steps {
		for _, m := range step.Sent {
			counts[0]++
			switch class[m.Kind] {
			case election.Election:
				counts[1]++
			case election.Announcement:
				counts[2]++
			}
		}
	}
	return counts
}

func TestExtremesAreThoseOfRunsThatAttainThem(t *testing.T) {
	for _, test := range []struct {
		program *process.Program
		o       Options
		want    [2]uint64 // of election messages
		means   string
	}{
		{process.Must(process.Of(&lcr.Algorithm)), Options{Size: 4}, [2]uint64{7, 10}, "25/3 25/3"}, // n·H(n)
		{process.Must(process.Of(&lcr.Algorithm)), Options{Size: 4, Reduce: Confluence}, [2]uint64{7, 10}, "25/3 25/3"},
		{process.Must(process.Of(&lcr.Algorithm)), Options{Size: 4, Rotations: true, Cores: 2}, [2]uint64{7, 10}, "25/3 25/3"},
		{process.Must(process.Of(&lcr.Algorithm)), Options{Setup: network.On(3, 2, 1), Starts: AnyTime}, [2]uint64{3, 6}, "3 6"},
		{franklin.Program.Hidden(), Options{Size: 4}, [2]uint64{16, 24}, "56/3 56/3"},
		{ringbully.Program.Hidden(), Options{Size: 3}, [2]uint64{23, 23}, "23 23"},
		{bully.Program.Hidden(), Options{Size: 3}, [2]uint64{6, 8}, "6 8"},
	} {
		o := test.o
		if testing.Short() && o.Cores != 2 { // for races
			continue
		}
		o.Extremes = true
		r, err := Program(test.program, o)
		if err != nil || r.Extremes == nil {
			t.Fatalf("%s: %+v, %v", test.program.Name, r, err)
		}
		election := &r.Extremes.Election
		if got := [2]uint64{election.Min.Value.Lo, election.Max.Value.Lo}; got != test.want || election.MeanMin.RatString()+" "+election.MeanMax.RatString() != test.means {
			t.Errorf("%s: %v, means %s and %s; want %v, %s", test.program.Name, got, election.MeanMin, election.MeanMax, test.want, test.means)
		}
		least, most := numbers(r.MinMessages), numbers(r.MaxMessages)
		for i, e := range []*Extreme{&r.Extremes.Total, &r.Extremes.Election, &r.Extremes.Announcement} {
			if e.Min.Value.Lo != least[i] || e.Max.Value.Lo != most[i] {
				t.Errorf("%s: %d to %d %s messages; the report has %d to %d", test.program.Name, e.Min.Value, e.Max.Value, model.CostNames[i], least[i], most[i])
			}
			if few, many := tallied(test.program.Declaration, &e.Min.Record)[i], tallied(test.program.Declaration, &e.Max.Record)[i]; few != least[i] || many != most[i] {
				t.Errorf("%s: the runs send %d and %d %s messages; want %d and %d", test.program.Name, few, many, model.CostNames[i], least[i], most[i])
			}
		}
	}
}

// numbers returns the numbers of messages in the order of costNames.
func numbers(m *Messages) [model.Costs]uint64 {
	return [...]uint64{m.Total, m.Election, m.Announcement}
}

// A run that attains an extreme continues after its last message, up to an end.
// What is stopped while runs are searched for that attain extremes has found all else. It lacks no memory.
func TestASearchForExtremesThatIsStoppedSaysSo(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	p := process.Must(process.Of(&lcr.Algorithm))
	looks, most := 0, 1<<30
	o := Options{Setup: network.On(6, 5, 4, 3, 2, 1), Unordered: true, Extremes: true, Reduce: NoReduction, Cores: 1}
	o.Progress = func(Progress) bool { looks++; return looks < most }
	whole, err := Program(p, o)
	if err != nil || whole.Extremes == nil {
		t.Fatalf("%+v, %v", whole, err)
	}
	all, complete := looks, 0
	for _, most = range []int{1, all / 2, all - 1} {
		looks = 0
		r, err := Program(p, o)
		if err != nil || r.Violation != nil || r.Limit != NoLimit || r.Extremes != nil || r.Complete != (r.MaxMessages != nil) {
			t.Fatalf("stopped at look %d of %d: %+v, %v", most, all, r, err)
		}
		if r.Complete {
			complete++
		}
	}
	if complete == 0 {
		t.Errorf("the search for extremes looked %d times, of %d", complete, all)
	}
	o = Options{Size: 5, Extremes: true, Reduce: Confluence, MaxStates: 50} // one schedule of each order, and all of that which attains an extreme
	if _, err := Program(p, o); !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), "limit of states") {
		t.Error(err)
	}
}

func TestARunThatAttainsAnExtremeIsWhole(t *testing.T) {
	r, err := Run(lcr.Algorithm, Options{Setup: network.On(3, 2, 1), Extremes: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*Extreme{&r.Extremes.Total, &r.Extremes.Election, &r.Extremes.Announcement} {
		if min, max := len(e.Min.Record.Steps), len(e.Max.Record.Steps); min != 12 || max != 12 { // three starts, and nine messages arrive
			t.Errorf("runs of %d and %d steps; want 12", min, max)
		}
	}
}

func TestACountWithoutBoundHasNoMaximum(t *testing.T) {
	a := calling(election.Asynchronous, func(_ *caller, out calls) { out.Send(0, ring, call{}) })
	a.Receive = func(p *caller, _ election.Port, _ election.Kind, _ call, out calls) {
		if p.Heard++; p.Heard%2 == 1 || out.Choose(2) == 0 {
			p.Heard = 1
			out.Send(0, ring, call{})
		}
	}
	a.Decides, a.Winner = election.LeaderOnly, election.Unspecified
	r, err := Run(a, Options{Setup: network.On(1, 2), Initiators: []int{0}, SafetyOnly: true, Extremes: true})
	if err != nil || r.Extremes == nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if e := r.Extremes.Election; e.Min.Unbounded || !e.Max.Unbounded || e.MeanMin == nil || e.MeanMax != nil {
		t.Errorf("%+v", e)
	}
}
