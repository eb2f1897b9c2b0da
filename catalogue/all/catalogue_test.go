package all_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/loops"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/study/sources"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/simulate"
)

// Conformance has its own test in the folder of each algorithm.
func TestEveryFolderOfAnAlgorithmRunsTheConformanceSuite(t *testing.T) {
	folders, err := os.ReadDir("../../algorithms")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		tests, err := filepath.Glob("../../algorithms/" + folder.Name() + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(tests, func(path string) bool {
			text, err := os.ReadFile(path)
			return err == nil && bytes.Contains(text, []byte("electiontest.Conform(t, "))
		}) {
			t.Errorf("%s: no test calls electiontest.Conform", folder.Name())
		}
	}
}

func TestTheCatalogueKnowsWhatItsReadersNeed(t *testing.T) {
	for _, e := range all.Algorithms {
		if size := process.Opened(e.Program).Plans.State.Size(); e.Topology == election.Ring && e.Timing == election.Asynchronous && size > 16 {
			t.Errorf("%s: a state takes %d bytes; on a ring that runs in rounds at most 16, or large rings do not fit into caches", e.Name, size)
		}
		if looped, is := e.Program.(*loops.Program); is && looped.Loops != nil && (looped.Rings != nil) != (e.Topology == election.Ring && e.Timing == election.Asynchronous) {
			t.Errorf("%s: the loops of asynchronous rings are for them, and for no other algorithm", e.Name)
		}
		if e.Timing == election.Timed && e.Delay == nil {
			t.Errorf("%s: the catalogue wants the delay that timeouts count on", e.Name)
		}
		if e.Title == "" || e.Source == "" || e.About == "" || e.Year == 0 {
			t.Errorf("%s: the catalogue wants a title, a year, a source and a description", e.Name)
		}
	}
}

// switchedOn are the settings of rules that the default of a number switches off.
var switchedOn = map[string][]map[string]string{"quorum-bully": {{"shortest-lease": "2"}}}

// The checker compares states without what is declared constant. An identifier distinguishes processes, and a preference may
// change in a crash, so these two are compared though no step changes them.
func TestAFieldThatNoStepChangesIsDeclaredConstant(t *testing.T) {
	for _, e := range all.Algorithms {
		var staying map[string]bool // by field; nil before the first run
		for run := range 20 {
			for _, setting := range append(electiontest.Settings(e.Declaration), switchedOn[e.Name]...) {
				if staying != nil && len(staying) == 0 {
					break
				}
				o := electiontest.Varied(e.Declaration, process.Opened(e.Program).Functions, []int{6, 3, 2, 1}[run%4], setting, uint64(run/4))
				staying = unchanged(t, e, o, staying)
			}
		}
		if len(staying) > 0 {
			t.Errorf("%s: no step changes %v, which are not declared constant", e.Name, slices.Sorted(maps.Keys(staying)))
		}
	}
}

