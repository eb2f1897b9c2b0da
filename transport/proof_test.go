package transport_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/transport"
)

// call connects to a member of a network, from an address that is none of a member.
func (n lan) call(from, to string) net.Conn {
	n.t.Helper()
	conn, err := n.Dialer(from)(n.t.Context(), "tcp", to)
	if err != nil {
		n.t.Fatal(err)
	}
	return conn
}

func FuzzProof(f *testing.F) {
	p := transport.Proof{Member: 1, Incarnation: 2, Secret: secret}
	f.Add(p.Encode())
	f.Add(p.Encode()[:transport.ProofSize-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, ok := transport.DecodeProof(b); ok && !bytes.Equal(p.Encode(), b) {
			t.Errorf("%v reads as %+v, which is written otherwise", b, p)
		}
	})
}

func TestOnlyTheSecretProvesADeath(t *testing.T) {
	right, wrong := transport.Proof{Secret: secret}, transport.Proof{Secret: [32]byte{3}}
	if !right.Proves(death) || wrong.Proves(death) || right.Proves([32]byte{}) {
		t.Errorf("the secret proves it: %v, another: %v, a member without a warden can be proven dead: %v",
			right.Proves(death), wrong.Proves(death), right.Proves([32]byte{}))
	}
}

func TestAMemberTakesAProofOfDeathInClearText(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, test := range []struct {
			name  string
			proof transport.Proof
			want  error
			asked int // how often
		}{
			{"right", transport.Proof{Member: 2, Incarnation: 102, Secret: secret}, nil, 1},
			{"of another secret", transport.Proof{Member: 2, Incarnation: 102}, transport.ErrProof, 1},
			{"of an unknown member", transport.Proof{Member: 4, Incarnation: 102, Secret: secret}, transport.ErrProof, 0},
		} {
			synctest.Test(t, func(t *testing.T) {
				n := newLAN(t)
				var security transport.TLS
				if secure {
					security = newAuthority(t).member(t, 1)
				}
				one := n.host(1, security)
				defer one.t.Close()
				if err := test.proof.Show(t.Context(), n.call("warden:1", at(1))); !errors.Is(err, test.want) {
					t.Errorf("TLS %v: a proof %s: %v", secure, test.name, err)
				}
				got := noted(one, func() []transport.Proof { return one.proofs })
				if len(got) != test.asked || test.asked == 1 && got[0] != test.proof {
					t.Errorf("TLS %v: a proof %s reaches the member as %v", secure, test.name, got)
				}
			})
		}
	}
}

func TestAProofWithoutAnAnswerIsNotAcknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newLAN(t)
		one := n.host(1, nil)
		defer one.t.Close()
		one.busy = true
		p, begun := transport.Proof{Member: 2, Incarnation: 102, Secret: secret}, time.Now()
		if err := p.Show(t.Context(), n.call("warden:1", at(1))); !errors.Is(err, io.EOF) || time.Since(begun) != suspicion {
			t.Errorf("a member that hangs gives %v after %v", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), suspicion/2)
		defer cancel()
		if err := p.Show(ctx, n.call("warden:1", at(1))); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after the time of the sender: %v", err)
		}
		if took := time.Since(begun); took != suspicion*3/2 {
			t.Errorf("both took %v", took)
		}
	})
}

func TestFewProofsWaitForTheMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newLAN(t)
		one := n.host(1, nil)
		defer one.t.Close()
		one.busy = true
		p := transport.Proof{Member: 2, Incarnation: 102, Secret: secret}
		for range 40 {
			conn := n.call("flood:1", at(1))
			defer conn.Close()
			conn.Write(p.Encode())
		}
		if got := noted(one, func() int { return len(one.proofs) }); got != 16 {
			t.Errorf("%d wait", got)
		}
		<-time.After(suspicion)
		noted(one, func() any { one.busy = false; return nil })
		if err := p.Show(t.Context(), n.call("warden:1", at(1))); err != nil {
			t.Errorf("after the flood: %v", err)
		}
	})
}

func TestAProofIsSentOverTCP(t *testing.T) {
	c := config(1)
	c.Timing.Suspicion = time.Minute // the processor may be busy
	for i := range c.Members {
		c.Members[i].Address = "127.0.0.1:0"
	}
	one := open(t, transport.TCP{}.Open, c)
	defer one.t.Close()
	p := transport.Proof{Member: 2, Incarnation: 102, Secret: secret}
	if err := transport.SendProof(t.Context(), one.t.Address(), p); err != nil {
		t.Error(err)
	}
	p.Secret[0]++
	if err := transport.SendProof(t.Context(), one.t.Address(), p); !errors.Is(err, transport.ErrProof) {
		t.Error(err)
	}
}

