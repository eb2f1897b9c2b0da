package examples

import (
	"net"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/core/needs"
)

// theServer has this number among the processes.
const theServer = 0

// account is a server of Redis, and three processes of which the third one pauses before its third payment.
type account struct {
	*group
	url      string
	payments int // that have been reported
}

func newAccount(t *testing.T, flags ...string) *account {
	needs.Program(t, "redis-server", "redis-server")
	host, port, err := net.SplitHostPort(free(t, 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	a := &account{url: "redis://" + host + ":" + port}
	a.group = newGroup(t, "fence-redis", append(flags, "--redis", a.url, "--every", "10ms")...)
	a.own[3] = []string{"--pause-at", "3"}
	a.run(theServer, "redis-server", "--bind", host, "--port", port, "--dir", t.TempDir(), "--save", "")
	a.next(`Ready to accept connections`)
	a.start(1, 2, 3)
	return a
}

// paused waits until process 3 pauses, and another one has made payments.
func (a *account) paused() {
	a.t.Helper()
	pausedIn := 0
	for pausedIn == 0 { // the one of highest rank leads first, unless it starts late
		id, parts := a.next(`^term \d+ begins$|^term (\d+): it pauses before it writes`)
		if pausedIn, _ = strconv.Atoi(parts[1]); pausedIn == 0 && id != 3 {
			a.signal(id, syscall.SIGINT) // a process that is killed may have made a payment, and not reported it
			a.next(regexp.QuoteMeta(ended))
			a.start(id)
		}
	}
	for others := 0; others < 3; {
		if _, term := a.paid(); term > pausedIn {
			others++
		}
	}
}

// paid waits for a payment, and returns the process that has made it, and its term.
func (a *account) paid() (id, term int) {
	a.t.Helper()
	id, parts := a.next(`^term (\d+): the balance is`)
	a.payments++
	term, _ = strconv.Atoi(parts[1])
	return id, term
}

// end ends all processes, and returns what they have reported to have paid, and the balance.
func (a *account) end() (paid, balance int) {
	a.t.Helper()
	for id := 1; id <= 3; id++ {
		a.signal(id, syscall.SIGINT)
	}
	for range 3 {
		a.next(regexp.QuoteMeta(ended))
	}
	for slices.ContainsFunc(a.seen, func(l line) bool { return strings.Contains(l.text, "the balance is") }) {
		a.paid()
	}
	out, err := exec.Command("redis-cli", "-u", a.url, "HGET", "account", "balance").Output()
	if err != nil {
		a.t.Fatal(err)
	}
	balance, err = strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		a.t.Fatal(err)
	}
	return 10 * a.payments, balance
}

func TestTheLateWriteOfAPausedLeaderLosesPaymentsWithoutAFence(t *testing.T) {
	t.Parallel()
	a := newAccount(t, "--fence=false")
	a.paused()
	a.signal(3, syscall.SIGCONT)
	for id := 0; id != 3; {
		id, _ = a.paid()
	}
	if paid, balance := a.end(); balance >= paid {
		t.Errorf("%d is paid, and the balance is %d", paid, balance)
	}
}

func TestTheLateWriteOfAPausedLeaderIsRefusedWithAFence(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.paused()
	a.signal(3, syscall.SIGCONT)
	for id := 0; id != 3; { // on a machine that stalls another one was replaced, too
		id, _ = a.next(`^term \d+: refused: STALE`)
	}
	a.paid()
	if paid, balance := a.end(); balance != paid {
		t.Errorf("%d is paid, and the balance is %d", paid, balance)
	}
}
