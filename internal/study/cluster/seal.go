package cluster

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"ringleader.example/ringleader/internal/study/secret"
)

// A server takes messages from all its clients, and a process that reaches it need not be one of ours. So each message that
// another process acts on has a seal, which only a process with the token can make. It covers the subject, and with it the job and
// the piece, so a sealed result is of no use for another piece. Requests alone have none: they change nothing.

// protocol is the number of the form of messages. It changes when programs with another one would misread them.
const protocol = 2

// wireVersion is a version as other processes see it. Programs of before the first number showed their version alone.
func wireVersion(version string) string { return fmt.Sprintf("%s (protocol %d)", version, protocol) }

// sealHeader is the header with the seal of a message.
const sealHeader = "Ringleader-Seal"

// sealedHeaders are the headers that a seal covers.
var sealedHeaders = []string{tookHeader, workerHeader, failedHeader, queuedHeader, attemptHeader}

// Sealed reports whether messages have seals: whether there is a token to make them with.
func (c *Conn) Sealed() bool { return c.token != "" }

// sealOf returns the seal of a message. Each kind of subject has a key of its own.
func (c *Conn) sealOf(subject string, header nats.Header, data []byte) string {
	_, kind, _ := strings.Cut(subject, ".")
	kind, _, _ = strings.Cut(kind, ".")
	seal := hmac.New(sha256.New, secret.Derive(c.token, "seal of "+kind))
	part := func(text []byte) { // with its length, so that no two messages give the same bytes
		seal.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		seal.Write(text)
	}
	part([]byte(subject))
	for _, name := range sealedHeaders {
		for _, value := range header[name] {
			part([]byte(name))
			part([]byte(value))
		}
	}
	part(data)
	return base64.RawURLEncoding.EncodeToString(seal.Sum(nil))
}

// seal seals a message.
func (c *Conn) seal(m *nats.Msg) *nats.Msg {
	if c.Sealed() {
		if m.Header == nil {
			m.Header = nats.Header{}
		}
		m.Header.Set(sealHeader, c.sealOf(m.Subject, m.Header, m.Data))
	}
	return m
}

// genuine reports whether a message has the seal of a process with the token. Without a token there are no seals.
func (c *Conn) genuine(subject string, header nats.Header, data []byte) bool {
	return !c.Sealed() || hmac.Equal([]byte(header.Get(sealHeader)), []byte(c.sealOf(subject, header, data)))
}

// believed passes only genuine messages on.
func (c *Conn) believed(handle nats.MsgHandler) nats.MsgHandler {
	return func(m *nats.Msg) {
		if c.genuine(m.Subject, m.Header, m.Data) {
			handle(m)
		}
	}
}

// tell publishes a sealed message that the server does not store.
func (c *Conn) tell(subject string, text []byte) error {
	return c.nats.PublishMsg(c.seal(&nats.Msg{Subject: subject, Data: text}))
}

// piece returns a message of the work queue.
func (c *Conn) piece(subject string) *nats.Msg { return c.seal(&nats.Msg{Subject: subject}) }

// reply answers a request with what is told on a subject otherwise, and with the seal of that.
func (c *Conn) reply(request *nats.Msg, subject string, text []byte) {
	m := c.seal(&nats.Msg{Subject: subject, Data: text})
	m.Subject = request.Reply
	_ = c.nats.PublishMsg(m) // without a connection nobody waits for it
}

// group names those who work together: programs of a version with the same token. It is part of subjects and of names, in which
// the characters of a version may be forbidden.
func (c *Conn) group(version string) string {
	text := wireVersion(version)
	if c.Sealed() {
		text += "\n" + string(secret.Derive(c.token, "group"))
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
