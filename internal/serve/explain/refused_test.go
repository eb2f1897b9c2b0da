package explain_test

import (
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/record"
)

// refusing are the records of three members that answer their leader 3 for a second, and then lose it for a reason, and do not connect for another.
func refusing(lost, dialed string) (all [3]*hand) {
	one, two, three := byHand(1, "m", 0), byHand(2, "m", 0), byHand(3, "m", 0)
	for _, h := range []*hand{one, two} {
		h.add(1, &record.Connected{Peer: 3, Incarnation: 1})
		h.add(100, &record.Decision{Role: "follower", Leader: 3, Term: 1})
	}
	three.leads(90, 3, 1, 600)
	for ms := 100; ms <= 1800; ms += 100 {
		text := time.Duration(ms).String()
		for id := uint64(1); id <= 2; id++ {
			three.sends(ms, id, 3, text)
			if ms <= 1000 {
				h := []*hand{one, two}[id-1]
				h.grants(ms+1, 3, text)
				three.receives(ms+2, id, 4, "granted "+text)
			}
		}
	}
	for _, h := range []*hand{one, two} {
		if lost != "" { // long before the end
			h.add(1010, &record.Lost{Peer: 3, Reason: lost})
		}
		if dialed != "" {
			h.add(1050, &record.Dialed{Peer: 3, Error: dialed})
		}
		h.add(2100, &record.Decision{Role: "undecided", Term: 1})
		h.add(3000, &record.Decision{Role: "follower", Leader: 3, Term: 2})
	}
	three.add(2000, &record.Lapse{Until: 2 * time.Second})
	three.leads(2990, 3, 2, 3500)
	three.add(3100, &record.Note{})
	return [3]*hand{one, two, three}
}

// Connections ended, or were not made, for reasons that no repair of a network removes. The reasons are as package transport words them.
func TestWhatPreventsALossIsWhatItsReasonNeeds(t *testing.T) {
	for _, test := range []struct{ lost, dialed, prevents string }{
		{"a certificate of this connection has expired", "its certificate is refused: it has expired on 2026-01-02 03:04:05: renew it", "Renew the certificates"},
		{"messages to it were lost: a certificate of this connection has expired", "", "Renew the certificates"},
		{"", "refused: the certificate of this member: tls: expired certificate", "Renew the certificates"},
		{"it has closed the connection: its process has ended, or it has cut this member off", "its certificate is refused: it is not valid before 2030-01-02 03:04:05: set the clock of this machine, or wait", "Set the clocks"},
		{"", "its certificate is refused: its authority has expired on 2026-01-02 03:04:05: make another one", "Make another authority"},
		{"", "its certificate is refused: it is signed by an unknown authority: give all members certificates of one authority", "certificates of one authority"},
		{"", "refused: the certificate of this member: tls: unknown certificate authority", "certificates of one authority"},
		{"", "its certificate is refused: it names ringleader:jobs/3, not ringleader:jobs/1: make one for that member", "its own group and identifier"},
		{"", "refused: the certificate names ringleader:jobs/3, not ringleader:jobs/1", "its own group and identifier"},
		{"", "refused: tls: protocol version not supported", "TLS 1.3"},
		{"", "it does not use TLS, and this member does", "Let all members use TLS"},
		{"", "refused: member 3 takes only connections with TLS", "Let all members use TLS"},
		{"", "refused: the certificate of this member: tls: bad certificate", "ringleader doctor checks"},
		{"", `refused: member 3 belongs to the group "jobs", and the process that dials it to another`, "the same --group"},
		{"", "refused: another live process has id 1: member 3 is connected with it", "Stop the process"},
		{"", "refused: the list of member 3 has no member 1", "members adds and removes"},
	} {
		all := refusing(test.lost, test.dialed)
		g := explain.Of(record.Parse("test", archived(all[:]...))).Groups[0]
		c := change(t, g, 3, explain.Links)
		evidence := strings.Join(c.Evidence, "\n")
		if c.Cause != explain.Links || c.Certainty != explain.Likely || !strings.Contains(c.Prevent, test.prevents) || strings.Contains(c.Prevent, "Repair the links") {
			t.Errorf("%q, %q: %s, %s: %q, %q", test.lost, test.dialed, c.Cause, c.Text, c.Prevent, evidence)
		}
		if strings.Contains(evidence, "the connection stood") || !strings.Contains(evidence, test.dialed) || !strings.Contains(evidence, test.lost) {
			t.Errorf("%q, %q: the evidence is %q", test.lost, test.dialed, evidence)
		}
	}
	all := refusing("it has connected anew", "refused: member 3 is stopping")
	if c := change(t, explain.Of(record.Parse("test", archived(all[:]...))).Groups[0], 3, explain.Links); !strings.HasPrefix(c.Prevent, "Repair the links") {
		t.Errorf("a connection that was lost is told as %q", c.Prevent)
	}
	all = refusing("", "connection refused: no process listens there")
	if c := change(t, explain.Of(record.Parse("test", archived(all[:]...))).Groups[0], 3, explain.Links); !strings.HasPrefix(c.Prevent, "Repair the links") {
		t.Errorf("an address without a process is told as %q", c.Prevent)
	}
}

