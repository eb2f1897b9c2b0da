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
