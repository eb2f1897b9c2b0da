package control

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"ringleader.example/ringleader/transport"
)

// Get makes a request with http or https, of any server. It returns nil if the answer has a status from 200 to 299. Like that of a
// [Client], it is a connection of its own.
func Get(ctx context.Context, u *url.URL) error {
	port, dial := "80", new(net.Dialer).DialContext
	if u.Scheme == "https" {
		port, dial = "443", transport.DialServer
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port)))
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: ringleader\r\nConnection: close\r\n\r\n", u.RequestURI(), u.Host)
	if err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	switch {
	case err != nil:
		return fmt.Errorf("no answer over HTTP: %w", cmp.Or(context.Cause(ctx), err))
	case response.StatusCode/100 != 2:
		return fmt.Errorf("HTTP status %s", response.Status)
	}
	return nil
}
