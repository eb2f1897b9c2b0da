package claims_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/internal/runners/lcr"
	"ringleader.example/ringleader/internal/study/claims"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

type algorithm = election.Algorithm[stopandgo.Process, stopandgo.Message]

// run is a random election of up to n processors, of which some wake by themselves and some are unwilling.
func run(source *random.Source, most int) simulate.Options {
	n := 1 + int(source.Below(uint64(most)))
	ids := make(election.List, n)
	for q := range ids {
		for ids[q] == 0 || slices.Contains(ids[:q], ids[q]) {
			ids[q] = 1 + source.Below(uint64(2*most))
		}
	}
	o := simulate.Options{Setup: network.Setup{IDs: ids}, Record: true, Values: true, Limit: 10_000}
	o.Wake = slices.Repeat([]election.Ticks{election.Forever}, n)
	o.Wake[source.Below(uint64(n))] = election.Units(source.Below(100))
	for q := range o.Wake {
		if source.Below(2) == 0 {
			o.Wake[q] = election.Units(source.Below(uint64(2 * n)))
		}
		if source.Below(3) == 0 && q > 0 {
			o.Setup.Unwilling = append(o.Setup.Unwilling, q)
		}
	}
	return o
}

// behind is an election in which the last processor to wake is behind the first one, which has a slightly larger
// identifier. So its identity walks where that one has walked before, which is rare in other elections.
func behind(source *random.Source) simulate.Options {
	n := 6 + int(source.Below(19))
	ids := make(election.List, n)
	for q := range ids {
		ids[q] = uint64(q) + 2
	}
	ids[n-1] = 1
	for q := range n - 1 {
		most := n - 1
		if q < 3 {
			most = min(6, most)
		}
		p := q + int(source.Below(uint64(most-q)))
		ids[q], ids[p] = ids[p], ids[q]
	}
	o := simulate.Options{Setup: network.Setup{IDs: ids}, Record: true, Values: true, Limit: 10_000}
	o.Setup.Parameters = map[string]string{"c": fmt.Sprint(2 + source.Below(3))}
	o.Wake = slices.Repeat([]election.Ticks{election.Forever}, n)
	o.Wake[0] = election.Units(0)
	for q := 1; q < n; q++ {
		if source.Below(6) == 0 {
			o.Wake[q] = election.Units(source.Below(6))
		}
		if source.Below(5) == 0 {
			o.Setup.Unwilling = append(o.Setup.Unwilling, q)
		}
	}
	return o
}

func TestTheProofOfTheorem43HoldsWhereItHasSomethingToProve(t *testing.T) {
	source := random.New(1, random.Network)
	seen := map[claims.Statement]int{}
	for range 500 {
		for _, c := range claimsOf(t, stopandgo.P1, behind(source)) {
			if seen[c.Statement] += c.Count; !c.Holds {
				t.Fatalf("%s: %s: %s", c.Source, c.Text, c.Measured)
			}
		}
	}
	for _, s := range []claims.Statement{claims.SentBefore, claims.CaseOne, claims.CaseOneNext, claims.CaseTwo, claims.RedAndWhite} {
		if seen[s] == 0 {
			t.Errorf("in no run there is anything to say of statement %d", s)
		}
	}
}

