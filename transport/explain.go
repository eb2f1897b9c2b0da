package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// This file has the words in which a member explains to its operator why it cannot communicate with another one.

// unreached returns the error of an attempt to connect, without the address, which its reader knows.
func unreached(err error, within time.Duration) error {
	var dial *net.OpError
	var call *os.SyscallError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded): // the kernel may report it first
		return fmt.Errorf("no answer within %v: its process is stopped, its machine is down, or the network is cut", within)
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused: no process listens there")
	case unscoped(err) != nil:
		return unscoped(err)
	case errors.As(err, &call):
		return call.Err
	case errors.As(err, &dial) && dial.Op == "dial":
		return dial.Err
	}
	return err
}

// unscoped returns what is wrong with a link-local address of IPv6 that cannot be used as it is: on most systems it needs an interface. nil: it is another error.
func unscoped(err error) error {
	var failed *net.OpError
	if !errors.Is(err, syscall.EINVAL) || !errors.As(err, &failed) {
		return nil
	}
	if at, is := failed.Addr.(*net.TCPAddr); is && at.Zone == "" && at.IP.To4() == nil && at.IP.IsLinkLocalUnicast() {
		return fmt.Errorf("the address %v is of one link only, and needs the network interface of this machine, as in %[1]v%%eth0", at.IP)
	}
	return nil
}

// silence is the end of a connection on which nothing has arrived for so long.
type silence struct{ lasted time.Duration }

func (s silence) Error() string { return fmt.Sprintf("nothing has arrived for %v", s.lasted) }

func (silence) Unwrap() error { return os.ErrDeadlineExceeded }

// cutOff returns the error of a connection, without the addresses, which change with each connection.
func cutOff(err error) error {
	var op *net.OpError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it has closed the connection: its process has ended, or it has cut this member off")
	case errors.As(err, &op):
		return op.Err
	}
	return err
}

// untrusted returns why a certificate is not valid, and what to do.
func untrusted(err error) error {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		return errors.New("it is signed by an unknown authority: give all members certificates of one authority")
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		return fmt.Errorf("it is not valid before %s: set the clock of this machine, or wait", invalid.Cert.NotBefore.UTC().Format(time.DateTime))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert.IsCA:
		return fmt.Errorf("its authority has expired on %s: make another one", invalid.Cert.NotAfter.UTC().Format(time.DateTime))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("it has expired on %s: renew it", invalid.Cert.NotAfter.UTC().Format(time.DateTime))
	}
	return err
}

// explained returns an error of TLS in the words of this package.
func explained(err error) error {
	var header tls.RecordHeaderError
	var alert *net.OpError
	switch {
	case errors.As(err, &header):
		return errors.New("it does not use TLS, and this member does")
	case errors.As(err, &alert) && alert.Op == "remote error":
		reason := alert.Err.Error()
		if strings.Contains(reason, "certificate") {
			reason = "the certificate of this member: " + reason
		}
		return &Refusal{Refused, reason}
	}
	return err
}
