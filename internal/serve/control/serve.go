package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/statushttp"
	"ringleader.example/ringleader/transport"
)

// Socket returns the path of the socket of the member with that data directory.
func Socket(data string) string { return filepath.Join(data, "control.sock") }

// Options determine where a member is served.
type Options struct {
	Socket string        // the path of a unix socket; empty: none
	HTTP   net.Listener  // for HTTP in clear text; nil: none. Serve closes it
	HTTPS  net.Listener  // for HTTPS, by TLS; nil: none. Serve closes it
	TLS    transport.TLS // of the member
	Record string        // the directory of the record of the member; empty: it has none
	Hosts  []string      // names by which clients of HTTP may call it, besides localhost, the host it listens on, and numeric addresses
	Log    *slog.Logger
	Ready  func() // is called when the member can be reached at all of these; may be nil
}

// Serve serves a member until ctx is done, or serving HTTP fails, which is the error. The member must be open. A socket that
// cannot be made is a warning in the log: the member is worth more than its socket.
func Serve(ctx context.Context, m *ringleader.Member, o Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	files := newRecorded(o.Record)
	var all sync.WaitGroup
	serve := func(l net.Listener, h http.Handler) {
		server := statushttp.Server(h)
		server.ErrorLog = slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug)
		all.Go(func() {
			if err := server.Serve(l); ctx.Err() == nil {
				cancel(err)
			}
		})
		context.AfterFunc(ctx, func() { server.Close() })
	}
	if o.Socket != "" {
		if l, err := listen(o.Socket); err != nil {
			o.Log.Warn("there is no control socket", "error", err)
		} else {
			defer os.Remove(o.Socket)
			serve(l, handler(m, files, true))
		}
	}
	looks, operates := handler(m, files, false), handler(m, files, true)
	if o.HTTP != nil {
		serve(o.HTTP, Called(o.names(o.HTTP), looks))
	}
	if o.HTTPS != nil {
		serve(transport.Clients(o.HTTPS, o.TLS), Called(o.names(o.HTTPS), operates))
	}
	if o.Ready != nil {
		o.Ready()
	}
	<-ctx.Done()
	all.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// names returns the names by which a listener may be called.
func (o *Options) names(l net.Listener) []string {
	host, _, _ := net.SplitHostPort(l.Addr().String())
	return append(slices.Clone(o.Hosts), "localhost", host)
}

// listen makes a socket for this user alone. It replaces that of a process that has ended.
func listen(path string) (net.Listener, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSocket == 0:
		return nil, fmt.Errorf("%s is not a socket, and is not replaced", path)
	default:
		if conn, err := net.Dial("unix", path); err == nil {
			conn.Close()
			return nil, fmt.Errorf("%s is in use by another process", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("%w (the path has %d bytes; systems allow about 100)", err, len(path))
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // Serve removes it
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Called refuses requests whose Host is a name that is not among hosts. A page of a hostile site can make its own name lead to
// this process, but it cannot make a browser send another name, or an address.
func Called(hosts []string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		_, err := netip.ParseAddr(strings.Trim(host, "[]"))
		known := slices.ContainsFunc(hosts, func(name string) bool { return strings.EqualFold(name, host) })
		if host != "" && err != nil && !known { // without a Host it is a probe with HTTP 1.0
			fail(w, http.StatusMisdirectedRequest, fmt.Errorf("this process is not called %q", host))
			return
		}
		h.ServeHTTP(w, r)
	})
}
