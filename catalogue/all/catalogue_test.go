package all_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/afekgafni"
	"ringleader.example/ringleader/algorithms/afekgafnisynchronous"
	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/dolevklawerodeh"
	"ringleader.example/ringleader/algorithms/dolevklawerodehb"
	"ringleader.example/ringleader/algorithms/franklin"
	"ringleader.example/ringleader/algorithms/highamprzytycka"
	"ringleader.example/ringleader/algorithms/hirschbergsinclair"
	"ringleader.example/ringleader/algorithms/invitation"
	"ringleader.example/ringleader/algorithms/itairodeh"
	"ringleader.example/ringleader/algorithms/itairodehsynchronous"
	"ringleader.example/ringleader/algorithms/knownsize"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/lcrsynchronous"
	"ringleader.example/ringleader/algorithms/lelann"
	"ringleader.example/ringleader/algorithms/logicalring"
	"ringleader.example/ringleader/algorithms/minmax"
	"ringleader.example/ringleader/algorithms/modifiedbully"
	"ringleader.example/ringleader/algorithms/oddoneout"
	"ringleader.example/ringleader/algorithms/oddpair"
	"ringleader.example/ringleader/algorithms/peterson"
	"ringleader.example/ringleader/algorithms/petersonalternating"
	"ringleader.example/ringleader/algorithms/preference"
	"ringleader.example/ringleader/algorithms/preferencering"
	"ringleader.example/ringleader/algorithms/preferencetree"
	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/algorithms/ringbullysimple"
	"ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/algorithms/tree"
	"ringleader.example/ringleader/algorithms/variablespeeds"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/sources"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/simulate"
)

func TestConformance(t *testing.T) {
	var tested []string
	conform(t, &tested, ringbullysimple.Algorithm)
	conform(t, &tested, ringbully.Algorithm)
	conform(t, &tested, lcr.Algorithm)
	conform(t, &tested, lcrsynchronous.Algorithm)
	conform(t, &tested, lelann.Algorithm)
	conform(t, &tested, oddoneout.Algorithm)
	conform(t, &tested, oddpair.Algorithm)
	conform(t, &tested, logicalring.Algorithm)
	conform(t, &tested, preference.Algorithm)
	conform(t, &tested, preferencering.Algorithm)
	conform(t, &tested, preferencetree.Algorithm)
	conform(t, &tested, tree.Algorithm)
	conform(t, &tested, hirschbergsinclair.Algorithm)
	conform(t, &tested, bully.Algorithm)
	conform(t, &tested, modifiedbully.Algorithm)
	conform(t, &tested, invitation.Algorithm)
	conform(t, &tested, quorumbully.Algorithm)
	conform(t, &tested, franklin.Algorithm)
	conform(t, &tested, peterson.Algorithm)
	conform(t, &tested, petersonalternating.Algorithm)
	conform(t, &tested, dolevklawerodeh.Algorithm)
	conform(t, &tested, dolevklawerodehb.Algorithm)
	conform(t, &tested, minmax.Algorithm)
	conform(t, &tested, highamprzytycka.Algorithm)
	conform(t, &tested, itairodeh.Algorithm)
	conform(t, &tested, itairodehsynchronous.Algorithm)
	conform(t, &tested, afekgafni.Algorithm)
	conform(t, &tested, afekgafnisynchronous.Algorithm)
	conform(t, &tested, knownsize.Algorithm)
	conform(t, &tested, stopandgo.P1)
	conform(t, &tested, stopandgo.P2)
	conform(t, &tested, stopandgo.P3)
	conform(t, &tested, stopandgo.P4)
	conform(t, &tested, variablespeeds.Algorithm)
	if !slices.Equal(tested, all.Algorithms.Names()) {
		t.Errorf("conformance runs over %v; the catalogue has %v", tested, all.Algorithms.Names())
	}
}

// mayStay reports whether a field that no step changes need not be declared constant: an identifier distinguishes
// processes, and a preference may change in a crash.
func mayStay(field string) bool { return field == "ID" || field == "Preference" }

