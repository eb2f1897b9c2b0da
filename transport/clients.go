package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"
)

// Clients returns a listener for clients of a member, such as its operators, on a listener: HTTPS, for example. A client
// has a certificate that an authority of the member has signed, and that clients may use. It need not name a member. The
// member that t belongs to must have been opened, see [TCP.Open]. A handshake takes place when a connection is first
// read; its deadlines hold for that, too.
func Clients(l net.Listener, t TLS) net.Listener { return t.listener(l) }

// DialClient connects, as a client, to an address at which a member has the listener of [Clients]. The member must have a
// certificate of the authorities of t. It may be any member: the client trusts all of them.
func DialClient(ctx context.Context, t TLS, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	secure, err := t.dialed(ctx, conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return secure, nil
}

// CheckTLS reports whether t has a valid certificate of the member with that name, see [MemberName], and when it expires.
func CheckTLS(t TLS, name string) (expires time.Time, err error) {
	return t.check(name)
}

func (c *certificates) check(name string) (time.Time, error) {
	checked := &certificates{source: c.source}
	err := checked.bind(name, slog.New(slog.DiscardHandler))
	return checked.expires, err
}

func (c *certificates) listener(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		ours, _ := c.latest()
		return ours.serves(), nil
	}})
}

func (c *certificates) dialed(ctx context.Context, conn net.Conn) (net.Conn, error) {
	ours, err := c.source()
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, &tls.Config{
		MinVersion:           tls.VersionTLS13,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &ours.Certificate, nil },
		InsecureSkipVerify:   true, // of host names, by Go: VerifyConnection checks chain and name
		VerifyConnection: func(state tls.ConnectionState) error {
			chain := state.PeerCertificates
			name := named(chain[0])
			if _, err := verify(chain, ours.Authorities, name, x509.ExtKeyUsageServerAuth); err != nil {
				return fmt.Errorf("its certificate is refused: %w", err)
			}
			if !strings.HasPrefix(name, scheme+":") {
				return errors.New("its certificate is refused: it names no member")
			}
			return nil
		},
	})
	return secure, explained(secure.HandshakeContext(ctx))
}

// DialServer connects to any server over TLS. Its certificate must be one that this system trusts.
func DialServer(ctx context.Context, network, address string) (net.Conn, error) {
	return new(tls.Dialer).DialContext(ctx, network, address)
}
