package transport

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// TLS secures the connections of one member: TLS 1.3, with certificates on both sides. [LoadTLS] and [NewTLS] return
// one. A program that calls neither does not link TLS.
//
// The certificate of a member names it, see [MemberName], and may be used by clients and servers. A dialer accepts only
// the member that it dials. A listener accepts only a Hello from the member that the certificate names. Each connection
// has a full handshake, with the certificates of that time; no session is resumed. A connection ends when a certificate
// of either side expires.
type TLS interface {
	// Reload takes new certificates now, and reports why they cannot be used, if so: the old ones then stay in use.
	// Handshakes take new certificates without it, and log such errors. Connections stand with the certificates that
	// they began with.
	Reload() error

	// Expires returns when the certificate that the next handshake uses expires, or an authority of it. It takes new
	// certificates as a handshake does. It is the zero time before a member has been opened.
	Expires() time.Time

	// Problem returns why the latest certificate cannot be used: the files cannot be read, do not belong together, or are another
	// member's; or it has expired. It takes new certificates as a handshake does. It is empty if nothing is wrong, and before a
	// member has been opened.
	Problem() string

	// bind checks the certificate of the member with that name.
	bind(name string, log *slog.Logger) error

	// client secures a connection to the member with that name, and server one from the member that it returns.
	client(conn net.Conn, name string) (net.Conn, error)
	server(conn net.Conn) (secure net.Conn, name string, err error)

	// listener secures a listener for clients, and dialed a connection of a client.
	listener(l net.Listener) net.Listener
	dialed(ctx context.Context, conn net.Conn) (net.Conn, error)

	check(name string) (expires time.Time, err error)
}

const scheme = "ringleader"

// MemberName returns the name of a member in its certificate: ringleader:GROUP/ID, a URI among the subject alternative
// names. GROUP is [Config].Name, escaped as a segment of a path. A certificate has one such name.
func MemberName(group string, id uint64) string {
	return scheme + ":" + url.PathEscape(group) + "/" + strconv.FormatUint(id, 10)
}

// CertificateTemplate returns a template of the certificate of a member. The caller adds the serial number and the
// times, and signs it with a certificate authority that serves this purpose only. NotBefore is best some time ago:
// clocks differ.
func CertificateTemplate(group string, id uint64) (*x509.Certificate, error) {
	name, err := url.Parse(MemberName(group, id))
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		URIs:        []*url.URL{name},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	t.Subject.CommonName = fmt.Sprintf("member %d", id)
	return t, nil
}

// named returns the name of the member that a certificate names; another text if that is not one member.
func named(c *x509.Certificate) string {
	var names []string
	for _, u := range c.URIs {
		if u.Scheme == scheme {
			names = append(names, u.String())
		}
	}
	return cmp.Or(strings.Join(names, " and "), "no member")
}

// Credentials is what a member presents to others, and by what it checks them.
type Credentials struct {
	Certificate tls.Certificate // with its key, and the intermediate certificates up to an authority
	Authorities *x509.CertPool
}

func (c *Credentials) equal(other *Credentials) bool {
	return c == other || slices.EqualFunc(c.Certificate.Certificate, other.Certificate.Certificate, bytes.Equal) &&
		c.Authorities.Equal(other.Authorities)
}

// LoadTLS returns TLS with a certificate, its key and the certificates of the authorities, from files in PEM format.
// The files may be replaced while the member runs: each handshake reads them.
func LoadTLS(certFile, keyFile, caFile string) (TLS, error) {
	f := &files{names: [3]string{certFile, keyFile, caFile}}
	if _, err := f.credentials(); err != nil {
		return nil, err
	}
	return NewTLS(f.credentials), nil
}

// files reads credentials from files.
type files struct {
	names    [3]string
	mu       sync.Mutex
	contents [3][]byte // that current was made of
	current  *Credentials
}

func (f *files) credentials() (*Credentials, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var contents [3][]byte
	same := f.current != nil
	for i, name := range f.names {
		var err error
		if contents[i], err = readFile(name); err != nil {
			return nil, err
		}
		same = same && bytes.Equal(contents[i], f.contents[i])
	}
	if same {
		return f.current, nil
	}
	certificate, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", f.names[0], f.names[1], err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(contents[2]) {
		return nil, fmt.Errorf("%s has no certificate of an authority", f.names[2])
	}
	f.contents, f.current = contents, &Credentials{certificate, authorities}
	return f.current, nil
}

// mostFile is the largest size of a file: another one may have no end.
const mostFile = 1 << 20

func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, mostFile+1))
	if err == nil && len(content) > mostFile {
		err = fmt.Errorf("%s has more than %d bytes", name, mostFile)
	}
	return content, err
}

// NewTLS returns TLS with the credentials of a source. Each handshake asks the source. If the source fails, or its certificate is not valid or names another member, the credentials
// before stay in use.
func NewTLS(source func() (*Credentials, error)) TLS { return &certificates{source: source} }

type certificates struct {
	source func() (*Credentials, error)

	mu      sync.Mutex
	name    string // of this member
	log     *slog.Logger
	current *Credentials
	expires time.Time // when the current certificate does
	problem string    // with the latest credentials
}

func (c *certificates) bind(name string, log *slog.Logger) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.name, c.log, c.current = name, log, nil
	return c.reload()
}

func (c *certificates) Reload() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reload()
}

func (c *certificates) Expires() time.Time {
	_, expires := c.look()
	return expires
}

func (c *certificates) Problem() string {
	problem, _ := c.look()
	return problem
}

// look returns what is known of the latest credentials, and when the certificate in use expires, once a member is opened.
func (c *certificates) look() (problem string, expires time.Time) {
	c.mu.Lock()
	bound := c.log != nil
	c.mu.Unlock()
	if !bound {
		return "", expires
	}
	c.latest()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.problem, c.expires
}

