//go:build !race

package sources_test

import (
	"fmt"
	"testing"

	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
)

// What the variable leader is: NIL, TRUE and FALSE.
const (
	undecided = iota
	isLeader
	isNone
)

// another is S1's Bully with another line of that number.
func another(line int) mutant {
	a := ringbully.Algorithm
	a.New = func(l election.Local) ringbully.Process {
		p := ringbully.New(l)
		switch line {
		case 1: // it has another identifier first
			p.ID++
		case 2:
			p.Awake = true
		case 3, 4:
			p.Replied[line-3] = true
		case 5:
			p.Leader = isNone
		}
		return p
	}
	a.Start = func(p *ringbully.Process, out bullyOut) {
		if line == 1 {
			p.ID--
		}
		p.Start(out)
	}
	a.Receive = func(p *ringbully.Process, port election.Port, kind election.Kind, m bullyMessage, out bullyOut) {
		if line == 9 && kind == ringbully.Probe && port == ringbully.CCW { // those from one side are not processed
			return
		}
		switch kind {
		case ringbully.Probe:
			anotherProbe(line, p, port, m, out)
		case ringbully.Reply:
			anotherReply(line, p, port, m, out)
		case ringbully.Terminate:
			anotherTerminate(line, p, port, m, out)
		}
	}
	return plant(a, fmt.Sprintf("line %d is another", line))
}

func anotherProbe(line int, p *ringbully.Process, port election.Port, m bullyMessage, out bullyOut) {
	switch {
	case m.ID == p.ID && (p.Leader == undecided || line == 10): // it wins again
		ccw := ringbully.CCW
		if line == 11 {
			ccw = ringbully.CW
		}
		out.Send(ccw, ringbully.Terminate, bullyMessage{})
		if p.Leader = isLeader; line == 12 {
			p.Leader = isNone
		}
		if line != 13 { // it does not terminate
			out.Lead(0)
		}
	case m.ID == p.ID:
	case (m.ID > p.ID || line == 14) && m.TTL > 0: // smaller ones, too
		if line != 15 { // ttl stays
			m.TTL--
		}
		out.Send(1-port, ringbully.Probe, m)
	case m.ID > p.ID || line == 16: // smaller ones, too
		if line == 17 { // it continues
			port = 1 - port
		}
		out.Send(port, ringbully.Reply, bullyMessage{ID: m.ID, Phase: m.Phase})
	}
}

func anotherReply(line int, p *ringbully.Process, port election.Port, m bullyMessage, out bullyOut) {
	switch {
	case line == 18 && port == ringbully.CCW: // those from one side are not processed
		return
	case m.ID != p.ID || line == 19: // its own ones, too
		if line == 20 { // the phase is another
			m.Phase++
		}
		out.Send(1-port, ringbully.Reply, m)
		return
	}
	if line == 21 { // whichever link it is
		port = ringbully.CW
	}
	p.Replied[port] = true
	if !p.Replied[0] && !p.Replied[1] || line != 22 && !(p.Replied[0] && p.Replied[1]) { // one is enough
		return
	}
	p.Replied = [2]bool{line == 23, line == 24} // it stays
	probe := bullyMessage{ID: p.ID, Phase: m.Phase + 1, TTL: 1<<(m.Phase+1) - 1}
	if line == 25 { // a hop too many
		probe.TTL++
	}
	out.Send(ringbully.CW, ringbully.Probe, probe)
	out.Send(ringbully.CCW, ringbully.Probe, probe)
}

func anotherTerminate(line int, p *ringbully.Process, port election.Port, m bullyMessage, out bullyOut) {
	if p.Leader != undecided && line != 27 || line == 26 { // it is passed on again; it is not processed
		return
	}
	ccw := ringbully.CCW
	if line == 28 {
		ccw = port
	}
	out.Send(ccw, ringbully.Terminate, m)
	if p.Leader = isNone; line == 29 {
		p.Leader = isLeader
	}
	if line != 30 { // it does not terminate
		out.Follow(0, 0)
	}
}

func TestEachLineOfTheCodeHasARowThatAnotherLineTurns(t *testing.T) {
	plants(t)
	rows := map[string]reproduce.Row{}
	for _, r := range rowsOf("S1") {
		rows[r.Where] = r
	}
	as := another(0)
	for line := 1; line <= 30; line++ {
		if line >= 6 && line <= 8 { // they have one row
			continue
		}
		row, there := rows[fmt.Sprintf("Bully, code line %d", line)]
		if !there {
			t.Errorf("no row is about line %d", line)
			continue
		}
		m := another(line)
		if r := judged(t, row, as.list()); r.Err != nil || r.Verdict == reproduce.Fails {
			t.Errorf("line %d, as it is: %s %s %v", line, r.Verdict, r.Measured, r.Err)
		}
		if r := judged(t, row, m.list()); r.Err != nil || r.Verdict != reproduce.Fails || r.Measured == "" {
			t.Errorf("%s: %s %s %v", m.is, r.Verdict, r.Measured, r.Err)
		}
	}
}
