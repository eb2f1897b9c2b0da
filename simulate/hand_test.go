package simulate

import (
	"slices"
	"sync"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/internal/runners/lcr"
	"ringleader.example/ringleader/internal/runners/ringbully"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/order"
)

// The baselines of the engines. Like engines, all of these decide, announce and count messages by kind. Those in
// lock-step also return when a leader decides, when the last process decides, and the time of quiescence.

// handLCR is LCR in lock-step in a hand-written loop: no state but identifiers and decisions, and one list that is
// compacted in place.
func handLCR(ids []election.ID) (elect, leader uint64, decided []election.ID, quiet uint64) {
	type hop struct {
		id election.ID
		at uint32
	}
	n := uint32(len(ids))
	decided = make([]election.ID, n)
	list := make([]hop, n)
	for p := range list {
		list[p] = hop{ids[p], uint32(p)}
	}
	var announce hop
	for len(list) > 0 {
		quiet++
		elect += uint64(len(list))
		kept := 0
		for _, m := range list {
			to := m.at + 1
			if to == n {
				to = 0
			}
			if m.id > ids[to] {
				list[kept] = hop{m.id, to}
				kept++
			} else if m.id == ids[to] {
				announce = hop{m.id, to}
			}
		}
		list = list[:kept]
	}
	for home := announce.at; decided[home] == 0; {
		leader++
		announce.at++
		if announce.at == n {
			announce.at = 0
		}
		decided[announce.at] = announce.id
	}
	return elect, leader, decided, quiet + leader // when the leader, the last of all, knows it
}

// handRingBully is ring-bully in lock-step by hand: five bytes a processor, two lists that are exchanged. It counts
// probes and replies by their phase.
func handRingBully(ids []election.ID) (probes, replies, terminate uint64, byPhase [32]uint64, leads []uint8, quiet uint64) {
	type hop struct {
		id   election.ID
		ttl  uint32
		link uint32 // 2p+direction
		what uint8  // phase, and 64 for a reply
	}
	const reply, yes, no = 64, 4, 8
	n := uint32(len(ids))
	flags := make([]uint8, n)
	list, next := make([]hop, 0, 2*n), make([]hop, 0, 2*n)
	for p := range n {
		list = append(list, hop{ids[p], 0, 2 * p, 0}, hop{ids[p], 0, 2*p + 1, 0})
	}
	home, won := uint32(0), uint64(0)
	for len(list) > 0 {
		quiet++
		next = next[:0]
		for _, m := range list {
			way := m.link & 1
			to := m.link>>1 + 1 - 2*way
			if to >= n {
				to = (to + n) % n
			}
			byPhase[m.what&31]++
			if m.what < reply {
				probes++
				switch id := ids[to]; {
				case m.id > id && m.ttl > 0:
					next = append(next, hop{m.id, m.ttl - 1, 2*to + way, m.what})
				case m.id > id:
					next = append(next, hop{m.id, 0, 2*to + 1 - way, m.what | reply})
				case m.id == id:
					flags[to] |= yes
					home, won = to, quiet
				}
				continue
			}
			replies++
			if m.id != ids[to] {
				next = append(next, hop{m.id, 0, 2*to + way, m.what})
				continue
			}
			flags[to] |= 1 << way
			if flags[to]&3 == 3 {
				flags[to] &^= 3
				phase := m.what&^reply + 1
				next = append(next, hop{m.id, 1<<phase - 1, 2 * to, phase}, hop{m.id, 1<<phase - 1, 2*to + 1, phase})
			}
		}
		list, next = next, list
	}
	for {
		terminate++
		home = (home + n - 1) % n
		if flags[home]&(yes|no) != 0 {
			return probes, replies, terminate, byPhase, flags, max(quiet, won+terminate)
		}
		flags[home] |= no
	}
}

