// Package broker starts the NATS server of a command. The server is a program of a module of its own, ringleader-broker, so that
// the command neither compiles nor links it. The two processes talk through the standard input and output of the server:
//
//   - The command writes [Settings] as one line of JSON, and keeps the pipe open. The server ends when the pipe ends, so it ends
//     with the command, even if that is killed.
//   - The server writes a [Message] as a line of JSON when it is ready or does not start, when it cannot go on, and when it has
//     ended.
//
// Workers connect to the server's URL. The command connects through a door, a second port on loopback, which opens with a secret
// of the settings. So it needs no certificate that its own server accepts.
package broker

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Program is the name of the server's program.
const Program = "ringleader-broker"

// Child is the flag with which a command starts the program.
const Child = "--child"

// Settings are those of a server.
type Settings struct {
	Listen      string `json:"listen"`                // host:port; port 0 is a free one
	Store       string `json:"store"`                 // a folder for jobs and results; made if it is missing, and locked against a second server
	Token       string `json:"token,omitempty"`       // that clients must have, such as that of [secret.Own]; may be empty
	Certificate string `json:"certificate,omitempty"` // a PEM file; empty: no TLS
	Key         string `json:"key,omitempty"`         // … and its key
	CA          string `json:"ca,omitempty"`          // with a PEM file here, clients need a certificate of this authority
	Secret      string `json:"secret,omitempty"`      // opens the door; Start makes it
}

// Message is what a server tells the command that has started it. One of the fields is set, or the first two.
type Message struct {
	URL     string   `json:"url,omitempty"`     // where workers connect: the server is ready
	Door    string   `json:"door,omitempty"`    // host:port where the command connects
	Failure string   `json:"failure,omitempty"` // one line: why the server does not start, or cannot go on
	Traffic *Traffic `json:"traffic,omitempty"` // the server has ended
}

// Traffic is what a server has received and sent.
type Traffic struct {
	MessagesIn  int64 `json:"messages_in"`
	MessagesOut int64 `json:"messages_out"`
	BytesIn     int64 `json:"bytes_in"`
	BytesOut    int64 `json:"bytes_out"`
}

// ErrNotFound reports that there is no program of the server.
var ErrNotFound = errors.New(Program + " is neither beside this program nor in PATH")

// Find returns the path of the server's program: the named one, or else the one beside this program, or else that in PATH.
func Find(named string) (string, error) {
	if named != "" {
		return exec.LookPath(named)
	}
	if self, err := os.Executable(); err == nil {
		if found, err := exec.LookPath(filepath.Join(filepath.Dir(self), Program)); err == nil {
			return found, nil
		}
	}
	if found, err := exec.LookPath(Program); err == nil {
		return found, nil
	}
	return "", ErrNotFound
}

// Server is a server in a process that this one has started.
type Server struct {
	url, door, secret string
	process           *exec.Cmd
	input             io.Closer // its end ends the server
	complaints        beginning
	failed            chan error
	closing           chan struct{}
	once              sync.Once // for Close
	ended             chan struct{}
}

// Start starts a server with the program of that path, and waits until it is ready. An error is one line.
func Start(program string, s Settings) (*Server, error) {
	s.Secret = rand.Text()
	settings, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	e := &Server{
		secret: s.Secret, process: exec.Command(program, Child),
		failed: make(chan error, 1), closing: make(chan struct{}), ended: make(chan struct{}),
	}
	e.process.Stderr = &e.complaints
	input, err := e.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	e.input = input
	output, err := e.process.StdoutPipe()
	if err == nil {
		err = e.process.Start()
	}
	if err != nil {
		return nil, err
	}
	messages := json.NewDecoder(output)
	var first Message
	_, err = input.Write(append(settings, '\n'))
	if err == nil {
		err = messages.Decode(&first)
	}
	if err != nil || first.URL == "" {
		e.input.Close()
		_ = e.process.Wait() // how it ends matters less than what it has printed
		return nil, errors.New(cmp.Or(first.Failure, e.complaints.line(), fmt.Sprintf("%s does not start a server", program)))
	}
	e.url, e.door = first.URL, first.Door
	go e.watch(messages)
	return e, nil
}

// URL returns the server's URL.
func (e *Server) URL() string { return e.url }

// doorTime is how long the server may take to answer at its door.
const doorTime = 5 * time.Second

// Dial connects to the server through its door.
func (e *Server) Dial() (net.Conn, error) {
	select {
	case <-e.ended: // the port may be that of another program now
		return nil, net.ErrClosed
	default:
	}
	c, err := net.DialTimeout("tcp", e.door, doorTime)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(c, e.secret); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Failed returns a channel with the error that has ended the server or its store, such as a full disk.
func (e *Server) Failed() <-chan error { return e.failed }

// closeTime is how long a server may take to end.
const closeTime = time.Minute

// Close ends the server. Its store remains. A second call does nothing.
func (e *Server) Close() {
	e.once.Do(func() {
		close(e.closing)
		e.input.Close()
		kill := time.AfterFunc(closeTime, func() { _ = e.process.Process.Kill() })
		defer kill.Stop()
		<-e.ended
	})
}

// watch reads what the server tells until its process has ended.
func (e *Server) watch(messages *json.Decoder) {
	defer close(e.ended)
	for {
		var m Message
		if messages.Decode(&m) != nil {
			break
		}
		if m.Failure != "" {
			e.fail(m.Failure)
		}
	}
	err := e.process.Wait()
	select {
	case <-e.closing:
	default:
		e.fail(fmt.Sprintf("the embedded server has ended: %s", cmp.Or(e.complaints.line(), fmt.Sprint(err))))
	}
}

// fail keeps the first reason.
func (e *Server) fail(reason string) {
	select {
	case e.failed <- errors.New(reason):
	default:
	}
}

// beginning keeps the beginning of what a process prints.
type beginning struct{ text []byte }

// Write drops what is too much.
func (b *beginning) Write(text []byte) (int, error) {
	const most = 4 << 10
	b.text = append(b.text, text[:min(len(text), most-len(b.text))]...)
	return len(text), nil
}

// line returns the first line.
func (b *beginning) line() string {
	first, _, _ := bytes.Cut(bytes.TrimSpace(b.text), []byte("\n"))
	return string(first)
}

// Outside returns the URL of a server for other machines: with the name of this one if the server listens on all its addresses.
func Outside(url string) string {
	scheme, address, _ := strings.Cut(url, "://")
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err == nil && ip.IsUnspecified() {
		if name, err := os.Hostname(); err == nil {
			return scheme + "://" + net.JoinHostPort(name, port)
		}
	}
	return url
}