// unchanged returns those of the fields that no step of a run changes. Nil are all that are to be looked at.
func unchanged(t *testing.T, e *catalogue.Entry, o simulate.Options, fields map[string]bool) map[string]bool {
	t.Helper()
	at, err := network.Prepare(e.Declaration, o.Setup)
	if err != nil {
		t.Fatal(err)
	}
	newborn := process.Opened(e.Program).New(at, false, false)
	states := make([]reflect.Value, at.Size())
	for p := range states {
		states[p] = reflect.ValueOf(newborn.State(p, election.Ticks{}))
	}
	if fields == nil {
		fields = map[string]bool{}
		for f := range states[0].NumField() {
			field := states[0].Type().Field(f)
			fields[field.Name] = field.Tag.Get("election") != "constant" && field.Name != "ID" && field.Name != "Preference"
		}
		maps.DeleteFunc(fields, func(_ string, looked bool) bool { return !looked })
	}
	o.Record, o.Values, o.Limit = true, true, 1_500
	r, err := e.Simulate(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Record.Steps {
		step := &r.Record.Steps[i]
		if step.StateValue.Is == nil {
			continue
		}
		before, after := states[step.Process], reflect.ValueOf(step.StateValue.Is)
		for name := range fields {
			if fmt.Sprint(before.FieldByName(name)) != fmt.Sprint(after.FieldByName(name)) { // fields need not be exported
				delete(fields, name)
			}
		}
		states[step.Process] = after
	}
	return fields
}

// arrangements yields all orders of up to 6 identifiers, and random ones of up to 64, more of them around the powers of two; or, with
// -long, 160 of each size.
func arrangements(t *testing.T) iter.Seq2[string, election.Arrangement] {
	return func(yield func(string, election.Arrangement) bool) {
		for n := 1; n <= 6; n++ {
			for ids := range electiontest.Rings(n) {
				if !yield(fmt.Sprint(ids), election.List(ids)) {
					return
				}
			}
		}
		for n := 1; n <= 64; n++ {
			seeds := uint64(3)
			if around := bits.OnesCount(uint(n)) == 1 || bits.OnesCount(uint(n+1)) == 1 || bits.OnesCount(uint(n-1)) == 1; around {
				seeds = 12
			}
			if *longer {
				seeds = 160
			}
			for seed := range seeds {
				ring, err := order.Random(n, seed)
				if err != nil {
					t.Fatal(err)
				}
				if !yield(fmt.Sprintf("random order of %d, seed %d", n, seed), ring) {
					return
				}
			}
		}
	}
}

func TestCountEqualsSimulation(t *testing.T) {
	for _, e := range all.Algorithms {
		if e.Count == nil {
			continue
		}
		for _, setting := range electiontest.Settings(e.Declaration) {
			t.Run(fmt.Sprint(e.Name, setting), func(t *testing.T) {
				set, err := e.Set(setting)
				if err != nil {
					t.Fatal(err)
				}
				for name, ring := range arrangements(t) {
					counted, err := e.Count(t.Context(), ring, set, nil)
					if errors.Is(err, count.ErrRing) && e.With(set).Counts == election.CountsVary {
						return // there is no exact count for this setting, and the error reports that
					}
					if err != nil {
						t.Fatal(err)
					}
					small := ring.Len() <= 24 // its record, which tells who enters a phase, takes little
					r, err := e.Simulate(simulate.Options{Setup: network.Setup{IDs: ring, Parameters: setting}, Record: small})
					if err != nil {
						t.Fatal(err)
					}
					leader, _ := r.Leader()
					if !reflect.DeepEqual(counted.Messages, r.Messages) || !slices.Equal(counted.ByPhase, r.ByPhase) ||
						small && !slices.Equal(counted.Entered, r.Entered) || counted.Position != leader ||
						counted.Time != nil && !sameTimes(counted.Time, r.Time) {
						t.Fatalf("%s: counted %+v, simulated %+v at %+v", name, counted, r, r.Time)
					}
				}
			})
		}
	}
}

func sameTimes(counted *count.Time, simulated *outcome.Times) bool {
	return counted.Elected.Cmp(simulated.Elected.Big()) == 0 && counted.Decided.Cmp(simulated.Decided.Big()) == 0 &&
		counted.Quiet.Cmp(simulated.Quiet.Big()) == 0
}

func TestOrderOnLinksIsNeededExactlyWhereDeclared(t *testing.T) {
	for _, e := range all.Algorithms {
		if e.Timing != election.Asynchronous || e.Topology != election.Ring {
			continue
		}
		failures, runs := 0, 0
		for ; runs < 10_000 && (failures == 0 || !e.FIFO); runs++ {
			n, seed := 2+runs%6, uint64(runs)
			o := simulate.Options{Setup: electiontest.Setup(e.Declaration, n, seed), Schedule: simulate.Random, Faults: faults.Script{Unordered: true}, Seed: seed, Limit: 100_000}
			r, err := e.Simulate(o)
			if err != nil {
				t.Fatal(err)
			}
			if !r.Right || len(r.Faults) > 0 {
				failures++
			}
		}
		if e.FIFO != (failures > 0) {
			t.Errorf("%s: %d of %d runs fail without order on links; FIFO is declared as %v", e.Name, failures, runs, e.FIFO)
		}
	}
}

func TestEachPartOfASourceIsAWorkThatIsListed(t *testing.T) {
	for _, e := range all.Algorithms {
		for citation := range strings.SplitSeq(e.Source, "; ") {
			if sources.Of(citation) == nil {
				t.Errorf("%s: %q is not in package sources", e.Name, citation)
			}
		}
	}
}

func TestANameOrAliasMeansOneAlgorithmInAnyCase(t *testing.T) {
	meant := map[string]string{}
	for _, e := range all.Algorithms {
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			if other, twice := meant[strings.ToLower(name)]; twice {
				t.Errorf("%s means %s and %s", name, other, e.Name)
			}
			meant[strings.ToLower(name)] = e.Name
			if found, err := all.Algorithms.Find(strings.ToUpper(name)); err != nil || found != e {
				t.Errorf("%s is not found: %v", strings.ToUpper(name), err)
			}
		}
	}
	for _, alias := range []string{"chang-roberts", "garcia-molina", "hs", "dkr"} {
		if meant[alias] == "" {
			t.Errorf("%s means nothing", alias)
		}
	}
}

func TestAFamilyHasOneFormForEachNetworkAndItsFirstNameMeansThemAll(t *testing.T) {
	topologies := []election.Topology{election.Ring, election.Complete, election.Tree, election.UnknownNeighbours}
	families := 0
	for _, e := range all.Algorithms {
		family := e.Forms()
		if family == nil || family[0] != e.Name {
			for _, topology := range topologies {
				if on := e.On(topology); on != e {
					t.Errorf("%s on a %s is %s", e.Name, topology, on.Name)
				}
			}
			continue
		}
		families++
		for _, name := range family {
			form, err := all.Algorithms.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			if on := e.On(form.Topology); on.Name != name || form.Winner != e.Winner || !slices.Equal(form.Forms(), family) {
				t.Errorf("%s on a %s is %s, not %s; its family is %v", e.Name, form.Topology, on.Name, name, form.Forms())
			}
		}
	}
	if families == 0 {
		t.Error("there are no families")
	}
}