// handRandomLCR is LCR with a hand-written random scheduler: a list of the links that are not empty, and for each
// link its messages, the first of them in the record of the link.
func handRandomLCR(ids []election.ID, seed uint64) (deliveries uint64) {
	const leader = 1 << 31
	type link struct {
		first     uint32 // a message, 0 if there is none
		rest, end uint32 // the list of the others
	}
	type cell struct{ id, next uint32 }
	n := uint32(len(ids))
	links, busy, decided := make([]link, n), make([]uint32, 0, n), make([]election.ID, n)
	cells, free := make([]cell, 1, n), uint32(0)
	send := func(p, id uint32) {
		l := &links[p]
		if l.first == 0 {
			l.first = id
			busy = append(busy, p)
			return
		}
		c := free
		if c != 0 {
			free = cells[c].next
		} else {
			c = uint32(len(cells))
			cells = append(cells, cell{})
		}
		cells[c] = cell{id, 0}
		if l.rest == 0 {
			l.rest = c
		} else {
			cells[l.end].next = c
		}
		l.end = c
	}
	picks := random.New(seed, random.Schedule)
	for p := range n {
		send(p, uint32(ids[p]))
	}
	for len(busy) > 0 {
		at := picks.Below(uint64(len(busy)))
		p := busy[at]
		l := &links[p]
		id := l.first
		if c := l.rest; c != 0 {
			l.first, l.rest = cells[c].id, cells[c].next
			cells[c].next, free = free, c
		} else {
			busy[at], busy, l.first = busy[len(busy)-1], busy[:len(busy)-1], 0
		}
		deliveries++
		to := p + 1
		if to == n {
			to = 0
		}
		switch mine := uint32(ids[to]); {
		case id&leader != 0:
			if decided[to] = election.ID(id &^ leader); id&^leader != mine {
				send(to, id)
			}
		case id > mine:
			send(to, id)
		case id == mine:
			send(to, id|leader)
		}
	}
	return deliveries
}

// handLetter is a message between goroutines.
type handLetter[M any] struct {
	m    M
	port election.Port
	kind election.Kind
	stop bool
}

// goroutines runs an algorithm on an oriented ring with a goroutine and a channel for each process, until all have
// decided; then it calls decidedAll, while the goroutines still run. It counts deliveries.
func goroutines[S, M any](a *election.Algorithm[S, M], p *network.Instance, decidedAll func()) (deliveries uint64) {
	n := p.Size()
	inbox := make([]chan handLetter[M], n)
	for q := range inbox {
		inbox[q] = make(chan handLetter[M], 64)
	}
	var decided, running sync.WaitGroup
	decided.Add(n)
	received := make([]uint64, n)
	for q := range n {
		running.Go(func() {
			state := a.New(p.Local(q))
			var c election.Collector[M]
			step := func() {
				for _, s := range c.Sent() {
					to, port := p.Network.End(s.On())
					inbox[to] <- handLetter[M]{m: s.M, port: port, kind: s.Kind()}
				}
				for range c.Effects() {
					decided.Done()
				}
				c.Reset()
			}
			c.At(p.Network.First(q))
			a.Start(&state, c.Out())
			step()
			for m := range inbox[q] {
				if m.stop {
					return
				}
				received[q]++
				a.Receive(&state, m.port, m.kind, m.m, c.Out())
				step()
			}
		})
	}
	decided.Wait()
	decidedAll()
	for q := range inbox {
		inbox[q] <- handLetter[M]{stop: true}
	}
	running.Wait()
	for _, count := range received {
		deliveries += count
	}
	return deliveries
}

// list returns the identifiers for the hand-written loops.
func list(ids *order.Order) []election.ID {
	all := make([]election.ID, ids.Len())
	for p := range all {
		all[p] = election.ID(ids.At(p))
	}
	return all
}

func ring(n int) Options { return Options{Setup: network.Setup{IDs: permuted(n)}} }

// A baseline is valid only if it does the same as the engines.
func TestHandWrittenLoopsDoTheSame(t *testing.T) {
	for _, n := range []int{2, 3, 64, 1000, 5000} {
		ids := permuted(n)
		r, err := New(lcr.Program).Run(ring(n))
		if err != nil {
			t.Fatal(err)
		}
		elect, leader, decided, quiet := handLCR(list(ids))
		if elect != r.Messages.Election || leader != r.Messages.Announcement || election.Units(quiet) != r.Time.Quiet ||
			r.Time.Elected != r.Time.Quiet || slices.Contains(decided, 0) {
			t.Errorf("LCR, n = %d: %d and %d messages in %d units, and %v at %v", n, elect, leader, quiet, r.Messages, r.Time)
		}
		if r, err = New(ringbully.Program).Run(ring(n)); err != nil {
			t.Fatal(err)
		}
		probes, replies, terminate, byPhase, leads, quiet := handRingBully(list(ids))
		if !slices.Equal([]uint64{probes, replies, terminate}, r.Messages.ByKind) || !slices.Equal(byPhase[:len(r.ByPhase)], r.ByPhase) ||
			election.Units(quiet) != r.Time.Quiet || slices.Contains(leads, 0) {
			t.Errorf("ring-bully, n = %d: %d, %d and %d messages in %d units, and %v at %v", n, probes, replies, terminate, quiet, r.Messages, r.Time)
		}
	}
}
