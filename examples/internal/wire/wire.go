// Package wire sends single messages from one process to another, as JSON over TCP. The answer to a message is whether it
// was accepted.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// The errors of Send. After any other error it is unknown whether the message has arrived, or will arrive later.
var (
	ErrUnreachable = errors.New("it is not reachable") // the message will not arrive
	ErrRefused     = errors.New("it refuses")          // the message has arrived; the text has the reason
)

// patience is how long Serve waits for a message.
const patience = 10 * time.Second

// most is the largest message, in bytes.
const most = 4096

// Send sends a message, and waits for so long until it is accepted.
func Send(address string, message any, wait time.Duration) error {
	conn, err := net.DialTimeout("tcp", address, wait)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	defer conn.Close()
	var refusal string
	err = errors.Join(conn.SetDeadline(time.Now().Add(wait)), json.NewEncoder(conn).Encode(message))
	if err == nil {
		err = json.NewDecoder(io.LimitReader(conn, most)).Decode(&refusal)
	}
	if err == nil && refusal != "" {
		err = fmt.Errorf("%w: %s", ErrRefused, refusal)
	}
	return err
}

// Serve hands each message to accept, until the listener is closed. An error refuses the message. Messages of several
// connections are accepted at the same time.
func Serve[M any](l net.Listener, accept func(M) error) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			var message M
			err := errors.Join(conn.SetDeadline(time.Now().Add(patience)), json.NewDecoder(io.LimitReader(conn, most)).Decode(&message))
			if err != nil {
				return
			}
			refusal := ""
			if err := accept(message); err != nil {
				refusal = err.Error()
			}
			_ = json.NewEncoder(conn).Encode(refusal) // without an answer, the sender does not know
		}()
	}
}
