package live

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/transport/transporttest"
)

// exchange starts all members of a cluster on an exchange of frames.
func (c *cluster) exchange(e *transporttest.Exchange) {
	c.t.Helper()
	c.over = e
	var ids []uint64
	for _, member := range c.addresses {
		ids = append(ids, member.ID)
	}
	c.start(ids...)
}

func TestMembersElectOverFramesAsOverBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 3)
		defer c.stopAll()
		c.exchange(transporttest.NewExchange())
		for leader := uint64(3); leader >= 1; leader-- {
			for id := range c.members {
				c.until(id, "follows the greatest", follows(leader))
			}
			c.crash(leader)
		}
	})
}

func TestASingleFrameCanBeHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, bully.Algorithm, 3)
		defer c.stopAll()
		e := transporttest.NewExchange()
		e.Hold(func(f transporttest.Frame) bool {
			return f.To == 1 && f.What == transporttest.Message && election.Kind(f.Kind) == bully.Coordinator
		})
		c.exchange(e)
		c.until(2, "follows 3", follows(3))
		synctest.Wait()
		if s, _ := c.members[1].Group.State(); s.Leader != 0 {
			t.Errorf("member 1 follows %d, which it was not told", s.Leader)
		}
		e.Hold(nil)
		for len(e.Held()) > 0 {
			e.Deliver(0)
		}
		c.until(1, "follows 3", follows(3))
	})
}

func TestFramesArriveInTheOrderThatATestGivesThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l log
		talker := new(log).witness()
		talker.Command = func(_ *witness, _ election.Command, out *election.Out[nothing]) {
			for i := range 4 {
				out.Send(1, election.Kind(i%2), nothing{})
			}
		}
		c := newCluster(t, talker, 2)
		defer c.stopAll()
		e := transporttest.NewExchange()
		c.exchange(e)
		c.crash(2)
		c.algorithm = hidden(l.witness())
		config := c.config(2, at(2))
		config.Transport = e.Open
		m, err := JoinProgram(context.Background(), c.algorithm, config)
		if err != nil {
			t.Fatal(err)
		}
		c.members[2] = m
		settle()
		e.Hold(func(f transporttest.Frame) bool { return f.What == transporttest.Message })
		c.members[1].Group.Command(election.Command{Order: election.Resign})
		synctest.Wait()
		e.Deliver(3) // one, before
		e.Deliver(0) // zero
		e.Drop(1)    // zero
		synctest.Wait()
		if got, want := l.sofar(), []string{"start", "message 1 of 1", "message 0 of 1"}; !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
		e.Break(1, 2)
		e.Deliver(0) // of a connection that is no more
		<-time.After(beat)
		if got, want := l.sofar(), []string{"start", "message 1 of 1", "message 0 of 1", "suspect 1", "trust 1"}; !slices.Equal(got, want) {
			t.Errorf("after the break %q; want %q", got, want)
		}
	})
}
