package explain_test

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/record"
)

// hand is a record that a test makes by hand.
type hand struct {
	memory record.Memory
	writer *record.Writer
}

// byHand begins the record of a member whose machine has a name and a wall clock that is ahead.
func byHand(member uint64, machine string, ahead time.Duration, change ...func(*record.Head)) *hand {
	h := amid(member, machine, ahead, change...)
	h.add(0, &record.Start{})
	return h
}

// amid is likewise, but begins amid the life of the member.
func amid(member uint64, machine string, ahead time.Duration, change ...func(*record.Head)) *hand {
	h := &hand{}
	head := record.Head{
		Group: "g", Member: member, Incarnation: 1, Wall: int64(1_000*time.Second + ahead), Boot: machine, Algorithm: "quorum-bully",
		Members: []uint64{1, 2, 3}, Unit: time.Millisecond, Heartbeat: 100 * time.Millisecond, Suspicion: 400 * time.Millisecond, Entitled: 475 * time.Millisecond,
	}
	for _, f := range change {
		f(&head)
	}
	h.writer = record.NewWriter(&h.memory, func() record.Head { return head }, record.Options{})
	return h
}

func (h *hand) add(ms int, body record.Body) {
	at := time.Duration(ms) * time.Millisecond
	h.writer.Add(record.Clocks{Monotonic: at, Boottime: at}, "g", body)
}

// sends is a step that sends a message.
func (h *hand) sends(ms int, to uint64, kind election.Kind, text string) {
	h.add(ms, &record.Step{Input: process.Input{What: process.Expired}, Ticks: uint64(ms), Sent: []record.Message{{Peer: to, Port: election.Port(to - 1), Kind: kind, Payload: []byte(text)}}})
}

// receives is a step that receives one.
func (h *hand) receives(ms int, from uint64, kind election.Kind, text string) {
	h.add(ms, &record.Step{Input: process.Input{What: process.Received, Port: election.Port(from - 1), Kind: kind, Message: []byte(text)}, Peer: from, Ticks: uint64(ms)})
}

// grants is a step that answers a request with a grant.
func (h *hand) grants(ms int, to uint64, text string) {
	h.add(ms, &record.Step{
		Input: process.Input{What: process.Received, Port: election.Port(to - 1), Kind: 3, Message: []byte(text)}, Peer: to, Ticks: uint64(ms),
		Sent: []record.Message{{Peer: to, Port: election.Port(to - 1), Kind: 4, Payload: []byte("granted " + text)}},
	})
}

func (h *hand) leads(ms int, member, term uint64, until int) {
	h.add(ms, &record.Decision{Role: "leader", Leader: member, Term: term, Until: time.Duration(until) * time.Millisecond})
}

func archived(all ...*hand) (archive []byte) {
	for _, h := range all {
		h.writer.Sync()
		archive = append(archive, h.memory.Archive()...)
		h.writer.Close(time.Minute)
	}
	return archive
}

// twoLeaders are records in which member 2 grants leases to two leaders at the same time.
func twoLeaders() []byte {
	one, two, three := byHand(1, "m", 0), byHand(2, "m", 0), byHand(3, "m", 0)
	one.leads(100, 1, 1, 1000)
	two.grants(500, 1, "one")
	two.grants(600, 3, "three")
	three.leads(650, 3, 2, 1100)
	one.add(1000, &record.Lapse{Until: time.Second})
	three.add(1500, &record.End{})
	return archived(one, two, three)
}

func TestTwoLeasesAtOnceAreAViolationWithTheStep(t *testing.T) {
	r := explain.Of(record.Parse("test", twoLeaders()))
	if len(r.Groups) != 1 || len(r.Groups[0].Violations) != 1 {
		t.Fatalf("%+v", r)
	}
	v := r.Groups[0].Violations[0]
	for _, want := range []string{"member 3 began to lead in term 2 while the lease of member 1 in term 1 ran for 350 ms more"} {
		if v.What != want || !v.Sure {
			t.Errorf("%+v", v)
		}
	}
	if !strings.HasPrefix(v.Step, "member 2 granted member 3") || !strings.Contains(v.Step, "in tick 600") {
		t.Errorf("the step is %q", v.Step)
	}
}

func TestTermsThatFallAreAViolation(t *testing.T) {
	one, three := byHand(1, "m", 0), byHand(3, "m", 0)
	one.leads(100, 1, 7, 500)
	one.add(500, &record.Lapse{Until: 500 * time.Millisecond})
	three.leads(900, 3, 6, 1500)
	three.add(1500, &record.End{})
	v := explain.Of(record.Parse("test", archived(one, three))).Groups[0].Violations
	if len(v) != 1 || !v[0].Sure || !strings.Contains(v[0].What, "terms did not rise") {
		t.Errorf("%+v", v)
	}
}

