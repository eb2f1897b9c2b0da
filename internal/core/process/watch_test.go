package process

import (
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/election"
)

// So are New and Eligible.
func TestAFunctionThatDoesNotReturnIsCalledStuck(t *testing.T) {
	for want, change := range map[string]func(a *election.Algorithm[probe, note], blocks func()){
		"probing: New of process 1 has not returned after 20s; it must end by itself": func(a *election.Algorithm[probe, note], blocks func()) {
			a.New = func(election.Local) probe { blocks(); return probe{} }
		},
		"probing: Eligible of process 1 has not returned after 20s; it must end by itself": func(a *election.Algorithm[probe, note], blocks func()) {
			a.Eligible = func(*probe) bool { blocks(); return true }
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			a := probing()
			change(&a, func() { <-release })
			program, placed := hidden(t, a)
			told := make(chan string, 1)
			Watch(20*time.Second, func(sentence string) { told <- sentence })
			go func() { program.New(placed, false, true).Eligible(0, 0) }()
			if got := <-told; got != want {
				t.Errorf("it says %q, and should say %q", got, want)
			}
			close(release)
		})
	}
}

// So are the functions of a declaration.
func TestADeclaredFunctionThatDoesNotReturnIsCalledStuck(t *testing.T) {
	for name, test := range map[string]struct {
		change func(d *election.Declaration, blocks func())
		call   func(d *election.Declaration)
	}{
		"the bound n of election messages": {
			func(d *election.Declaration, blocks func()) {
				d.Bounds = []election.Bound{{Of: "election", Formula: "n", Value: func(n uint64) uint64 { blocks(); return n }}}
			},
			func(d *election.Declaration) { d.Bounds[0].Value(1) },
		},
		"the bound n/2 of election messages": {
			func(d *election.Declaration, blocks func()) {
				d.Bounds = []election.Bound{{Of: "election", Formula: "n/2", Case: election.Average, Mean: func(n uint64) float64 { blocks(); return 1 }}}
			},
			func(d *election.Declaration) { d.Bounds[0].Mean(1) },
		},
		"Adjust": {
			func(d *election.Declaration, blocks func()) {
				d.Adjust = func(*election.Declaration, election.Parameters) { blocks() }
			},
			func(d *election.Declaration) { d.With(election.Parameters{}) },
		},
		"Sequence": {
			func(d *election.Declaration, blocks func()) {
				d.Sequence = func(election.Parameters, uint64, uint) ([]*big.Int, error) { blocks(); return nil, nil }
			},
			func(d *election.Declaration) { _, _ = d.Tabulate(election.Parameters{}, 3) },
		},
		"Settles": {
			func(d *election.Declaration, blocks func()) {
				d.Settles = func(uint64, election.Parameters) election.Ticks { blocks(); return election.Ticks{} }
			},
			func(d *election.Declaration) { d.Settles(3, election.Parameters{}) },
		},
		"AllowDuplicates": {
			func(d *election.Declaration, blocks func()) {
				d.AllowDuplicates = func(election.Arrangement) error { blocks(); return nil }
			},
			func(d *election.Declaration) { _ = d.AllowDuplicates(election.List{1, 1}) },
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			d := probing().Declaration
			test.change(&d, func() { <-release })
			told := make(chan string, 1)
			Watch(20*time.Second, func(sentence string) { told <- sentence })
			go func() { test.call(bounded(&d)) }()
			if got, want := <-told, "probing: "+name+" has not returned after 20s; it must end by itself"; got != want {
				t.Errorf("it says %q, and should say %q", got, want)
			}
			close(release)
		})
	}
}

// Steps that return are not called stuck, whatever time passes between them; the first that does not is, once its time is over.
func TestAStepThatDoesNotReturnIsCalledStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		blocks := false
		a := starting(func(*probe, out) {
			if blocks {
				<-release
			}
		})
		program, placed := hidden(t, a)
		ps := program.New(placed, false, false)
		ps.Choices(func(n uint32) uint32 { return 0 })
		const limit = 20 * time.Second
		told := make(chan string, 1)
		Watch(limit, func(sentence string) { told <- sentence })
		var begun time.Time
		go func() {
			for i := range 5 {
				time.Sleep(2 * limit)
				begun, blocks = time.Now(), i == 4
				if _, err := ps.Checked(1, 1, Event{What: Started}, election.Ticks{}); err != nil {
					t.Error(err)
				}
			}
		}()
		want := "probing: process 2 starts, and has not returned after 20s; a step must end by itself"
		if got := <-told; got != want {
			t.Errorf("it says %q, and should say %q", got, want)
		}
		if took := time.Since(begun); !blocks || took < limit || took > limit+2*limit/looks {
			t.Errorf("a step is called stuck after %v", took)
		}
		close(release)
	})
}