// conform runs a short conformance suite over an algorithm; its own tests go further.
func conform[S, M any](t *testing.T, tested *[]string, a election.Algorithm[S, M]) {
	*tested = append(*tested, a.Name)
	t.Run(a.Name, func(t *testing.T) {
		o := electiontest.Options{Sizes: []int{1, 2, 3, 6}, Runs: 5, Verify: 2, Parameters: settings(&a.Declaration)}
		if a.Identifiers == election.Anonymous {
			o.Verify = -1 // random choices may continue for ever
		}
		if a.Leased {
			o.Verify, o.Runs = -1, 4 // terms and renewals do, so runs are long, too
		}
		electiontest.Conform(t, a, o)
		if size := reflect.TypeFor[S]().Size(); a.Topology == election.Ring && a.Timing == election.Asynchronous && size > 16 {
			t.Errorf("a state takes %d bytes; on a ring that runs in rounds at most 16, or large rings do not fit into caches", size)
		}
		if fields, err := electiontest.Unchanging(a, o); err != nil || len(slices.DeleteFunc(fields, mayStay)) > 0 {
			t.Errorf("no step changes %v, which are not declared constant; %v", fields, err)
		}
		if a.Timing == election.Timed && a.Delay == nil {
			t.Error("the catalogue wants the delay that timeouts count on")
		}
		if a.Title == "" || a.Source == "" || a.About == "" || a.Year == 0 {
			t.Error("the catalogue wants a title, a year, a source and a description")
		}
	})
}

// settings returns all combinations of the words of an algorithm's parameters.
func settings(d *election.Declaration) []map[string]string {
	all := []map[string]string{{}}
	for _, parameter := range d.Parameters {
		p, is := parameter.(*election.Choice)
		if !is {
			continue
		}
		var longer []map[string]string
		for _, setting := range all {
			for _, word := range p.Words {
				with := maps.Clone(setting)
				with[p.Name] = word
				longer = append(longer, with)
			}
		}
		all = longer
	}
	return all
}

func TestCountEqualsSimulation(t *testing.T) {
	const seeds = 160 // of each size: 10 240 rings for each algorithm
	for _, e := range all.Algorithms {
		if e.Count == nil {
			continue
		}
		for _, setting := range settings(e.Declaration) {
			t.Run(fmt.Sprint(e.Name, setting), func(t *testing.T) {
				set, err := e.Set(setting)
				if err != nil {
					t.Fatal(err)
				}
				for n := 1; n <= 64; n++ {
					for seed := range uint64(seeds) {
						ring, err := order.Random(n, seed)
						if err != nil {
							t.Fatal(err)
						}
						counted, err := e.Count(t.Context(), ring, set, nil)
						if errors.Is(err, count.ErrRing) && e.With(set).Counts == election.CountsVary {
							return // there is no exact count for this setting, and the error reports that
						}
						if err != nil {
							t.Fatal(err)
						}
						small := n <= 24 // its record, which tells who enters a phase, takes little
						r, err := e.Simulate(simulate.Options{Instance: network.Setup{IDs: ring, Parameters: setting}, Record: small})
						if err != nil {
							t.Fatal(err)
						}
						leader, _ := r.Leader()
						if !reflect.DeepEqual(counted.Messages, r.Messages) || !slices.Equal(counted.ByPhase, r.ByPhase) ||
							small && !slices.Equal(counted.Entered, r.Entered) || counted.Position != leader ||
							counted.Time != nil && !sameTimes(counted.Time, r.Time) {
							t.Fatalf("random order of %d, seed %d: counted %+v, simulated %+v at %+v", n, seed, counted, r, r.Time)
						}
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
			o := simulate.Options{Instance: electiontest.Instance(e.Declaration, n, seed), Schedule: simulate.Random, Faults: faults.Script{Unordered: true}, Seed: seed, Limit: 100_000}
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