// Without the record of a leader, those who followed know that terms fell, if they know the order of the leads.
func TestTermsThatFallAreAViolationForThoseWhoFollowed(t *testing.T) {
	follows := func(h *hand, ms int, leader, term uint64) {
		h.add(ms, &record.Decision{Role: "follower", Leader: leader, Term: term})
	}
	for name, test := range map[string]struct {
		makes func(one, two, three *hand)
		want  string
	}{
		"one followed both": {func(_, two, _ *hand) {
			follows(two, 100, 1, 2)
			follows(two, 900, 3, 1)
		}, "member 2 followed member 3 in term 1 after it had known member 1 in term 2"},
		"one saw the first, and the second has a record": {func(_, two, three *hand) {
			follows(two, 100, 1, 2)
			three.leads(900, 3, 1, 1500)
		}, "member 3 began to lead in term 1 after member 1 had led in term 2"},
		"the one that led followed": {func(one, _, _ *hand) {
			one.leads(100, 1, 2, 600)
			follows(one, 900, 3, 1)
		}, "member 1 followed member 3 in term 1"},
		"two of one term": {func(_, two, three *hand) {
			follows(two, 100, 1, 2)
			follows(three, 900, 9, 2)
		}, "members 1 and 9 both led in term 2"},
		"another one heard late of the second": {func(_, two, three *hand) {
			follows(two, 100, 1, 2)
			follows(three, 900, 9, 1)
		}, ""},
		"the second may have begun before": {func(one, two, _ *hand) {
			one.leads(100, 1, 2, 600)
			follows(two, 900, 3, 1)
		}, ""},
	} {
		one, two, three := byHand(1, "m", 0), byHand(2, "m", 0), byHand(3, "m", 0)
		test.makes(one, two, three)
		var told []string
		for _, v := range explain.Of(record.Parse("test", archived(one, two, three))).Groups[0].Violations {
			told = append(told, v.What)
		}
		if all := strings.Join(told, "\n"); test.want == "" && all != "" || !strings.HasPrefix(all, test.want) || len(told) > 1 {
			t.Errorf("%s: %q", name, all)
		}
	}
}

// The warden of the first life was killed with it, and so proved nothing. That of a later life did.
func TestAProofIsOfOneLife(t *testing.T) {
	one, two := byHand(1, "m", 0), byHand(2, "m", 0)
	one.leads(100, 1, 1, 575)
	one.leads(500, 1, 1, 975)
	two.add(110, &record.Decision{Role: "follower", Leader: 1, Term: 1})
	two.add(600, &record.Lost{Peer: 1, Reason: "EOF"})
	two.leads(1100, 2, 2, 1575)
	two.add(60_000, &record.Proof{Peer: 1, Incarnation: 2})
	two.add(60_100, &record.End{})
	c := explain.Of(record.Parse("test", archived(one, two))).Groups[0].Changes[1]
	if c.Cause != explain.Killed || c.Certainty != explain.Likely || strings.Contains(strings.Join(c.Evidence, " "), "proven") {
		t.Errorf("%+v", c)
	}
}

// The wall clock of the second machine is wrong by ten seconds. No message arrives before it is sent.
func TestTheClocksOfMachinesAreJoinedByMessages(t *testing.T) {
	for _, test := range []struct {
		back int // when the answer arrives, on the clock of the first machine
		says string
	}{
		{110, "is known within 5.0 ms, by 2 messages"},
		{60, "contradicts the others by 34 ms"},
	} {
		one, two := byHand(1, "a", 0), byHand(2, "b", 10*time.Second)
		one.leads(50, 1, 1, 600)
		one.sends(100, 2, 3, "request")
		two.add(4960, &record.Decision{Role: "follower", Leader: 1, Term: 1})
		two.receives(5000, 1, 3, "request")
		two.sends(5000, 1, 4, "answer")
		one.receives(max(test.back, 101), 2, 4, "answer")
		if test.back < 100 {
			two.sends(5055, 1, 4, "before it was sent")
			one.receives(115, 2, 4, "before it was sent")
		}
		one.add(900, &record.End{})
		two.add(5900, &record.End{})
		g := explain.Of(record.Parse("test", archived(one, two))).Groups[0]
		if all := strings.Join(g.Clocks, "\n"); !strings.Contains(all, test.says) {
			t.Errorf("it says %q, want %q", all, test.says)
		}
		if test.back < 100 {
			continue
		}
		s := g.Scene(0)
		for _, a := range s.Arrows {
			if a.Received < a.Sent {
				t.Errorf("%+v", a)
			}
		}
	}
}

// mutations is how many damaged records are explained.
var mutations = flag.Int("mutations", 2000, "how many damaged records are explained")

