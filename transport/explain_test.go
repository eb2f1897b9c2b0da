package transport

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

func TestAnAttemptThatFailsIsExplainedWithoutItsAddress(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, test := range []struct {
		err  error
		want string
	}{
		{context.DeadlineExceeded, "no answer within 1s: its process is stopped, its machine is down, or the network is cut"},
		{dial(context.DeadlineExceeded), "no answer within 1s: its process is stopped, its machine is down, or the network is cut"},
		{dial(os.ErrDeadlineExceeded), "no answer within 1s: its process is stopped, its machine is down, or the network is cut"},
		{dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "connection refused: no process listens there"},
		{dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), syscall.EHOSTUNREACH.Error()},
		{dial(&net.DNSError{Err: "no such host", Name: "db2"}), "lookup db2: no such host"},
		{&net.OpError{Op: "dial", Addr: &net.TCPAddr{IP: net.ParseIP("fe80::1")}, Err: os.NewSyscallError("connect", syscall.EINVAL)}, "the address fe80::1 is of one link only, and needs the network interface of this machine, as in fe80::1%eth0"},
		{&net.OpError{Op: "dial", Addr: &net.TCPAddr{IP: net.ParseIP("fe80::1"), Zone: "lo"}, Err: os.NewSyscallError("connect", syscall.EINVAL)}, syscall.EINVAL.Error()},
		{errors.New("another reason"), "another reason"},
	} {
		if got := unreached(test.err, time.Second).Error(); got != test.want {
			t.Errorf("%v is explained as %q, want %q", test.err, got, test.want)
		}
	}
}

func TestTheEndOfAConnectionIsExplainedWithoutItsAddresses(t *testing.T) {
	read := func(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }
	for _, test := range []struct {
		err  error
		want string
	}{
		{silence{time.Second}, "nothing has arrived for 1s"},
		{io.EOF, "it has closed the connection: its process has ended, or it has cut this member off"},
		{read(os.NewSyscallError("read", syscall.ECONNRESET)), "read: " + syscall.ECONNRESET.Error()},
		{read(os.ErrDeadlineExceeded), "i/o timeout"},
		{ErrLeft, ErrLeft.Error()},
	} {
		if got := cutOff(test.err); got.Error() != test.want || errors.Is(test.err, os.ErrDeadlineExceeded) != errors.Is(got, os.ErrDeadlineExceeded) {
			t.Errorf("%v is explained as %q, want %q", test.err, got, test.want)
		}
	}
}

func TestAnAuthorityThatHasExpiredIsNamed(t *testing.T) {
	authority := &x509.Certificate{IsCA: true, NotAfter: time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)}
	err := untrusted(x509.CertificateInvalidError{Cert: authority, Reason: x509.Expired})
	if want := "its authority has expired on 2020-01-02 03:04:05: make another one"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
}
