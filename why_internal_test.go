package ringleader

import (
	"strings"
	"testing"
	"time"
)

func TestTheReasonsNameAnExpiredCertificate(t *testing.T) {
	m, err := Join(t.Context(), Config{ID: 1, Members: []MemberAddress{{ID: 1, Address: freeAddress(t)}}, Algorithm: Bully, NoQuorum: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, test := range []struct {
		expires time.Time
		named   bool
	}{{time.Now().Add(-time.Hour), true}, {time.Now().Add(time.Hour), false}} {
		why := strings.Join(m.why(&Status{ID: 1, CertificateExpires: &test.expires}), "; ")
		if got := strings.Contains(why, "the certificate of this member has expired on "); got != test.named {
			t.Errorf("for one that expires at %v the reasons are %q", test.expires, why)
		}
	}
}

// A member that joins knows no voters, and no addresses of members that have dialed it.
func TestTheReasonsOfAMemberThatNoOtherHasTaken(t *testing.T) {
	m, err := Join(t.Context(), Config{ID: 7, Members: []MemberAddress{{ID: 7, Address: freeAddress(t)}}, Algorithm: Bully, NoQuorum: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s := &Status{ID: 7, Members: []MemberStatus{{ID: 1, Standby: true, Reachable: true, Problem: "refused: it has another store"}, {ID: 7, Standby: true}}}
	if why := strings.Join(m.why(s), "; "); !strings.Contains(why, "member 1 at an unknown address is heard from, but: refused: it has another store") {
		t.Errorf("the reasons are %q", why)
	}
	votes, leads := whyNoVotes(s)
	if why := strings.Join(votes, "; "); len(leads) > 0 || !strings.Contains(why, "this member does not know who votes") || strings.Contains(why, "0 of 0") {
		t.Errorf("the reasons are %q and %q", why, leads)
	}
}
