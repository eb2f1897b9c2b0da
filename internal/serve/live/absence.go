package live

import (
	"container/heap"
	"fmt"
	"slices"
	"time"

	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/disk"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/transport"
)

// absence is, for a peer in no group of that name, what its problem there is.
const absence = "it is not in the group"

// deny tells a peer that this member is not in a group.
func (p *peer) deny(k key) { p.send(transport.AppendFrame(nil, denies, k[:]), k.slot(denies)) }

// denied notes that a peer is not in a group. For the algorithm it has crashed: it sends nothing any more until it starts
// again.
func (l *loop) denied(p *peer, k key) error {
	g := l.byKey[k]
	if g == nil || !p.differs(g, absence) || !g.started {
		return nil
	}
	g.handle.log.Info("member is not in the group", "peer", p.id)
	return g.take(process.Input{What: process.Suspected, Port: p.port()})
}

// Leave ends the part that the member takes in a group that it has joined, and waits for that. The lead must have ended. The error is
// [disk.ErrHangs] if the storage has not answered within ten seconds; then the member leaves the group when it has.
func (g *Group) Leave() error {
	g.member.post(leaving{g})
	limit := time.NewTimer(disk.LastAnswer)
	defer limit.Stop()
	for {
		select {
		case <-g.done:
			return nil
		case <-g.member.done:
			return nil
		case <-limit.C:
			if problem, _ := g.member.Disks.Storage(); problem != "" {
				return fmt.Errorf("%w for %v: the member leaves group %q when a write has ended", disk.ErrHangs, disk.LastAnswer, g.name)
			}
			limit.Reset(disk.LastAnswer)
		}
	}
}

// leave leaves the groups that the host has left, and of which nothing is to become durable.
func (l *loop) leave() {
	if l.quitting == 0 {
		return
	}
	l.groups = slices.DeleteFunc(l.groups, func(g *group) bool {
		if !g.quits || g.dirty || l.saving != nil && slices.Contains(l.saving.groups, g) {
			return false
		}
		l.quitting--
		l.revoted = true // its voters count no more
		delete(l.byKey, g.handle.key)
		if g.index >= 0 {
			heap.Remove(&l.due, g.index)
		}
		l.ready = slices.DeleteFunc(l.ready, func(other *group) bool { return other == g })
		g.decision, g.lease, g.because = network.Decision{Term: g.decision.Term}, process.Never, view.Because{Cause: view.Stopped, Detail: "it has left the group"}
		g.show()
		for p := range l.member.others() {
			delete(p.groups, g.handle.key)
			delete(p.values, g.handle.key)
			p.deny(g.handle.key)
		}
		close(g.handle.done)
		return true
	})
}
