package electiontest

import (
	"math/big"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify"
)

// The lease core of quorum-bully: a majority of leases decides whether a member may lead. The Bully stage, release by
// facts and drifting clocks are left out. A member claims when it starts and whenever it is free again, as often as
// the parameter claims allows.
//
//   - One leader a term: a grant needs a term greater than every term promised before, and the promise is durable.
//   - A grant is a lease on the granter's clock. While it runs no other member gets one, including the granter.
//   - The leader's lease ends at the q-th largest, over the voters, of the deadlines of the requests that they
//     answered, each counted from the sending of that request. After its end it is never renewed.
//   - A restarted member grants and claims nothing for as long as the longest lease that it may have promised.
type member struct {
	Self       election.ID
	Members    election.ID `election:"constant"`
	Promise    promise
	Holder     election.ID // of the grant that this member gave; the timer bound runs
	HolderTerm election.Term
	Waiting    bool // after a restart
	Tenure     tenure
	Term       election.Term // of the claim or tenure
	Request    uint8         // the number of the newest one
	Sent       [requests]election.Deadline
	Share      [members]election.Deadline // by voter
	Claims     uint8                      // left
	Renewals   uint8                      // left
	Length     election.Ticks             `election:"constant"`
}

type tenure uint8

const (
	idle tenure = iota
	claiming
	leading
)

// promise is durable: the highest term ever granted or claimed.
type promise struct{ Term election.Term }

const (
	members  = 5
	requests = 2 // answers to older requests are too late to be of use
)

type request struct {
	Term   election.Term
	Number uint8
}

const (
	claimKind election.Kind = iota
	renewKind
	grantKind
	releaseKind
)

const (
	boundTimer election.Timer = iota
	waitTimer
	leaseTimer
	renewTimer
)

var lease = func() election.Algorithm[member, request] {
	d := title("test-lease")
	d.Topology = election.Complete
	d.Timing = election.Timed
	d.FIFO = true
	d.Task = election.Service
	d.Leased = true
	d.Survives = election.Crash | election.Recovery
	d.Kinds = []election.MessageKind{{Name: "claim"}, {Name: "renew", Class: election.Overhead}, {Name: "grant"}, {Name: "release", Class: election.Overhead}}
	d.Timers = []string{"bound", "wait", "lease", "renew"}
	length := &election.Number{Name: "lease", Whole: true, Least: 2, Default: "8"}
	claims := &election.Number{Name: "claims", Whole: true, Default: "2", Most: 255}
	renewals := &election.Number{Name: "renewals", Whole: true, Default: "1", Most: 255}
	d.Parameters = []election.Parameter{length, claims, renewals}
	small := func(x *big.Rat) uint8 { return uint8(x.Num().Uint64()) }
	return election.Algorithm[member, request]{
		Declaration: d,
		New: func(l election.Local) member {
			return member{
				Self: l.ID, Members: election.ID(l.Degree), Length: length.Ticks(l.Parameters),
				Claims: small(claims.Rational(l.Parameters)), Renewals: small(renewals.Rational(l.Parameters)),
			}
		},
		Start:   (*member).claim,
		Receive: (*member).receive,
		Timeout: (*member).timeout,
		Recover: func(m *member, out *election.Out[request]) {
			m.Waiting = true
			out.After(waitTimer, m.Length)
		},
		Command: func(m *member, c election.Command, out *election.Out[request]) {
			if c.Order == election.Resign && m.Tenure == leading {
				m.end(out)
			}
		},
		Durable: func(m *member) any { return &m.Promise },
	}
}()

// claim starts a claim, if this member is free; its own grant obeys the rules of every grant.
func (m *member) claim(out *election.Out[request]) {
	if m.Waiting || m.Holder != 0 || m.Tenure != idle || m.Claims == 0 {
		return
	}
	m.Claims--
	m.Promise.Term++
	m.Term, m.Tenure = m.Promise.Term, claiming
	m.Share = [members]election.Deadline{}
	m.ask(claimKind, out)
	m.elect(out) // alone, it is a majority
}

// ask sends a request to all; a lease from the answers will run for one length from now.
func (m *member) ask(kind election.Kind, out *election.Out[request]) {
	m.bind(m.Self, m.Term, out)
	m.Request++
	ends := out.Deadline(m.Length)
	m.Sent[m.Request%requests] = ends
	m.Share[m.Self-1] = ends
	for j := election.ID(1); j <= m.Members; j++ {
		if j != m.Self {
			out.Send(election.To(j), kind, request{m.Term, m.Request})
		}
	}
}

func (m *member) bind(holder election.ID, term election.Term, out *election.Out[request]) {
	m.Holder, m.HolderTerm = holder, term
	out.After(boundTimer, m.Length)
}

// deadline returns the q-th largest share.
func (m *member) deadline() election.Deadline {
	shares := m.Share
	for i := range m.Members/2 + 1 {
		for j := i + 1; j < m.Members; j++ {
			if shares[i].Before(shares[j]) {
				shares[i], shares[j] = shares[j], shares[i]
			}
		}
	}
	return shares[m.Members/2]
}

// elect takes or prolongs the lead for as long as a majority of leases runs.
func (m *member) elect(out *election.Out[request]) {
	ends := m.deadline()
	if out.Passed(ends) {
		return
	}
	if m.Tenure != leading {
		m.Tenure = leading
		out.After(renewTimer, election.Units(1))
	}
	out.LeadUntil(ends, m.Term)
	out.At(leaseTimer, ends)
}

