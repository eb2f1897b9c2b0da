package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/transport"
)

// Client is a client of a member.
type Client struct {
	http http.Client
	base string // scheme and host
	at   string // where the member is, for people
}

// ErrRefused reports that the member has not carried out a command. The text has the reason.
var ErrRefused = errors.New("refused")

// NewClient returns a client of the member with a socket.
func NewClient(socket string) *Client {
	c := &Client{base: "http://localhost", at: socket}
	c.dial(func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "unix", socket) })
	return c
}

// NewHTTPClient returns a client of the member that serves HTTP at an address; with TLS, HTTPS.
func NewHTTPClient(address string, security transport.TLS) *Client {
	c := &Client{base: "http://" + address, at: "http://" + address}
	c.dial(func(ctx context.Context) (net.Conn, error) {
		if security != nil {
			return transport.DialClient(ctx, security, address)
		}
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	})
	if security != nil {
		c.at = "https://" + address
	}
	return c
}

// dial sets how connections are made. The transport of package http takes a secure connection for a plain one.
func (c *Client) dial(dial func(context.Context) (net.Conn, error)) {
	c.http.Transport = &http.Transport{
		DialContext:           func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		ResponseHeaderTimeout: 2 * patience,
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// do sends a request. The caller closes the body of the answer.
func (c *Client) do(ctx context.Context, method, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if outer := new(url.Error); errors.As(err, &outer) { // it names the path, and not the socket
		err = outer.Err
	}
	if err != nil {
		return nil, fmt.Errorf("no member answers at %s: %w", c.at, err)
	}
	return response, nil
}

// mostAnswer is the largest length of an answer, in bytes. A status has less than 2 kB for each member.
const mostAnswer = 1 << 22

// get reads an answer as JSON.
func (c *Client) get(ctx context.Context, method, path string, into any) error {
	response, err := c.do(ctx, method, path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return fmt.Errorf("the answer of %s is cut off: %w", c.at, err)
	}
	var no failure
	switch code := response.StatusCode; {
	case code != http.StatusOK && code != http.StatusAccepted && json.Unmarshal(body, &no) == nil && no.Error != "":
		return fmt.Errorf("%w: %s", ErrRefused, no.Error)
	case code != http.StatusOK && code != http.StatusAccepted:
		return fmt.Errorf("%s answers %s", c.at, response.Status)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("no member of ringleader answers at %s: %w", c.at, err)
	}
	return nil
}

// Status returns the member's knowledge of the group.
func (c *Client) Status(ctx context.Context) (s ringleader.Status, err error) {
	err = c.get(ctx, http.MethodGet, "/status", &s)
	return s, err
}

// Resign asks the member to hand over its lead, and returns its knowledge when another one leads, or after five seconds.
func (c *Client) Resign(ctx context.Context) (s ringleader.Status, err error) {
	err = c.get(ctx, http.MethodPost, "/resign", &s)
	return s, err
}

// Transfer is Resign with a successor.
func (c *Client) Transfer(ctx context.Context, id uint64) (s ringleader.Status, err error) {
	err = c.get(ctx, http.MethodPost, "/transfer?to="+strconv.FormatUint(id, 10), &s)
	return s, err
}

// Clock returns a reading of the clock of the member's machine, and the earliest and the latest time of it on the clock of
// this process.
func (c *Client) Clock(ctx context.Context) (reading time.Duration, sent, received time.Time, err error) {
	var r Reading
	sent = time.Now()
	err = c.get(ctx, http.MethodGet, "/clock", &r)
	return time.Duration(r.Seconds * float64(time.Second)), sent, time.Now(), err
}

// Watch yields the member's knowledge now and after each change of its leader, until ctx is done, or with the error when
// the connection has ended.
func (c *Client) Watch(ctx context.Context) iter.Seq2[ringleader.Status, error] {
	return func(yield func(ringleader.Status, error) bool) {
		response, err := c.do(ctx, http.MethodGet, "/watch")
		if err != nil {
			yield(ringleader.Status{}, err)
			return
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			yield(ringleader.Status{}, fmt.Errorf("%s answers %s", c.at, response.Status))
			return
		}
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, mostAnswer)
		for lines.Scan() {
			data, is := strings.CutPrefix(lines.Text(), "data: ")
			if !is {
				continue
			}
			var s ringleader.Status
			if err := json.Unmarshal([]byte(data), &s); err != nil {
				yield(s, fmt.Errorf("no member of ringleader answers at %s: %w", c.at, err))
				return
			}
			if !yield(s, nil) {
				return
			}
		}
		if ctx.Err() == nil {
			yield(ringleader.Status{}, fmt.Errorf("the connection to %s has ended", c.at))
		}
	}
}
