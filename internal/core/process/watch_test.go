package process

import (
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
