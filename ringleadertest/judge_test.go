package ringleadertest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

// complaints is a test that keeps its errors to itself.
type complaints struct {
	testing.TB
	all []string
}

func (c *complaints) Helper() {}

func (c *complaints) Errorf(format string, args ...any) {
	c.all = append(c.all, fmt.Sprintf(format, args...))
}

// The clock of the leader is slower than Drift allows, so its lease outlasts the promises of the others.
func TestTheJudgeSeesTwoLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := &complaints{TB: t}
		c := ringleadertest.New(heard, ringleader.Config{}, 1, 2, 3)
		c.Start(1, 2, 3)
		c.Await(3)
		if err := c.Member(3).Transfer(1); err != nil {
			t.Fatal(err)
		}
		c.Await(1)
		c.Host(1).Clock.Run(0.2)
		c.Cut([]uint64{1}, []uint64{2, 3})
		c.Pass(2 * ringleader.Test().Lease)
		c.Close()
		if text := strings.Join(heard.all, "\n"); !strings.Contains(text, "two leases run at the same time: those of 1 in term 2 and 3 in term 3") {
			t.Errorf("it complains of %q", text)
		}
	})
}

// The work of a member that is killed may go on in what it has started, so its lease counts until its death is proven.
func TestTheJudgeCountsTheLeaseOfAMemberThatIsKilled(t *testing.T) {
	for _, proven := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			heard := &complaints{TB: t}
			c := ringleadertest.New(heard, ringleader.Config{}, 1, 2, 3)
			defer c.Close()
			c.Start(1, 2, 3)
			c.Await(3)
			c.Host(1).Clock.Run(5) // their promises end too soon
			c.Host(2).Clock.Run(5)
			c.Kill(3)
			if proven {
				c.Prove(3)
			}
			c.Until("2 leads", func() bool { return c.Member(2).View().Role == ringleader.Leader })
			c.Pass(10 * time.Millisecond)
			if found := strings.Contains(strings.Join(heard.all, "\n"), "3, which is dead or stopped,"); found == proven {
				t.Errorf("proven: %v; it complains of %q", proven, heard.all)
			}
		})
	}
}

func TestTheJudgeSeesATermBelowOneThatWasLed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := &complaints{TB: t}
		c := ringleadertest.New(heard, ringleader.Config{}, 1, 2, 3)
		c.Start(1, 2, 3)
		c.Await(3)
		c.Host(3).Clock.Run(0.2)
		c.Cut([]uint64{3}, []uint64{1, 2})
		c.Pass(2 * ringleader.Test().Lease)
		c.Close()
		if text := strings.Join(heard.all, "\n"); !strings.Contains(text, "3 leads in term 1 after term 2 was led") {
			t.Errorf("it complains of %q", text)
		}
	})
}