// end ends a tenure in good order: the member leaves the role before others hear of it.
func (m *member) end(out *election.Out[request]) {
	m.Tenure = idle
	out.NoLeader()
	out.Stop(leaseTimer)
	for j := election.ID(1); j <= m.Members; j++ {
		if j != m.Self {
			out.Send(election.To(j), releaseKind, request{Term: m.Term})
		}
	}
	m.release(m.Self, m.Term, out)
}

func (m *member) release(holder election.ID, term election.Term, out *election.Out[request]) {
	if m.Holder == holder && m.HolderTerm <= term {
		m.Holder = 0
		out.Stop(boundTimer)
	}
}

// lapse ends a tenure whose lease has ended, before any other check: late answers never restore it.
func (m *member) lapse(out *election.Out[request]) {
	if m.Tenure == leading && out.Passed(m.deadline()) {
		m.Tenure = idle
		out.NoLeader()
	}
}

func (m *member) receive(port election.Port, kind election.Kind, r request, out *election.Out[request]) {
	m.lapse(out)
	x := election.From(port)
	switch kind {
	case claimKind:
		if !m.Waiting && m.Holder == 0 && r.Term > m.Promise.Term {
			m.Promise.Term = r.Term
			m.bind(x, r.Term, out)
			out.Send(port, grantKind, r)
		}
	case renewKind: // the sender has won the term: no promise and no wait forbids it
		if r.Term >= m.Promise.Term {
			m.Promise.Term = r.Term
			m.bind(x, r.Term, out)
			out.Send(port, grantKind, r)
		}
	case grantKind:
		if m.Tenure != idle && r.Term == m.Term && m.Request-r.Number < requests {
			if answered := m.Sent[r.Number%requests]; m.Share[x-1].Before(answered) {
				m.Share[x-1] = answered
			}
			m.elect(out)
		}
	case releaseKind:
		m.release(x, r.Term, out)
	}
}

func (m *member) timeout(timer election.Timer, out *election.Out[request]) {
	m.lapse(out)
	switch timer {
	case boundTimer: // free again; the member's own claim has failed
		m.Holder = 0
		if m.Tenure == claiming {
			m.Tenure = idle
		}
		m.claim(out)
	case waitTimer:
		m.Waiting = false
		m.claim(out)
	case renewTimer:
		if m.Tenure == leading && m.Renewals > 0 {
			m.Renewals--
			m.ask(renewKind, out)
			m.elect(out)
			out.After(renewTimer, election.Units(1))
		}
	}
}

func leaseOptions(delay int, parameters map[string]string) verify.Options {
	o := verify.Options{Size: 3, Starts: verify.AnyTime, Crashes: 1, Recoveries: 1, Delay: delay, SafetyOnly: true}
	o.Setup.Parameters = parameters
	return o
}

func TestLeasesNeverOverlap(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes, for long under the race detector")
	}
	o := leaseOptions(1, map[string]string{"lease": "5", "claims": "1"})
	o.Commands = 1
	report, err := verify.Run(lease, o)
	if err != nil {
		t.Fatal(err)
	}
	if v := report.Violation; v != nil {
		t.Fatalf("%s: %s\n%s", v.Property, v.Detail, story(&v.Record))
	}
	if !report.Complete {
		t.Fatalf("not finished after %d states", report.States)
	}
	t.Logf("%d states, %d transitions", report.States, report.Transitions)
}

func TestBrokenLeasesAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes, for long under the race detector")
	}
	type algorithm = election.Algorithm[member, request]
	for name, mutant := range map[string]struct {
		property string
		mutate   func(*algorithm)
	}{
		"the lease counts from when the answer arrives": {verify.TwoLeases, func(a *algorithm) {
			a.Receive = func(m *member, port election.Port, kind election.Kind, r request, out *election.Out[request]) {
				if kind == grantKind {
					m.Sent[r.Number%requests] = out.Deadline(m.Length)
				}
				m.receive(port, kind, r, out)
			}
		}},
		"a restarted member does not wait": {verify.TwoLeases, func(a *algorithm) {
			a.Recover = (*member).claim
		}},
		"no member is bound": {verify.TwoLeases, func(a *algorithm) {
			a.Start = func(m *member, out *election.Out[request]) {
				m.Holder = 0
				m.claim(out)
			}
			a.Receive = func(m *member, port election.Port, kind election.Kind, r request, out *election.Out[request]) {
				m.Holder = 0
				m.receive(port, kind, r, out)
			}
		}},
		"the promise is forgotten, and no member waits": {verify.TwoInTerm, func(a *algorithm) {
			a.Durable = nil
			a.Recover = func(*member, *election.Out[request]) {}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a := lease
			mutant.mutate(&a)
			report, err := verify.Run(a, leaseOptions(2, map[string]string{"lease": "5", "claims": "1"}))
			if err != nil {
				t.Fatal(err)
			}
			if report.Violation == nil {
				t.Fatalf("not found in %d states", report.States)
			}
			if report.Violation.Property != mutant.property && report.Violation.Property != verify.TwoLeases {
				t.Errorf("found %s, want %s", report.Violation.Property, mutant.property)
			}
			t.Logf("%s\n%s", report.Violation.Property, story(&report.Violation.Record))
		})
	}
}
