package trials

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/certificates"
)

// expiring replaces the certificate of a member by one that expires soon.
func (g *trio) expiring(id uint64, in time.Duration) {
	g.t.Helper()
	if _, err := certificates.Make(certificates.Order{Directory: g.authority, Group: "jobs", IDs: []uint64{id}, Lasts: in}); err != nil {
		g.t.Fatal(err)
	}
}

// expiry returns when the certificate of a member expires, as the member knows it.
func (g *trio) expiry(data string) time.Time {
	g.t.Helper()
	_, stdout, stderr := clitest.Call("status", "--json", "--data", data)
	var s ringleader.Status
	if err := json.Unmarshal([]byte(stdout), &s); err != nil || s.CertificateExpires == nil {
		g.t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	return *s.CertificateExpires
}

// It takes as long as certificates last that slow machines can still start with.
func TestRenewedCertificatesCauseNoElectionAndExpiredOnesAreNamed(t *testing.T) {
	if !*long {
		t.Skip("it waits for certificates to expire; -long does not skip it")
	}
	const lasts = 15 * time.Second
	g := newTrio(t)
	for id := uint64(1); id <= 3; id++ {
		g.expiring(id, lasts)
		g.join(int(id))
	}
	expire := time.After(lasts)
	before := g.agreed()
	renew := func(id string) {
		t.Helper()
		if code, _, stderr := clitest.Call("cert", "--directory", g.authority, "--group", "jobs", "--id", id); code != 0 {
			t.Fatal(stderr)
		}
	}
	renew("1")
	renew("2")
	for _, data := range g.data[:2] { // the member has taken the new one
		clitest.Await(t, "a member does not take its new certificate", func() bool { return time.Until(g.expiry(data)) >= time.Hour })
	}
	<-expire
	g.until(1, "its certificate is refused: it has expired on ", "status", "--data", g.data[0])
	_, third, _ := clitest.Call("status", "--data", g.data[2])
	if want := "has expired on "; !strings.Contains(unwrapped(third), want) {
		t.Errorf("the member with the expired certificate does not print %q:\n%s", want, third)
	}
	renew("3")
	if after := g.agreed(); *after.Leader != *before.Leader || after.Term != before.Term {
		t.Errorf("member %d leads in term %d; before, member %d in term %d", *after.Leader, after.Term, *before.Leader, before.Term)
	}
}
