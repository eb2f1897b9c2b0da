package chaos

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"ringleader.example/ringleader/fence"
)

// The operations. A read is that of the leader's own copy.
const (
	fetch = "fetch"
	write = "write"
	read  = "read"
	entry = "entry" // to the log without a fence
)

// The results.
const (
	done  = "done"
	stale = "stale"
)

// register is a value behind a fence, and a log without one. The test keeps both.
type register struct {
	listener net.Listener
	guard    fence.Guard

	mu    sync.Mutex
	value int64
	log   []uint64 // the terms of the entries
	conns map[net.Conn]bool
}

// The frames between a client and the register.
const (
	askSize    = 1 + 8 + 8 // the operation, the term, the value
	answerSize = 1 + 8     // the result, the value
)

// newRegister listens on a socket in the file system, which processes in all namespaces of networks reach.
func newRegister(socket string) (*register, error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	r := &register{listener: listener, conns: map[net.Conn]bool{}}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			r.conns[conn] = true
			r.mu.Unlock()
			go r.serve(conn)
		}
	}()
	return r, nil
}

func (r *register) close() {
	r.listener.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.conns {
		conn.Close()
	}
}

func (r *register) serve(conn net.Conn) {
	defer func() {
		conn.Close()
		r.mu.Lock()
		delete(r.conns, conn)
		r.mu.Unlock()
	}()
	ask, answer := make([]byte, askSize), make([]byte, answerSize)
	for {
		if _, err := io.ReadFull(conn, ask); err != nil {
			return
		}
		result, value := r.do(ask[0], binary.BigEndian.Uint64(ask[1:]), int64(binary.BigEndian.Uint64(ask[9:])))
		answer[0] = result[0]
		binary.BigEndian.PutUint64(answer[1:], uint64(value))
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

// do does an operation, which is named by its first letter.
func (r *register) do(op byte, term uint64, value int64) (result string, now int64) {
	if op == entry[0] {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.log = append(r.log, term)
		return done, 0
	}
	err := r.guard.Do(term, func() error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if op == write[0] {
			r.value = value
		}
		now = r.value
		return nil
	})
	if err != nil {
		return stale, 0
	}
	return done, now
}

// late returns how many entries of the log came after one of a later term. The fence prevents that in the register.
func (r *register) late() (late, all int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	highest := uint64(0)
	for _, term := range r.log {
		if term < highest {
			late++
		}
		highest = max(highest, term)
	}
	return late, len(r.log)
}

// client is a process's connection to the register.
type client struct {
	address string
	conn    net.Conn
}

var errNoAnswer = errors.New("the register has not answered")

// do asks the register. If the error is not nil, it may have done it or not.
func (c *client) do(op string, term uint64, value int64) (result string, now int64, err error) {
	const limit = 200 * time.Millisecond
	defer func() {
		if err != nil && c.conn != nil {
			c.conn.Close()
			c.conn = nil
		}
	}()
	if c.conn == nil {
		if c.conn, err = net.DialTimeout("unix", c.address, limit); err != nil {
			c.conn = nil
			return "", 0, errNoAnswer
		}
	}
	c.conn.SetDeadline(time.Now().Add(limit))
	ask := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte{op[0]}, term), uint64(value))
	if _, err := c.conn.Write(ask); err != nil {
		return "", 0, errNoAnswer
	}
	answer := make([]byte, answerSize)
	if _, err := io.ReadFull(c.conn, answer); err != nil {
		return "", 0, errNoAnswer
	}
	result = done
	if answer[0] == stale[0] {
		result = stale
	}
	return result, int64(binary.BigEndian.Uint64(answer[1:])), nil
}

// cached is a leader's copy of the register. While its lease is valid, no other leader writes, so the copy is the value.
type cached struct {
	child    *child
	term     uint64
	valid    func() bool // whether the lease is
	value    int64
	known    bool
	writes   int64
	replaced bool // the register has refused the term
}

// step does the n-th operation of a tenure.
func (c *cached) step(n int) {
	const fence, log = 4, 7
	switch {
	case c.replaced:
	case n%log == log-1:
		_, _, _ = c.child.client.do(entry, c.term, 0)
	case !c.known:
		c.remote(fetch, 0)
	case n%fence == 0:
		c.writes++
		c.remote(write, int64(c.term)<<32|c.writes)
	default:
		c.local()
	}
}

// remote asks the register, and updates the copy.
func (c *cached) remote(op string, value int64) {
	c.child.say(event{What: called, Op: op, Term: c.term, Value: value, From: now()})
	result, current, err := c.child.client.do(op, c.term, value)
	c.known = err == nil && result == done
	if err != nil {
		return
	}
	c.child.say(event{What: given, Result: result, Value: current, To: now()})
	c.value, c.replaced = current, result == stale
}

// local reads the copy. The read counts if the lease is valid afterwards.
func (c *cached) local() {
	from, value := now(), c.value
	if c.valid() {
		to := now()
		c.child.say(event{What: called, Op: read, Term: c.term, From: from})
		c.child.say(event{What: given, Result: done, Value: value, To: to})
	}
}
