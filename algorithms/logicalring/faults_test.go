package logicalring_test

import (
	"fmt"
	"slices"
	"testing"

	"ringleader.example/ringleader/algorithms/logicalring"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/election/electiontest"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

func TestAgreesAfterAnyScriptOfCrashesAndRecoveries(t *testing.T) {
	for seed := range uint64(4000) {
		if r := run(t, logicalring.Algorithm, script(seed)); !r.Right || !r.Complete || len(r.Faults) > 0 {
			t.Fatalf("seed %d: complete %v, leaders at %v, faults %v", seed, r.Complete, r.Leaders, r.Faults)
		}
	}
}

// script returns a run with up to five crashes, of which about half are followed by a recovery.
func script(seed uint64) simulate.Options {
	source := random.New(seed, random.Choices)
	n := 2 + int(source.Below(6))
	delay := 1 + source.Below(3)
	o := options(n, map[string]string{"delay": fmt.Sprint(delay), "announce": []string{"ring", "direct"}[source.Below(2)]})
	o.Seed, o.Limit = seed, 100_000
	for p := range n - 1 - int(source.Below(2)) {
		if source.Below(3) == 0 {
			continue
		}
		at := source.Below(40 * delay)
		for range 1 + source.Below(2) { // a process may crash again
			o.Faults.Crashes = append(o.Faults.Crashes, faults.Crash{Process: p + n%2, At: election.Units(at)})
			if at += 1 + source.Below(20*delay); source.Below(2) == 0 {
				break
			}
			o.Faults.Recoveries = append(o.Faults.Recoveries, faults.Recovery{Process: p + n%2, At: election.Units(at)})
			at += 1 + source.Below(20*delay)
		}
	}
	return o
}

func TestAgreesAfterWrongSuspicions(t *testing.T) {
	for seed := range uint64(3000) {
		source := random.New(seed, random.Choices)
		n := 2 + int(source.Below(6))
		o := options(n, map[string]string{"delay": fmt.Sprint(1 + seed%3), "announce": []string{"ring", "direct"}[source.Below(2)]})
		o.Seed = seed
		for range 1 + source.Below(3) {
			p, at := int(source.Below(uint64(n))), source.Below(60)
			o.Faults.Suspicions = append(o.Faults.Suspicions, faults.Suspicion{
				Process: p, Of: (p + 1 + int(source.Below(uint64(n-1)))) % n,
				At: election.Units(at), Until: election.Units(at + 1 + source.Below(30)),
			})
		}
		if r := run(t, logicalring.Algorithm, o); !r.Right || len(r.Faults) > 0 {
			t.Fatalf("seed %d: leaders at %v, faults %v", seed, r.Leaders, r.Faults)
		}
	}
}

func options(n int, parameters map[string]string) simulate.Options {
	ids := make(election.List, n)
	for p := range ids {
		ids[p] = uint64(p) + 1
	}
	return simulate.Options{Setup: network.Setup{IDs: ids, Parameters: parameters}}
}

func run(t *testing.T, a election.Algorithm[process, message], o simulate.Options) *simulate.Result {
	t.Helper()
	r := electiontest.Run(t, a, o)
	return r
}

// tally counts the messages that arrived, by kind, and the entries of all lists.
type tally struct {
	delivered []uint64
	entries   uint64
}

func counting(a election.Algorithm[process, message]) (election.Algorithm[process, message], *tally) {
	sum := &tally{delivered: make([]uint64, len(a.Kinds))}
	receive := a.Receive
	a.Receive = func(p *process, port election.Port, kind election.Kind, m message, out *effects) {
		sum.delivered[kind]++
		if kind == logicalring.Election {
			sum.entries += uint64(len(m.List))
		}
		receive(p, port, kind, m, out)
	}
	return a, sum
}

// set returns the positions whose bits are set.
func set(bits int) (positions []int) {
	for p := 0; bits>>p > 0; p++ {
		if bits>>p&1 == 1 {
			positions = append(positions, p)
		}
	}
	return positions
}

// costs compares a run with the cost of k lists and k announcements among m live processes of n.
func costs(t *testing.T, n int, dead, starters []int, announce string) {
	t.Helper()
	o := options(n, map[string]string{"announce": announce})
	o.Faults.Dead, o.Initiators = dead, starters
	a, sum := counting(logicalring.Algorithm)
	r := run(t, a, o)
	m, k := uint64(n-len(dead)), uint64(len(starters))
	told, missed := m, uint64(len(dead)) // by an announcement
	if announce == "direct" {
		told, missed = m-1, 0
	}
	delivered := []uint64{k * m, k * told, k * (m + told)}
	sent := []uint64{k * uint64(n), k * (told + missed), k * (m + told)} // each traversal meets all dead processes
	if !slices.Equal(sum.delivered, delivered) || !slices.Equal(r.Messages.ByKind, sent) || sum.entries != k*m*(m+1)/2 || !r.Right {
		t.Fatalf("n=%d, dead %v, %v start, %s: delivered %v, want %v; sent %v, want %v; %d entries; right %v",
			n, dead, starters, announce, sum.delivered, delivered, r.Messages.ByKind, sent, sum.entries, r.Right)
	}
}