func claimsOf(t *testing.T, a algorithm, o simulate.Options) []claims.Claim {
	t.Helper()
	r, err := simulate.Must(simulate.OfSmall(&a)).Run(o)
	if err != nil {
		t.Fatal(err)
	}
	all, err := claims.StopAndGo(r.Record, r.Prepared.Parameters.Sequence())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEveryRunKeepsEveryClaim(t *testing.T) {
	source := random.New(1, random.Network)
	for range 250 {
		for _, a := range []algorithm{stopandgo.P1, stopandgo.P2, stopandgo.P3, stopandgo.P4} {
			o := run(source, 20)
			for _, c := range claimsOf(t, a, o) {
				if !c.Holds {
					t.Fatalf("%s on %v waking at %v, unwilling %v: %s: %s: %s", a.Name, o.Setup.IDs, o.Wake, o.Setup.Unwilling, c.Source, c.Text, c.Measured)
				}
			}
		}
	}
}

// Claims that no broken algorithm below violates fail on records that were tampered with.
func TestEveryClaimCanFail(t *testing.T) {
	source := random.New(1, random.Network)
	broken := map[string]bool{}
	look := func(r *trace.Record, hypotheses []election.Ticks) {
		all, err := claims.StopAndGo(r, hypotheses)
		if err != nil && !errors.Is(err, claims.ErrRecord) {
			t.Fatal(err)
		}
		for _, c := range all {
			broken[c.Text] = broken[c.Text] || !c.Holds
		}
	}
	for range 150 {
		o := run(source, 12)
		for _, a := range mutants() {
			r, err := simulate.Must(simulate.OfSmall(&a)).Run(o)
			if err != nil {
				t.Fatal(err)
			}
			look(r.Record, long)
		}
		r, err := simulate.Must(simulate.OfSmall(&stopandgo.P1)).Run(o)
		if err != nil {
			t.Fatal(err)
		}
		h := r.Prepared.Parameters.Sequence()
		look(r.Record, append([]election.Ticks{election.Units(2)}, h...))
		for i := range r.Record.Steps {
			if s := &r.Record.Steps[i]; s.Kind == "election started" && source.Below(2) == 0 { // it came late
				s.Time = s.Time.Add(election.Units(source.Below(100)))
			}
		}
		look(r.Record, h)
	}
	for _, c := range claimsOf(t, stopandgo.P1, simulate.Options{Setup: network.On(1), Record: true, Values: true}) {
		if !broken[c.Text] {
			t.Errorf("nothing breaks %q", c.Text)
		}
	}
}

// long are hypotheses for algorithms that do not stop when they should.
var long = func() (h []election.Ticks) {
	for m := range uint(20) {
		h = append(h, election.Power(m+1))
	}
	return h
}()

// mutants are variants of P1, each with one rule left out.
func mutants() (all []algorithm) {
	for _, change := range []func(p *stopandgo.Process, kind election.Kind, m stopandgo.Message){
		func(p *stopandgo.Process, kind election.Kind, m stopandgo.Message) { // M' is not killed
			if kind == stopandgo.Identity && m.ID < p.Best {
				p.Waiting = 0
			}
		},
		func(p *stopandgo.Process, kind election.Kind, m stopandgo.Message) { // larger waiting identities do not give way
			if kind == stopandgo.Identity && m.ID != p.ID && p.Waiting == 0 {
				p.Best = 0
			}
		},
	} {
		a := stopandgo.P1
		a.New = func(l election.Local) stopandgo.Process {
			p := stopandgo.P1.New(l)
			p.Hypotheses = long
			return p
		}
		a.Receive = func(p *stopandgo.Process, port election.Port, kind election.Kind, m stopandgo.Message, out *election.Out[stopandgo.Message]) {
			change(p, kind, m)
			stopandgo.P1.Receive(p, port, kind, m, out)
		}
		a.Timeout = func(p *stopandgo.Process, timer election.Timer, out *election.Out[stopandgo.Message]) {
			p.Waiting = max(p.Waiting, 1) // what was not killed leaves
			stopandgo.P1.Timeout(p, timer, out)
		}
		all = append(all, a)
	}
	a := stopandgo.P1 // no identity waits or dies, and each leaves twice
	a.Timeout = func(p *stopandgo.Process, timer election.Timer, out *election.Out[stopandgo.Message]) {
		stopandgo.P1.Timeout(p, timer, out)
		p.Waiting = 1
		stopandgo.P1.Timeout(p, timer, out)
	}
	a.Receive = func(p *stopandgo.Process, port election.Port, kind election.Kind, m stopandgo.Message, out *election.Out[stopandgo.Message]) {
		switch {
		case kind == stopandgo.Started:
			if stopandgo.P1.Receive(p, port, kind, m, out); p.Stands {
				out.After(stopandgo.Stop, election.Units(1))
			}
		case kind == stopandgo.Identity && m.ID != p.ID:
			out.Send(stopandgo.Right, stopandgo.Identity, stopandgo.Message{ID: m.ID, Phase: 1, Walked: m.Walked + 1})
		default:
			stopandgo.P1.Receive(p, port, kind, m, out)
		}
	}
	return append(all, a)
}

func TestARecordWithoutValuesIsRefused(t *testing.T) {
	r, err := simulate.Must(simulate.OfSmall(&stopandgo.P1)).Run(simulate.Options{Setup: network.On(3, 1, 2), Record: true})
	if err != nil {
		t.Fatal(err)
	}
	_, err = claims.StopAndGo(r.Record, r.Prepared.Parameters.Sequence())
	if !errors.Is(err, claims.ErrRecord) || !errors.Is(err, trace.ErrField) {
		t.Errorf("a record of texts only: %v", err)
	}
}

func TestRecordsOfOtherAlgorithmsAreRefused(t *testing.T) {
	r, err := simulate.New(lcr.Program).Run(simulate.Options{Setup: network.On(3, 1, 2), Record: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := claims.StopAndGo(r.Record, []election.Ticks{election.Units(4)}); err == nil || !strings.Contains(err.Error(), "cannot check") {
		t.Errorf("a run of lcr: %v", err)
	}
}

func TestStatementsDiffer(t *testing.T) {
	taken := map[string]bool{}
	for s := claims.OneMessage; s <= claims.Elected; s++ {
		if taken[s.Text()] {
			t.Errorf("two statements are %q", s.Text())
		}
		taken[s.Text()] = true
	}
}
