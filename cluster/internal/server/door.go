package server

import (
	"crypto/subtle"
	"io"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// door takes connections of processes that know its secret, and joins each to the server as one of this process: without TLS,
// and without a certificate.
type door struct {
	listener net.Listener
	secret   []byte
	nats     *server.Server
}

func newDoor(secret string, nats *server.Server) (*door, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &door{listener: listener, secret: []byte(secret), nats: nats}
	go d.open()
	return d, nil
}

// close ends the door. Its connections end with the server.
func (d *door) close() { d.listener.Close() }

func (d *door) open() {
	for {
		c, err := d.listener.Accept()
		if err != nil {
			return
		}
		go d.admit(c)
	}
}

// admit joins a connection to the server if it begins with the secret.
func (d *door) admit(c net.Conn) {
	defer c.Close()
	said := make([]byte, len(d.secret))
	_ = c.SetReadDeadline(time.Now().Add(patience)) // it fails only after Close
	if _, err := io.ReadFull(c, said); err != nil || subtle.ConstantTimeCompare(said, d.secret) == 0 {
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	inside, err := d.nats.InProcessConn()
	if err != nil {
		return
	}
	defer inside.Close()
	go func() {
		_, _ = io.Copy(c, inside)
		c.Close() // which ends the other direction
	}()
	_, _ = io.Copy(inside, c)
}
