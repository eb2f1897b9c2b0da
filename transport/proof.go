package transport

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"
)

// What travels on a connection of a warden, in clear text even between members that use TLS: magic and proof, and back
// one byte, 1 if the member takes the proof and 0 if it rejects it.

// proofMagic opens a proof. It is as long as that of a hello; its last byte is the version.
const proofMagic = "ringdie\x01"

// ProofSize is the length of an encoded Proof, in bytes.
const ProofSize = len(proofMagic) + 2*8 + sha256.Size

// mostProofs limits the proofs that wait for the member at a time.
const mostProofs = 16

// Proof proves that an incarnation of a member and all its work are dead. Before the member starts, its warden, which
// is its parent process, draws Secret. The member shows its hash to the others as Hello.Death. When the warden has
// reaped the member and all its descendants, it reveals the secret. So each member can check a proof and pass it on,
// and no process can forge one before that.
type Proof struct {
	Member      uint64 // its identifier
	Incarnation uint64
	Secret      [32]byte
}

// Proves reports whether the secret belongs to a Hello.Death. No secret is if that is zero.
func (p *Proof) Proves(death [32]byte) bool {
	return sha256.Sum256(p.Secret[:]) == death
}

// Encode returns the encoded proof.
func (p *Proof) Encode() []byte {
	b, err := binary.Append([]byte(proofMagic), binary.LittleEndian, p)
	if err != nil {
		panic(err) // all fields are of fixed size
	}
	return b
}

// DecodeProof is the inverse of Encode.
func DecodeProof(b []byte) (p Proof, ok bool) {
	if len(b) != ProofSize || string(b[:len(proofMagic)]) != proofMagic {
		return p, false
	}
	_, err := binary.Decode(b[len(proofMagic):], binary.LittleEndian, &p)
	return p, err == nil
}

// ErrProof reports that a member rejects a proof: it knows no such member, or the secret is not that of this
// incarnation.
var ErrProof = errors.New("the member rejects the proof of death")

// SendProof shows a proof to the member that listens at an address, host:port. It returns nil if the member takes it,
// [ErrProof] if the member rejects it, and another error if there is no answer until ctx is done. The warden then
// tries again.
func SendProof(ctx context.Context, address string, p Proof) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return p.Show(ctx, conn)
}

// Show is SendProof over a connection, which it closes.
func (p *Proof) Show(ctx context.Context, conn net.Conn) error {
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	var answer [1]byte
	_, err := conn.Write(p.Encode())
	if err == nil {
		_, err = io.ReadFull(conn, answer[:])
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return fmt.Errorf("no answer to the proof of death: %w", err)
	case answer[0] == 0:
		return ErrProof
	case answer[0] != 1:
		return errProtocol
	}
	return nil
}

var errManyProofs = errors.New("too many proofs of death wait for the member")

// learn reads a proof, asks the member, and answers. The number of proofs that wait is limited, since any process can
// send one; a proof beyond it gets no answer, and its sender tries again.
func (t *tcp) learn(conn net.Conn) error {
	var raw [ProofSize]byte
	if _, err := io.ReadFull(conn, raw[:]); err != nil {
		return err
	}
	p, _ := DecodeProof(raw[:]) // the magic was seen
	taken := false
	if slices.ContainsFunc(t.list.Load().members, func(m Member) bool { return m.ID == p.Member }) {
		select {
		case t.proofs <- struct{}{}:
			defer func() { <-t.proofs }()
		default:
			return errManyProofs
		}
		answer := make(chan bool, 1)
		t.Post(Died{p, answer})
		select {
		case taken = <-answer:
		case <-time.After(t.Timing.Suspicion):
			return errors.New("the member does not answer")
		case <-t.ctx.Done():
			return t.ctx.Err()
		}
	}
	code := []byte{0}
	if taken {
		code[0] = 1
	}
	_, err := conn.Write(code)
	return err
}
