package transport_test

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
)

const (
	beat      = 50 * time.Millisecond
	suspicion = 400 * time.Millisecond
)

func at(id uint64) string { return fmt.Sprintf("member%d:1", id) }

// lan is a network in a bubble, on which all members run TCP.
type lan struct {
	*transporttest.LAN
	t *testing.T
}

func newLAN(t *testing.T) lan { return lan{transporttest.NewLAN(), t} }

// host is a member of a group of three, which notes its events.
type host struct {
	t transport.Transport

	mu       sync.Mutex
	verdicts []chan<- transport.Verdict // that wait, if busy
	busy     bool                       // it answers nothing
	asked    int
	dialed   []error
	messages []string
	told     []string
	in       []transport.Incoming
	ended    []error
	broken   []error
	proofs   []transport.Proof
}

// config is that of a member; Post is set by open.
func config(id uint64) transport.Config {
	return transport.Config{
		Self:    int(id - 1),
		Members: []transport.Member{{ID: 1, Address: at(1)}, {ID: 2, Address: at(2)}, {ID: 3, Address: at(3)}},
		Name:    "group", Group: transport.Group{Founders: transport.DigestOf("group")}, Incarnation: 100 + id,
		Timing: transport.Timing{Heartbeat: beat, Suspicion: suspicion},
		Log:    slog.New(slog.DiscardHandler),
	}
}

// open starts a host.
func open(t *testing.T, o transport.Open, c transport.Config) *host {
	t.Helper()
	h := &host{}
	c.Post = h.post
	var err error
	if h.t, err = o(c); err != nil {
		t.Fatal(err)
	}
	h.t.Serve()
	return h
}

// tcp is TCP for a member of a network.
func (n lan) tcp(id uint64, security transport.TLS) transport.TCP {
	return transport.TCP{Listener: n.Listen(at(id)), Dial: n.Dialer(at(id)), TLS: security, Insecure: security == nil}
}

// host starts a member of a network.
func (n lan) host(id uint64, security transport.TLS) *host {
	n.t.Helper()
	return open(n.t, n.tcp(id, security).Open, config(id))
}

func (h *host) post(event any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch e := event.(type) {
	case transport.Asked:
		h.asked++
		if h.busy {
			h.verdicts = append(h.verdicts, e.Answer)
		} else {
			e.Answer <- transport.Verdict{}
		}
	case transport.Arrived:
		h.in = append(h.in, e.In)
		e.In.Admit(true)
	case transport.Message:
		h.messages = append(h.messages, fmt.Sprintf("%d from %d: %s", e.Kind, e.In.Peer()+1, e.Payload))
		if !h.busy {
			e.In.Taken()
		}
	case transport.Told:
		h.told = append(h.told, fmt.Sprintf("%d from %d: %s", e.Kind, e.Out.Peer()+1, e.Payload))
	case transport.Ended:
		h.ended = append(h.ended, e.Err)
	case transport.Dialed:
		h.dialed = append(h.dialed, e.Err)
	case transport.Broken:
		h.broken = append(h.broken, e.Err)
	case transport.Died:
		h.proofs = append(h.proofs, e.Proof)
		if !h.busy {
			e.Taken <- e.Proof.Proves(death)
		}
	}
}

// noted returns what f takes from a host, when all is quiescent.
func noted[T any](h *host, f func() T) T {
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	return f()
}

// dials returns the outcome of the first attempt to connect to a member.
func (h *host) dials(t *testing.T, to uint64) (transport.Outgoing, error) {
	t.Helper()
	out := h.t.Dial(int(to-1), 0)
	before := noted(h, func() int { return len(h.dialed) })
	for range 100 {
		if outcomes := noted(h, func() []error { return h.dialed }); len(outcomes) > 0 {
			return out, outcomes[max(before-1, 0)]
		}
		<-time.After(suspicion / 50)
	}
	t.Fatal("the attempt does not end")
	return nil, nil
}

// What the warden of member 2 keeps, and what member 2 shows.
var (
	secret = [32]byte{1, 2, 3}
	death  = sha256.Sum256(secret[:])
)