// One record is enough for that: those that refuse a member tell it why.
func TestOneRecordTellsThatMembersRefuseEachOther(t *testing.T) {
	const expired = "its certificate is refused: it has expired on 2026-01-02 03:04:05: renew it"
	for name, one := range map[string]*hand{"a follower": refusing("a certificate of this connection has expired", expired)[0], "the leader": leaderRefused(expired)} {
		c := change(t, explain.Of(record.Parse("test", archived(one))).Groups[0], 3, explain.Links)
		if c.Cause != explain.Links || c.Certainty != explain.Likely || !strings.Contains(c.Prevent, "Renew the certificates") || !strings.Contains(strings.Join(c.Evidence, "\n"), expired) {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// leaderRefused is the record of such a leader, which has the refusals.
func leaderRefused(why string) *hand {
	three := byHand(3, "m", 0)
	three.leads(90, 3, 1, 600)
	for id := uint64(1); id <= 2; id++ {
		three.receives(1000+int(id), id, 4, "granted")
	}
	for id := uint64(1); id <= 2; id++ {
		three.add(1010, &record.Lost{Peer: id, Reason: "messages to it were lost: a certificate of this connection has expired"})
		three.add(1050, &record.Dialed{Peer: id, Error: why})
	}
	three.add(2000, &record.Lapse{Until: 2 * time.Second})
	three.leads(2990, 3, 2, 3500)
	three.add(3100, &record.Note{})
	return three
}

// A leader whose connections were closed, and which the same member hears again, has not died.
func TestALeaderThatIsHeardAgainHasNotDied(t *testing.T) {
	for again, want := range map[uint64]explain.Cause{1: explain.Unknown, 2: explain.Killed} {
		one := byHand(1, "m", 0)
		one.add(1, &record.Connected{Peer: 3, Incarnation: 1})
		one.add(100, &record.Decision{Role: "follower", Leader: 3, Term: 1})
		one.add(2000, &record.Lost{Peer: 3, Reason: "it has closed the connection: its process has ended, or it has cut this member off"})
		one.add(2100, &record.Decision{Role: "undecided", Term: 1})
		one.leads(2200, 1, 2, 2700)
		one.add(4000, &record.Connected{Peer: 3, Incarnation: again, Wrongly: again == 1})
		one.add(5000, &record.Note{})
		c := change(t, explain.Of(record.Parse("test", archived(one))).Groups[0], 3, want)
		if c.Cause != want {
			t.Errorf("incarnation %d: %s, %s: %q", again, c.Cause, c.Text, c.Evidence)
		}
		if heard := strings.Contains(strings.Join(c.Evidence, "\n"), "member 1 heard the same process again at "); heard != (again == 1) {
			t.Errorf("incarnation %d: the evidence is %q", again, c.Evidence)
		}
	}
}

// A member that was cut off follows the same leader again: that lead went on, and ends when the leader says so.
func TestALeadThatIsFollowedAgainWentOn(t *testing.T) {
	records := func(told bool) *explain.Group {
		one := byHand(1, "m", 0)
		one.add(1, &record.Connected{Peer: 3, Incarnation: 1})
		one.add(1000, &record.Decision{Role: "follower", Leader: 3, Term: 1})
		one.add(2000, &record.Decision{Role: "undecided", Term: 1})
		one.add(4000, &record.Connected{Peer: 3, Incarnation: 1, Wrongly: true})
		one.add(4010, &record.Decision{Role: "follower", Leader: 3, Term: 1})
		if told {
			one.add(9000, &record.Told{Peer: 3, Term: 1, Cause: "resigned", Detail: "the member resigned"})
		}
		one.add(9100, &record.Note{})
		return explain.Of(record.Parse("test", archived(one))).Groups[0]
	}
	if g := records(false); len(g.Changes) != 1 {
		t.Errorf("the lead has not ended: %+v", g.Changes)
	}
	g := records(true)
	if len(g.Changes) != 2 || g.Changes[1].Cause != explain.Resigned || g.Changes[1].Nobody > 0.2 {
		t.Errorf("the lead ended 100 ms before the end of the record: %+v", g.Changes)
	}
}

// The record of the leader ends early, as on a full disk. What it told the others when it handed over is later.
func TestWhatALeaderToldEndsALeadThatItsRecordHasNot(t *testing.T) {
	one, three := byHand(1, "m", 0), byHand(3, "m", 0)
	three.leads(1000, 3, 1, 1500)
	three.add(1200, &record.Note{})
	one.add(1, &record.Connected{Peer: 3, Incarnation: 1})
	one.add(1010, &record.Decision{Role: "follower", Leader: 3, Term: 1})
	one.add(2900, &record.Told{Peer: 3, Term: 1, Cause: "transferred", Detail: "to member 1"})
	one.leads(2903, 1, 2, 3400)
	one.add(9000, &record.Note{})
	c := change(t, explain.Of(record.Parse("test", archived(one, three))).Groups[0], 3, explain.Transferred)
	if c.Cause != explain.Transferred || c.Nobody > 0.01 {
		t.Errorf("%v s without a leader: %+v", c.Nobody, c)
	}

	// A member that stood still reads it late: that tells nothing of the end.
	one, three = byHand(1, "m", 0), byHand(3, "m", 0)
	three.leads(1000, 3, 1, 1500)
	three.add(1200, &record.Note{})
	one.add(1, &record.Connected{Peer: 3, Incarnation: 1})
	one.add(1010, &record.Decision{Role: "follower", Leader: 3, Term: 1})
	one.add(2898, &record.Late{By: 1500 * time.Millisecond})
	one.add(2900, &record.Told{Peer: 3, Term: 1, Cause: "transferred", Detail: "to member 1"})
	one.leads(2903, 1, 2, 3400)
	one.add(9000, &record.Note{})
	if c := change(t, explain.Of(record.Parse("test", archived(one, three))).Groups[0], 3, explain.Transferred); c.Nobody < 1 {
		t.Errorf("%v s without a leader: %+v", c.Nobody, c)
	}
}

// The first part of the leader's record was removed. A follower has seen the beginning of the lead.
func TestALeadBeginsWhereAFollowerHasSeenIt(t *testing.T) {
	one, three := byHand(1, "m", 0), amid(3, "m", 0)
	one.add(1, &record.Connected{Peer: 3, Incarnation: 1})
	one.add(1000, &record.Decision{Role: "follower", Leader: 3, Term: 1})
	three.add(8000, &record.Snapshot{Members: []uint64{1, 2, 3}, Decision: record.Decision{Role: "leader", Leader: 3, Term: 1, Until: 8500 * time.Millisecond}})
	three.add(8100, &record.Note{})
	one.add(8100, &record.Note{})
	g := explain.Of(record.Parse("test", archived(one, three))).Groups[0]
	if len(g.Changes) != 1 || g.Changes[0].Nobody != 1 {
		t.Errorf("member 3 led from the first second on: %+v", g.Changes)
	}
}

// Members refuse each other from the beginning on, for a while or for ever. That is why nobody leads.
func TestAGroupWithoutALeaderIsTold(t *testing.T) {
	const unknown = "its certificate is refused: it is signed by an unknown authority: give all members certificates of one authority"
	for _, led := range []bool{false, true} {
		one, three := byHand(1, "m", 0), byHand(3, "m", 0)
		one.add(10, &record.Dialed{Peer: 3, Error: unknown})
		three.add(10, &record.Dialed{Peer: 2, Error: "connection refused: no process listens there"})
		if led {
			one.add(8000, &record.Connected{Peer: 3, Incarnation: 1})
			three.add(8000, &record.Connected{Peer: 1, Incarnation: 1})
			three.leads(8500, 3, 1, 9000)
		}
		one.add(8600, &record.Note{})
		three.add(8600, &record.Note{})
		g := explain.Of(record.Parse("test", archived(one, three))).Groups[0]
		if len(g.Changes) != 1 {
			t.Fatalf("%+v", g.Changes)
		}
		c, want := &g.Changes[0], explain.Links
		if led {
			want = explain.Elected
		}
		if c.Cause != want || c.Nobody < 8 || !strings.Contains(c.Prevent, "certificates of one authority") || !strings.Contains(strings.Join(c.Evidence, "\n"), "member 1 could not connect to member 3: "+unknown) {
			t.Errorf("with a leader: %v: %+v", led, c)
		}
	}
	one := byHand(1, "m", 0)
	one.add(8600, &record.Note{})
	if g := explain.Of(record.Parse("test", archived(one))).Groups[0]; len(g.Changes) != 1 || g.Changes[0].Cause != explain.Unknown || len(g.Changes[0].Missing) != 1 {
		t.Errorf("one record tells nothing: %+v", g.Changes)
	}
}

// A lead was handed to a member that had died.
func TestATransferToAMemberThatDiedIsTold(t *testing.T) {
	for to, want := range map[string]bool{"to member 1": true, "to member 2": false} {
		one, two, three := byHand(1, "m", 0), byHand(2, "m", 0), byHand(3, "m", 0)
		three.leads(100, 3, 1, 600)
		one.add(400, &record.Note{}) // and no more
		three.add(500, &record.Told{Peer: 3, Term: 1, Cause: "transferred", Detail: to})
		three.add(501, &record.Decision{Role: "follower", Leader: 2, Term: 2})
		two.leads(560, 2, 2, 1100)
		three.add(900, &record.Note{})
		two.add(900, &record.Note{})
		c := change(t, explain.Of(record.Parse("test", archived(one, two, three))).Groups[0], 3, explain.Transferred)
		told := strings.Contains(strings.Join(c.Evidence, "\n"), "member 1 did not take the lead, and member 2 led next: member 1 was not running")
		if c.Cause != explain.Transferred || c.Certainty != explain.Certain || told != want {
			t.Errorf("%s: %+v", to, c)
		}
	}
}

// An election that waits for connections is told with what it waited for.
func TestAnElectionThatWaitsForAMajoritySaysSo(t *testing.T) {
	for connected, want := range map[int]string{7000: "5.0 s of election, 5.0 s of it until member 3 heard a majority", 2015: "5.0 s of election"} {
		three := byHand(3, "m", 0)
		three.add(1, &record.Connected{Peer: 1, Incarnation: 1})
		three.leads(90, 3, 1, 600)
		three.add(1010, &record.Lost{Peer: 1, Reason: "it has connected anew"})
		three.add(2000, &record.Lapse{Until: 2 * time.Second})
		three.sends(2010, 1, 2, "claim")
		three.add(connected, &record.Connected{Peer: 1, Incarnation: 1, Wrongly: true})
		three.leads(7010, 3, 2, 7500)
		three.add(7100, &record.Note{})
		c := change(t, explain.Of(record.Parse("test", archived(three))).Groups[0], 3, explain.Unknown)
		if len(c.Bounded) != 2 || c.Bounded[1] != want {
			t.Errorf("connected at %d ms: %q, want %q", connected, c.Bounded, want)
		}
	}
}

// A proof of the leader's death ends the wait of the others, also where the leader has no record.
func TestAProofEndsTheWaitForALeaderWithoutARecord(t *testing.T) {
	one, two := byHand(1, "m", 0), byHand(2, "m", 0)
	one.add(1, &record.Connected{Peer: 3, Incarnation: 1})
	one.add(100, &record.Decision{Role: "follower", Leader: 3, Term: 1})
	one.add(2000, &record.Proof{Peer: 3, Incarnation: 1})
	one.add(2001, &record.Decision{Role: "undecided", Term: 1})
	two.leads(2014, 2, 2, 2500)
	one.add(2600, &record.Note{})
	c := change(t, explain.Of(record.Parse("test", archived(one, two))).Groups[0], 3, explain.Killed)
	if c.Cause != explain.Killed || len(c.Bounded) != 1 || c.Bounded[0] != "13 ms from the proof of its death to the next leader" || strings.Contains(c.Prevent, "With a warden") {
		t.Errorf("%+v", c)
	}
}