func (c *certificates) reload() error {
	latest, err := c.source()
	if err != nil || c.current != nil && latest.equal(c.current) {
		return err
	}
	var chain []*x509.Certificate
	for _, raw := range latest.Certificate.Certificate {
		certificate, err := x509.ParseCertificate(raw)
		if err != nil {
			return err
		}
		chain = append(chain, certificate)
	}
	if len(chain) == 0 {
		return errors.New("there is no certificate")
	}
	expires, err := verify(chain, latest.Authorities, c.name, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth)
	if err != nil {
		return fmt.Errorf("the certificate of this member: %w", err)
	}
	c.current, c.expires = latest, expires
	return nil
}

// certificatesEvery is the time between two looks at the latest certificates. Handshakes are rare: without the looks, a wrong file shows only when
// a connection has broken.
const certificatesEvery = 5 * time.Second

// watchCertificates looks at the latest certificates until the end of the transport. The log tells of wrong ones.
func (t *tcp) watchCertificates() {
	ticker := time.NewTicker(certificatesEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			t.TLS.Problem()
		case <-t.ctx.Done():
			return
		}
	}
}

// latest returns the credentials for a handshake, and when the certificate expires.
func (c *certificates) latest() (*Credentials, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	problem := ""
	if err := c.reload(); err != nil {
		problem = err.Error()
	} else if time.Now().After(c.expires) {
		problem = "the certificate of this member: it has expired on " + c.expires.UTC().Format(time.DateTime)
	}
	switch {
	case problem == c.problem:
	case problem == "":
		c.log.Warn("the certificates of this member can be used again")
	default:
		c.log.Warn("the latest certificates of this member cannot be used; those before stay in use until they expire", "error", problem)
	}
	c.problem = problem
	return c.current, c.expires
}

// verify checks that a certificate, with its intermediates, is one of the member with that name, for all usages. It
// returns when the first one of a chain expires: of the chain that is the longest valid.
func verify(chain []*x509.Certificate, authorities *x509.CertPool, name string, usages ...x509.ExtKeyUsage) (expires time.Time, err error) {
	o := x509.VerifyOptions{Roots: authorities, Intermediates: x509.NewCertPool()}
	for _, intermediate := range chain[1:] {
		o.Intermediates.AddCert(intermediate)
	}
	for _, usage := range usages {
		o.KeyUsages = []x509.ExtKeyUsage{usage}
		valid, err := chain[0].Verify(o)
		if err != nil {
			return expires, untrusted(err)
		}
		expires = lastExpiry(valid)
	}
	if n := named(chain[0]); n != name && !(strings.HasSuffix(name, "/") && strings.HasPrefix(n, name)) { // a Seeker means any member
		return expires, fmt.Errorf("it names %s, not %s: make one for that member", n, name)
	}
	return expires, nil
}

func lastExpiry(chains [][]*x509.Certificate) (last time.Time) {
	for _, chain := range chains {
		first := chain[0].NotAfter
		for _, c := range chain[1:] {
			if c.NotAfter.Before(first) {
				first = c.NotAfter
			}
		}
		if first.After(last) {
			last = first
		}
	}
	return last
}

func (c *certificates) client(conn net.Conn, name string) (net.Conn, error) {
	ours, expires := c.latest()
	s := &secured{raw: conn, expires: expires}
	s.Conn = tls.Client(conn, &tls.Config{
		MinVersion: tls.VersionTLS13,
		// A nil certificate, because the listener does not list our authority, would hide the reason of its refusal.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &ours.Certificate, nil },
		InsecureSkipVerify:   true, // of host names, by Go: VerifyConnection checks chain and name
		VerifyConnection: func(state tls.ConnectionState) error {
			theirs, err := verify(state.PeerCertificates, ours.Authorities, name, x509.ExtKeyUsageServerAuth)
			if err != nil {
				return fmt.Errorf("its certificate is refused: %w", err)
			}
			s.until(theirs)
			return nil
		},
	})
	return s, explained(s.Handshake())
}

func (c *certificates) server(conn net.Conn) (secure net.Conn, name string, err error) {
	ours, expires := c.latest()
	s := &secured{raw: conn, expires: expires}
	s.Conn = tls.Server(conn, ours.serves())
	if err := s.Handshake(); err != nil {
		return nil, "", err
	}
	state := s.ConnectionState()
	s.until(lastExpiry(state.VerifiedChains))
	return s, named(state.PeerCertificates[0]), nil
}

// serves returns the configuration of a server that asks for a certificate.
func (c *Credentials) serves() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{c.Certificate},
		ClientCAs:              c.Authorities,
		ClientAuth:             tls.RequireAndVerifyClientCert,
		SessionTicketsDisabled: true, // a resumed session would outlive the certificates
	}
}

// secured is a connection with TLS that ends when the certificates expire. Close closes the connection below at once. The
// closing alert of TLS would wait for a peer that does not read, and members send a goodbye instead.
type secured struct {
	*tls.Conn
	raw     net.Conn
	expires time.Time
}

// until limits the life of a connection.
func (s *secured) until(expires time.Time) {
	if expires.Before(s.expires) {
		s.expires = expires
	}
}

var errExpired = errors.New("a certificate of this connection has expired")

func (s *secured) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	if time.Now().After(s.expires) {
		return 0, errExpired
	}
	return n, explained(err)
}

func (s *secured) Write(b []byte) (int, error) {
	if time.Now().After(s.expires) {
		return 0, errExpired
	}
	return s.Conn.Write(b)
}

func (s *secured) Close() error { return s.raw.Close() }
