package control

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/transport"
)

// Client is a client of a member. Each call is a connection of its own: with the client of package http, which keeps
// connections, programs would be half a megabyte larger.
type Client struct {
	dial func(context.Context) (net.Conn, error)
	at   string // where the member is, for people
}

// ErrRefused reports that the member has not carried out a command. The text has the reason.
var ErrRefused = errors.New("refused")

// NewClient returns a client of the member with a socket.
func NewClient(socket string) *Client {
	return &Client{at: socket, dial: func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "unix", socket) }}
}

// NewHTTPClient returns a client of the member that serves HTTP at an address; with TLS, HTTPS.
func NewHTTPClient(address string, security transport.TLS) *Client {
	if security != nil {
		return &Client{at: "https://" + address, dial: func(ctx context.Context) (net.Conn, error) { return transport.DialClient(ctx, security, address) }}
	}
	return &Client{at: "http://" + address, dial: func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", address) }}
}

// answerTime is how long a call may take, except for Watch. A command takes up to [patience].
const answerTime = 2 * patience

// do sends a request. The caller closes the body of the answer, which closes the connection, as the end of ctx does.
func (c *Client) do(ctx context.Context, method, path string) (*http.Response, error) {
	response, err := c.exchange(ctx, method, path)
	if err != nil {
		hint := ""
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			hint = "; is it running? ringleader join or ringleader exec starts it"
		}
		return nil, fmt.Errorf("no member answers at %s: %w%s", c.at, cmp.Or(context.Cause(ctx), reason(err)), hint)
	}
	return response, nil
}

// reason returns the cause of a failure to connect, without the address and the names of system calls.
func reason(err error) error {
	if op, is := errors.AsType[*net.OpError](err); is {
		err = op.Err
	}
	if call, is := errors.AsType[*os.SyscallError](err); is {
		err = call.Err
	}
	return err
}

func (c *Client) exchange(ctx context.Context, method, path string) (*http.Response, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	ends := func() error {
		stop()
		return conn.Close()
	}
	_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method, path)
	if err != nil {
		return nil, errors.Join(err, ends())
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, errors.Join(err, ends())
	}
	response.Body = body{response.Body, ends}
	return response, nil
}

// body is the body of an answer. Its end closes the connection.
type body struct {
	io.Reader
	ends func() error
}

func (b body) Close() error { return b.ends() }

// mostAnswer is the largest length of an answer, in bytes. A status has less than 2 kB for each member.
const mostAnswer = 1 << 22

// get reads an answer as JSON.
func (c *Client) get(ctx context.Context, method, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	response, err := c.do(ctx, method, path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostAnswer))
	if err != nil {
		return fmt.Errorf("the answer of %s is cut off: %w", c.at, err)
	}
	if code := response.StatusCode; code != http.StatusOK && code != http.StatusAccepted {
		return c.refusal(response.Status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("no member of ringleader answers at %s: %w", c.at, err)
	}
	return nil
}

// refusal returns the error of an answer that is none to the question.
func (c *Client) refusal(status string, body []byte) error {
	var no failure
	if json.Unmarshal(body, &no) == nil && no.Error != "" {
		return fmt.Errorf("%w: %s", ErrRefused, no.Error)
	}
	return fmt.Errorf("%s answers %s", c.at, status)
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

// Vote asks the member, which leads, to give a vote to a member, or to take it. It returns what the member knows when a
// majority keeps that, or after five seconds.
func (c *Client) Vote(ctx context.Context, id uint64, votes bool) (s ringleader.Status, err error) {
	verb := "remove"
	if votes {
		verb = "add"
	}
	err = c.get(ctx, http.MethodPost, "/members/"+verb+"?id="+strconv.FormatUint(id, 10), &s)
	return s, err
}

// AddAddress gives a member a line in the address book of the group, and returns what the member that is asked knows then.
func (c *Client) AddAddress(ctx context.Context, a ringleader.MemberAddress) (s ringleader.Status, err error) {
	q := url.Values{"id": {strconv.FormatUint(a.ID, 10)}, "address": {a.Address}}
	if a.Priority != 0 {
		q.Set("priority", strconv.FormatUint(uint64(a.Priority), 10))
	}
	if a.Witness {
		q.Set("witness", "true")
	}
	if a.Standby {
		q.Set("standby", "true")
	}
	err = c.get(ctx, http.MethodPost, "/addresses/add?"+q.Encode(), &s)
	return s, err
}

// RemoveAddress removes a member from the group.
func (c *Client) RemoveAddress(ctx context.Context, id uint64) (s ringleader.Status, err error) {
	err = c.get(ctx, http.MethodPost, "/addresses/remove?id="+strconv.FormatUint(id, 10), &s)
	return s, err
}

// PausePreemption pauses preemption at the member for some time, or with 0 until ResumePreemption.
func (c *Client) PausePreemption(ctx context.Context, d time.Duration) (s ringleader.Status, err error) {
	err = c.get(ctx, http.MethodPost, "/pause-preemption?for="+d.String(), &s)
	return s, err
}

// ResumePreemption ends the pause.
func (c *Client) ResumePreemption(ctx context.Context) (s ringleader.Status, err error) {
	err = c.get(ctx, http.MethodPost, "/resume-preemption", &s)
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

// Record returns the record of the member, as an archive; of the time since then only, if last is not 0.
func (c *Client) Record(ctx context.Context, last time.Duration) ([]byte, error) {
	path := "/record"
	if last != 0 {
		path += "?last=" + last.String()
	}
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	response, err := c.do(ctx, http.MethodGet, path)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(response.Body, mostAnswer)) // a part of the reason is better than none
		return nil, c.refusal(response.Status, body)
	}
	if kind := response.Header.Get("Content-Type"); kind != "application/octet-stream" {
		return nil, fmt.Errorf("no member of ringleader answers at %s: its record is %q", c.at, kind)
	}
	archive, err := io.ReadAll(io.LimitReader(response.Body, mostRecord+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the record of the member at %s is cut off: %w", c.at, err)
	case len(archive) > mostRecord:
		return nil, fmt.Errorf("the record of the member at %s has more than %d bytes", c.at, mostRecord)
	}
	return archive, nil
}

// Explain returns what the member tells about the last changes of its leader, as JSON.
func (c *Client) Explain(ctx context.Context) (explanation json.RawMessage, err error) {
	err = c.get(ctx, http.MethodGet, "/explain", &explanation)
	return explanation, err
}

// The limits of a record that a client reads.
const (
	mostRecord = 1 << 30
	recordTime = 5 * time.Minute
)

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
			err := fmt.Errorf("the connection to %s has ended", c.at)
			if errors.Is(lines.Err(), bufio.ErrTooLong) {
				err = fmt.Errorf("no member of ringleader answers at %s: a line has more than %d bytes", c.at, mostAnswer)
			}
			yield(ringleader.Status{}, err)
		}
	}
}