// Each of them holds a place among the strangers for the time of a handshake at most.
func TestAStrangerThatDoesNotGoOnIsLeft(t *testing.T) {
	hello := transport.Hello{From: 2, To: 1, Incarnation: 102}
	proof := transport.Proof{Member: 2}
	client := []byte{0x16, 3, 1, 1, 0, 1, 0, 0, 0xfc, 3, 3} // the beginning of a ClientHello of TLS
	for _, test := range []struct {
		name   string
		secure bool
		says   []byte
	}{
		{"that is mute", false, nil},
		{"that is mute", true, nil},
		{"in the middle of its Hello", false, hello.Encode()[:20]},
		{"in the middle of a proof", true, proof.Encode()[:20]},
		{"in the middle of its handshake", true, client},
	} {
		for _, slow := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				n := newLAN(t)
				var security transport.TLS
				if test.secure {
					security = newAuthority(t).member(t, 1)
				}
				one := n.host(1, security)
				defer one.t.Close()
				conn, begun := n.call("stranger:1", at(1)), time.Now()
				defer conn.Close()
				left := make(chan time.Duration, 1)
				go func() {
					io.Copy(io.Discard, conn)
					left <- time.Since(begun)
				}()
				for _, b := range test.says {
					conn.Write([]byte{b})
					if slow {
						<-time.After(beat)
					}
				}
				if took := <-left; took != transport.MostHandshake {
					t.Errorf("one %s, slow %v, is left after %v", test.name, slow, took)
				}
			})
		}
	}
}

func TestAListenerThatIsTakenOverIsLoopback(t *testing.T) {
	c := config(1)
	c.Members = []transport.Member{{ID: 1, Address: "127.0.0.1:0"}}
	end, err := transport.TCP{Listener: newLAN(t).Listen(at(1))}.Open(c)
	if err == nil {
		end.Close()
	}
	if !strings.Contains(text(err), at(1)+" is not a loopback address") {
		t.Errorf("%v", err)
	}
}

func TestClearTextStaysOnThisMachineUnlessAllowed(t *testing.T) {
	for _, test := range []struct {
		listen, member string
		insecure       bool
		names          string // the address in the error
	}{
		{"127.0.0.1:0", "127.0.0.1:7002", false, ""},
		{"", "localhost:7002", false, ""},
		{"[::1]:0", "[::1]:7002", false, ""},
		{":0", "[::1]:7002", false, ":0"},
		{":0", "[::1]:7002", true, ""},
		{"127.0.0.1:0", ":7002", false, ":7002"},
		{"0.0.0.0:0", "127.0.0.1:7002", false, "0.0.0.0:0"},
		{"0.0.0.0:0", "127.0.0.1:7002", true, ""},
		{"127.0.0.1:0", "192.0.2.2:7002", false, "192.0.2.2:7002"},
		{"127.0.0.1:0", "host2:7002", false, "host2:7002"},
		{"127.0.0.1:0", "host2:7002", true, ""},
	} {
		if strings.HasPrefix(test.listen, "[") {
			l, err := net.Listen("tcp", test.listen)
			if err != nil {
				t.Logf("without IPv6 this case is left out: %v", err)
				continue
			}
			l.Close()
		}
		c := config(1)
		c.Members = []transport.Member{{ID: 1, Address: "127.0.0.1:0"}, {ID: 2, Address: test.member}}
		transport, err := transport.TCP{Listen: test.listen, Insecure: test.insecure}.Open(c)
		if err == nil {
			transport.Close()
		}
		if want := test.names + " is not a loopback address"; (err == nil) != (test.names == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("listening on %q, with a member at %s, insecure %v: %v", test.listen, test.member, test.insecure, err)
		}
	}
}

// A peer whose connection is half open sends nothing, and is not told that it has ended.
func TestAHalfOpenConnectionEndsAfterTheTimeout(t *testing.T) {
	for _, secure := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			n := newLAN(t)
			var first, second transport.TLS
			if secure {
				ca := newAuthority(t)
				first, second = ca.member(t, 1), ca.member(t, 2)
			}
			one, two := n.host(1, first), n.host(2, second)
			defer one.t.Close()
			defer two.t.Close()
			if _, err := one.dials(t, 2); err != nil {
				t.Fatal(err)
			}
			<-time.After(suspicion - 1)
			early := noted(two, func() int { return len(two.ended) })
			<-time.After(1)
			late := noted(two, func() []error { return slices.Clone(two.ended) })
			if early != 0 || len(late) != 1 || !errors.Is(late[0], os.ErrDeadlineExceeded) {
				t.Errorf("TLS %v: before the timeout %d, then %v", secure, early, late)
			}
		})
	}
}
