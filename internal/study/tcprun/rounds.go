package tcprun

import (
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
)

// rounds is the synchroniser of a processor, and holds the arrivals for later rounds.
type rounds struct {
	number  uint64      // of the next round
	began   time.Time   // when the last one began
	in      [][]arrival // by port: unread frames; a marker ends a round
	markers []int       // by port: the number of markers among these
	awaits  []bool      // by port: whether frames can arrive
	sends   []bool      // by port: whether frames can leave, to a live processor
	missing int         // ports from which a marker is awaited, for the next round
}

// wait initialises the rounds of a processor.
func (r *rounds) wait(p *processor) {
	ports := len(p.out)
	r.in, r.markers, r.awaits, r.sends = make([][]arrival, ports), make([]int, ports), make([]bool, ports), make([]bool, ports)
	for port := range ports {
		from, back := p.behind(port)
		r.awaits[port] = !p.dead[from] && (!p.d.OneWay || back == p.network.First(from))
		r.sends[port] = !p.dead[from] && (!p.d.OneWay || port == 0)
	}
}

// arrive keeps a frame until its round.
func (r *rounds) arrive(a arrival) {
	r.in[a.port] = append(r.in[a.port], a)
	if a.kind != marker {
		return
	}
	if r.markers[a.port]++; r.markers[a.port] == 1 && r.number > 0 { // none is awaited for round 0
		r.missing--
	}
}

// complete reports whether all frames of the next round have arrived.
func (r *rounds) complete() bool { return r.missing == 0 }

// play plays the next round of a synchronous run, if it is complete and due, and reports whether it did.
func (r *rounds) play(p *processor) bool {
	if !p.synchronous() || !p.going || !r.complete() || p.next() > 0 {
		return false
	}
	r.began = time.Now()
	if r.number > 0 {
		for port := range r.in {
			r.read(p, port)
		}
	}
	if p.starting {
		p.starting = false
		p.step(process.Input{What: process.Started})
	}
	for {
		timer, wait := p.timers.Next(clocks(time.Duration(r.number)))
		if wait > 0 {
			break
		}
		p.timeout(timer)
	}
	r.missing = 0
	for port := range r.in {
		if r.sends[port] {
			p.send(election.Port(port), markerFrame)
			p.outcome.Markers++
		}
		if r.awaits[port] && r.markers[port] == 0 {
			r.missing++
		}
	}
	r.number++
	return true
}

// read reads the frames of a port for this round.
func (r *rounds) read(p *processor, port int) {
	if !r.awaits[port] {
		return
	}
	for i, a := range r.in[port] {
		if a.kind == marker {
			r.in[port] = r.in[port][i+1:]
			r.markers[port]--
			return
		}
		p.take(a)
	}
}
