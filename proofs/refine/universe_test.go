package refine

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
)

// What the model has no name for is told apart from what it forbids, also with the steps before it.
func TestWhatTheModelHasNoNameForIsNoViolation(t *testing.T) {
	noted := func(varies bool, requests ...asked) (err error) {
		defer func() { err = failed(recover(), err) }()
		u := newUniverse(3, 3, Right{})
		for _, r := range requests {
			u.notes(1, r, varies)
		}
		return nil
	}
	one, other, later := asked{5, 10, 9}, asked{5, 8, 7}, asked{6, 8, 7}
	if err := errors.Join(noted(true, one, one, later), noted(false, one, later), noted(false, one, other)); err != nil {
		t.Error(err)
	}
	failure := (*Failure)(nil)
	if err := noted(true, one, later, other); !errors.As(err, &failure) || !failure.Unnamed || !failure.after(nil).Unnamed {
		t.Errorf("%+v", err)
	}
	forbidden := func() (err error) {
		defer func() { err = failed(recover(), err) }()
		quorum(0)
		return nil
	}
	if err := forbidden(); !errors.As(err, &failure) || failure.Unnamed || failure.after(nil).Unnamed {
		t.Errorf("%+v", err)
	}
	c, err := NewChecker(3, 3, Right{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Collected(); err != nil {
		t.Fatal(err)
	}
	if strconv.IntSize < 64 {
		return
	}
	last := math.MaxInt32
	if _, err := c.Pass(c.Begin(), last+1); !errors.As(err, &failure) || !failure.Unnamed { // the model has no such time
		t.Errorf("%+v", err)
	}
}

// wrong are clocks with which a share ends after the grant behind it.
type wrong struct {
	Right
	guessed bool
}

func (wrong) Ends(_ election.ID, now, left int) int { return now + left + 100 }

func (w wrong) Unsure() bool { return w.guessed }

// Clocks that are known break the axiom about them by a fault, and those that are guessed by a wrong guess.
func TestGuessedClocksThatContradictTheModelAreNoViolation(t *testing.T) {
	for _, guessed := range []bool{false, true} {
		c, err := NewChecker(3, 3, wrong{guessed: guessed})
		if err != nil {
			t.Fatal(err)
		}
		failure := (*Failure)(nil)
		if err := c.Collected(); !errors.As(err, &failure) || failure.Unnamed != guessed || !strings.Contains(failure.Text, "the axiom rho does not hold") {
			t.Errorf("guessed %v: %+v", guessed, err)
		}
	}
}