// Whatever the bytes are, it explains what there is, and does not panic.
func TestHostileRecordsAreExplainedAsFarAsTheyGo(t *testing.T) {
	whole := twoLeaders()
	r := rand.New(rand.NewPCG(1, 2))
	for range *mutations {
		b := bytes.Clone(whole)
		for range 1 + r.IntN(8) {
			switch i := r.IntN(len(b)); r.IntN(3) {
			case 0:
				b[i] ^= 1 << r.IntN(8)
			case 1:
				b = b[:i+1]
			default:
				b = append(b[:i:i], append(bytes.Clone(b[r.IntN(len(b)):]), b[i:]...)...)
			}
		}
		for _, g := range explain.Of(record.Parse("test", b)).Groups {
			for i := range g.Changes {
				g.Scene(i)
			}
		}
	}
}

// Contents that no member writes: times, terms and lengths of any size.
func TestWildContentsDoNotPanic(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	r := rand.New(rand.NewPCG(3, 4))
	wild := func() uint64 { return r.Uint64() >> r.IntN(64) }
	for range 500 {
		h := byHand(1+r.Uint64()%3, "m", time.Duration(wild()))
		for range 20 {
			d := time.Duration(wild())
			for _, b := range []record.Body{
				&record.Decision{Role: []string{"leader", "follower", "undecided", "x"}[r.IntN(4)], Leader: wild() % 4, Term: wild(), Until: d},
				&record.Late{By: d}, &record.Suspended{For: d}, &record.Flush{Took: d}, &record.Lapse{Until: d}, &record.Proof{Peer: wild() % 4, Incarnation: wild()},
				&record.Told{Peer: wild() % 4, Term: wild() % 3, Cause: "unhealthy"}, &record.Voters{Term: wild(), Members: []uint64{wild()}}, &record.Lost{Peer: wild() % 4},
				&record.Change{From: wild() % 4}, &record.Disk{Lasts: d, Problem: "x"},
			} {
				if r.IntN(3) == 0 {
					h.add(r.IntN(5000), b)
				}
			}
		}
		for _, g := range explain.Of(record.Parse("test", archived(h))).Groups {
			for i := range g.Changes {
				g.Scene(i)
			}
		}
	}
}

// The last entries of a life are in memory of its machine for a while. A copy of the files alone ends earlier than the life.
func TestACopyWithoutItsTailDoesNotTellThatAMemberHung(t *testing.T) {
	for name, test := range map[string]struct {
		tail   string
		joined bool
		quiet  int // from the last entry to the proof
		cause  explain.Cause
		says   string
	}{
		"no tail":              {"", false, 3_000, explain.Hung, ""},
		"a tail that is there": {"ringleader-0", true, 3_000, explain.Hung, ""},
		"one that is not":      {"ringleader-0", false, 3_000, explain.Killed, "this copy of its files has them not"},
		"longer than a tail":   {"ringleader-0", false, 60_000, explain.Hung, ""},
	} {
		one := byHand(1, "m", 0, func(h *record.Head) { h.Tail, h.Joined, h.Hang = test.tail, test.joined, time.Second })
		two := byHand(2, "m", 0)
		one.leads(100, 1, 1, 575)
		one.leads(500, 1, 1, 975)
		two.add(110, &record.Decision{Role: "follower", Leader: 1, Term: 1})
		two.add(500+test.quiet, &record.Proof{Peer: 1, Incarnation: 1})
		two.leads(600+test.quiet, 2, 2, 1100+test.quiet)
		c := explain.Of(record.Parse("test", archived(one, two))).Groups[0].Changes[1]
		if c.Cause != test.cause || c.Certainty != explain.Likely || !strings.Contains(strings.Join(c.Missing, " "), test.says) {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestAnswersThatAllCameLateAreACause(t *testing.T) {
	one, two := byHand(1, "m", 0), byHand(2, "m", 0)
	one.leads(50, 1, 1, 600)
	two.add(60, &record.Decision{Role: "follower", Leader: 1, Term: 1})
	one.sends(120, 2, 3, "request")
	two.grants(420, 1, "request")
	one.receives(540, 2, 4, "granted request")
	one.add(600, &record.Lapse{Until: 600 * time.Millisecond})
	one.add(600, &record.Decision{Role: "candidate", Term: 1})
	one.add(601, &record.Change{From: 1, Cause: "lapsed", Detail: "no majority has renewed the lease; all have answered late"})
	two.leads(1100, 2, 2, 1575)
	one.add(2000, &record.End{})
	two.add(2000, &record.End{})
	c := explain.Of(record.Parse("test", archived(one, two))).Groups[0].Changes[1]
	told := strings.Join(c.Evidence, "\n")
	if c.Cause != explain.Late || c.Certainty != explain.Likely || !strings.Contains(told, "from 1 to 2 took 300 ms") || !strings.Contains(told, "from 2 to 1 took 120 ms") {
		t.Errorf("%+v", c)
	}
}
