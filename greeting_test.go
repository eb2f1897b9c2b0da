package ringleader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/storage"
)

// journal is a log in memory.
type journal struct{ rig.Text }

// count returns in how many lines a text is.
func (j *journal) count(text string) (n int) {
	for line := range strings.Lines(j.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

// listing starts a member with a list of members, and returns it with its log.
func listing(t *testing.T, id uint64, addresses map[uint64]string, members ...MemberAddress) (*Member, *journal) {
	t.Helper()
	store, err := storage.Memory().Open()
	if err != nil {
		t.Fatal(err)
	}
	log := &journal{}
	c := Config{Group: "jobs", ID: id, Members: members, Storage: store, Timing: Test(), Logger: slog.New(slog.NewTextHandler(log, nil))}
	for i := range c.Members {
		if c.Members[i].Address == "" {
			c.Members[i].Address = addresses[c.Members[i].ID]
		}
	}
	m, err := Join(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m, log
}

// eventually waits until a condition holds, which a member of the test brings about.
func eventually(t *testing.T, m *Member, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for !holds() {
		_, changed := m.live.Group.State()
		if holds() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("never: %s; %+v", what, m.Status())
		}
	}
}

func freeAddresses(t *testing.T, ids ...uint64) map[uint64]string {
	addresses := map[uint64]string{}
	for _, id := range ids {
		addresses[id] = freeAddress(t)
	}
	return addresses
}

func problem(m *Member, of uint64) string {
	members := m.Status().Members
	return members[slices.IndexFunc(members, func(s MemberStatus) bool { return s.ID == of })].Problem
}

// Of two members one counts two of three, and the other two of two. Each could grant what the other needs.
func TestMembersWithDifferentListsDoNotVoteTogetherAndBothNameTheDifference(t *testing.T) {
	at := freeAddresses(t, 1, 2, 3)
	one, _ := listing(t, 1, at, MemberAddress{ID: 1}, MemberAddress{ID: 2})
	two, log := listing(t, 2, at, MemberAddress{ID: 1}, MemberAddress{ID: 2}, MemberAddress{ID: 3})
	const (
		ofOne = "the lists of members differ in 3, standby apart: member 1 has 1 2, and member 2 has 1 2 3"
		ofTwo = "the lists of members differ in 3, standby apart: member 2 has 1 2 3, and member 1 has 1 2"
	)
	for range 3 { // again and again, and it is logged once
		eventually(t, one, ofOne, func() bool { return problem(one, 2) == "refused: "+ofOne })
		eventually(t, two, ofTwo, func() bool { return problem(two, 1) == "refused: "+ofTwo })
	}
	for _, m := range []*Member{one, two} {
		if v := m.View(); v.Known {
			t.Errorf("%+v", v)
		}
	}
	if n := log.count(`msg="a process is refused" member=2 peer=1 reason="` + ofOne); n != 1 {
		t.Errorf("it is logged %d times: %s", n, log.String())
	}
}

// One counts two voters and the other three.
func TestMembersThatDifferInWhoIsOnStandbyDoNotVoteTogether(t *testing.T) {
	at := freeAddresses(t, 1, 2, 3)
	one, _ := listing(t, 1, at, MemberAddress{ID: 1}, MemberAddress{ID: 2}, MemberAddress{ID: 3, Standby: true})
	two, _ := listing(t, 2, at, MemberAddress{ID: 1}, MemberAddress{ID: 2}, MemberAddress{ID: 3})
	const want = "the lists of members differ in 3, standby apart: member 1 has 1 2, and member 2 has 1 2 3"
	eventually(t, one, want, func() bool { return problem(one, 2) == "refused: "+want })
	for _, m := range []*Member{one, two} {
		if v := m.View(); v.Known {
			t.Errorf("%+v", v)
		}
	}
}

// A list may get longer by members on standby, and not shorter by a voter.
func TestAListHasAllVoters(t *testing.T) {
	at := freeAddresses(t, 1, 2)
	disk := storage.Memory()
	start := func(standby ...uint64) (*Member, error) {
		store, err := disk.Open()
		if err != nil {
			t.Fatal(err)
		}
		c := Config{Group: "jobs", ID: 1, Members: []MemberAddress{{ID: 1, Address: at[1]}}, Storage: store, Timing: Test()}
		for _, id := range standby {
			c.Members = append(c.Members, MemberAddress{ID: id, Address: at[id], Standby: true})
		}
		return Join(context.Background(), c)
	}
	one, err := start(2)
	if err != nil {
		t.Fatal(err)
	}
	listing(t, 2, at, MemberAddress{ID: 1}, MemberAddress{ID: 2, Standby: true})
	eventually(t, one, "1 leads, and reaches 2, whose vote it needs then", func() bool {
		return one.View().Role == Leader && one.Status().Members[1].Reachable
	})
	for late := time.Now().Add(patience); ; { // a machine that stalls lets a lease lapse
		err := one.AddMember(t.Context(), 2)
		if err == nil {
			break
		}
		if time.Now().After(late) {
			t.Fatal(err)
		}
	}
	one.Close()
	if _, err := start(); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), "it lacks member 2, which votes") {
		t.Errorf("with a list without a voter: %v", err)
	}
	again, err := start(2)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// A member that another one does not list is in no Status of it; the log has it.
func TestAMemberNamesAProcessThatItDoesNotList(t *testing.T) {
	at := freeAddresses(t, 1, 4)
	_, log := listing(t, 1, at, MemberAddress{ID: 1})
	four, _ := listing(t, 4, at, MemberAddress{ID: 1}, MemberAddress{ID: 4})
	const want = "the lists of members differ in 4, standby apart: member 4 has 1 4, and member 1 has 1"
	eventually(t, four, want, func() bool { return problem(four, 1) == "refused: "+want })
	if log.count(want) != 1 {
		t.Errorf("member 1 logs %s", log.String())
	}
}

func TestAnotherSpellingOfAnAddressDoesNotSplitTheGroup(t *testing.T) {
	at := freeAddresses(t, 1, 2)
	_, port, _ := net.SplitHostPort(at[1])
	one, _ := listing(t, 1, at, MemberAddress{ID: 1}, MemberAddress{ID: 2})
	two, _ := listing(t, 2, at, MemberAddress{ID: 2}, MemberAddress{ID: 1, Address: "localhost:" + port})
	for _, m := range []*Member{one, two} { // 2 leads, unless it is late
		eventually(t, m, "there is a leader", func() bool { return m.View().Leader != 0 })
	}
}

// Priorities decide which member leads and not whether two do, so they may be changed at one member after the other.
func TestPrioritiesThatDifferAreNamedAndDoNotSplitTheGroup(t *testing.T) {
	at := freeAddresses(t, 1, 2)
	one, _ := listing(t, 1, at, MemberAddress{ID: 1, Priority: 5}, MemberAddress{ID: 2})
	two, _ := listing(t, 2, at, MemberAddress{ID: 1}, MemberAddress{ID: 2, Witness: true})
	for _, m := range []*Member{one, two} {
		eventually(t, m, "1 leads", func() bool { return m.View().Leader == 1 })
	}
	for _, text := range []string{"it has lease 300ms", "preemption false, priorities 2:0; this member", "preemption false, priorities 1:5"} {
		eventually(t, one, text, func() bool { return strings.Contains(problem(one, 2), text) })
	}
}

func TestSoManyGroupsThatAnswersWouldBeLateAreWarnedOfOnce(t *testing.T) {
	m, log := listing(t, 1, freeAddresses(t, 1), MemberAddress{ID: 1})
	const warning = "Timing.Answers may be too short for so many groups"
	for n := 2; n <= 110; n++ { // with the first one
		if _, err := m.Join(t.Context(), GroupConfig{Group: fmt.Sprint(n)}); err != nil {
			t.Fatal(err)
		}
		want := 0
		if n > 100 { // 5 ms for them
			want = 1
		}
		if got := log.count(warning); got != want {
			t.Fatalf("%d groups: %d warnings", n, got)
		}
	}
}

func TestPrioritiesOfAnyNumberFitIntoTheirFrame(t *testing.T) {
	c := Config{Timing: Test()}
	before := c.limits()
	for id := range uint64(100) {
		c.Members = append(c.Members, MemberAddress{ID: 1<<63 + id, Priority: 40000})
		text := c.limits()
		if len(text) > 248 || text == before {
			t.Fatalf("with %d members: %s", id+1, text)
		}
		before = text
	}
	if want := fmt.Sprint(len(c.Members), " priorities with the digest "); !strings.Contains(before, want) {
		t.Error(before)
	}
}
