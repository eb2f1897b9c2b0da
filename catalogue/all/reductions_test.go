package all_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify"
)

// explorations are what reductions are compared on: small networks, all starts, and each fault.
func explorations(e *catalogue.Entry) (all []verify.Options) {
	sized := verify.Options{}
	if e.Name == "itai-rodeh" {
		sized.Setup = with("rounds", "unnumbered")
	}
	for n := 1; n <= 4; n++ {
		sized.Size = n
		if e.Name == "odd-one-out" || e.Name == "odd-pair" {
			sized.Size, sized.Setup.IDs = 0, election.List{7, 5, 5, 7, 5}[:n+1]
			if e.Name == "odd-one-out" {
				sized.Setup.IDs = election.List{2, 1, 1, 1, 1}[:n+1]
			}
		}
		add := func(change func(*verify.Options)) {
			o := sized
			change(&o)
			all = append(all, o)
		}
		for _, starts := range []verify.Starts{verify.AllFirst, verify.EverySet} {
			add(func(o *verify.Options) { o.Starts = starts })
		}
		if n == 4 {
			continue
		}
		for _, starts := range []verify.Starts{verify.AnyTime, verify.Each} {
			add(func(o *verify.Options) { o.Starts = starts })
		}
		add(func(o *verify.Options) { o.Crashes = 1 })
		add(func(o *verify.Options) { o.Crashes, o.Recoveries = 1, 1 })
		add(func(o *verify.Options) { o.Losses, o.Starts = 1, verify.EverySet })
		add(func(o *verify.Options) { o.Duplicates = 1 })
		add(func(o *verify.Options) { o.Cuts = 1 })
		add(func(o *verify.Options) { o.Suspicions = 1 })
		add(func(o *verify.Options) { o.Unordered = true })
		add(func(o *verify.Options) { o.SafetyOnly = true })
		if e.Unoriented {
			add(func(o *verify.Options) { o.Orientations = true })
			add(func(o *verify.Options) { o.Orientations, o.Starts = true, verify.EverySet })
		}
	}
	return all
}

// Every reduction finds what the whole search finds: the violation, and the extremes.
func TestReductionsFindWhatTheWholeSearchFinds(t *testing.T) {
	applied, most := map[verify.Reduction]map[string]bool{}, 10_000
	if *longer {
		most = 40_000
	}
	for _, e := range all.Algorithms {
		if e.Timing != election.Asynchronous {
			continue
		}
		for _, o := range explorations(e) {
			o.Cores, o.MaxStates = 1, most
			whole, err := e.Verify(o)
			if err != nil {
				continue // a fault that the algorithm has no function for
			}
			if !whole.Complete {
				continue
			}
			for _, reduce := range []verify.Reduction{verify.AnyReduction, verify.Confluence, verify.PartialOrder, verify.Symmetry} {
				o.Reduce = reduce
				r, err := e.Verify(o)
				if errors.Is(err, verify.ErrOptions) && reduce != verify.AnyReduction {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if r.Confluent+r.Partial > 0 || r.Symmetry {
					if applied[reduce] == nil {
						applied[reduce] = map[string]bool{}
					}
					applied[reduce][e.Name] = true
				}
				if got, want := found(t, r), found(t, whole); got != want || r.Confluent == 0 && r.States > whole.States {
					t.Errorf("%s, %+v: %d states, %s; the whole search finds %s, in %d", e.Name, o, r.States, got, want, whole.States)
				}
			}
		}
	}
	t.Log(fmt.Sprint(applied))
}

// found is what a reduction must not change.
func found(t *testing.T, r *verify.Report) string {
	t.Helper()
	text, err := json.Marshal([]any{r.Complete, r.MaxMessages, r.MinMessages, r.Coverage, r.Violation})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
