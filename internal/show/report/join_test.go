//go:build !js

package report

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/ringleadertest"
)

type printed struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *printed) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

// lines returns the lines of a member without their times.
func (p *printed) lines() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for line := range strings.Lines(p.text.String()) {
		_, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		text, _, _ = strings.Cut(text, ", lease until")
		all = append(all, text)
	}
	return all
}

func TestJoinPrintsWhyEachLeadHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		ctx, stop := context.WithCancel(t.Context())
		var p printed
		var follows sync.WaitGroup
		follows.Go(func() { NewMember(&p, false, c.Member(1)).Follow(ctx, false) })
		c.Settle()
		if err := c.Member(3).Transfer(2); err != nil {
			t.Fatal(err)
		}
		c.Await(2)
		c.Settle()
		c.Kill(2)
		c.Await(3)
		c.Settle()
		stop()
		follows.Wait()
		got, ended := p.lines(), map[string]int{}
		for _, line := range got {
			for _, cause := range []string{"; the lead before has ended: transferred", "; the lead before has ended: lost: "} {
				if strings.Contains(line, cause) {
					ended[cause]++
				}
			}
		}
		if len(got) < 3 || got[0] != "1 follower of 3 in term 1" || len(ended) != 2 {
			t.Errorf("member 1 prints %q", got)
		}
		for cause, n := range ended {
			if n != 1 {
				t.Errorf("%q is told %d times: %q", cause, n, got)
			}
		}
	})
}

// A member that joins by one address knows no voters before another one has told them.
func TestVotersThatAreNotKnownAreNoLine(t *testing.T) {
	for _, c := range []struct {
		members []uint64
		want    bool
	}{{nil, false}, {[]uint64{1, 2}, true}} {
		var out strings.Builder
		s := Status{ringleader.Status{ID: 4, Voters: &ringleader.Voters{Members: c.members}}}
		if err := s.Text(&Printer{Out: &out}); err != nil || strings.Contains(out.String(), "as configured") != c.want {
			t.Errorf("voters %v: %v, %q", c.members, err, out.String())
		}
	}
}
