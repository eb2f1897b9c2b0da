package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// claim is the message by which a commander takes a job. The job's stream holds the last one.
type claim struct {
	Number   uint64 `json:"number"` // of the job's claims; each is larger than those before, even after the job was removed
	ID       string `json:"id"`     // of the commander
	Process  string `json:"process"`
	sequence uint64 // in the stream; 0: there is no claim
}

func claimSubject(key string) string { return "ringleader.claim." + key }

// lastClaim returns the last claim of a job.
func (c *Conn) lastClaim(ctx context.Context, key string) (last claim, err error) {
	stream, err := c.js.Stream(ctx, resultsStream(key))
	if err != nil {
		return last, err
	}
	m, err := stream.GetLastMsgForSubject(ctx, claimSubject(key))
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return last, nil
	case err != nil:
		return last, err
	}
	last.sequence = m.Sequence
	if !c.genuine(m.Subject, m.Header, m.Data) {
		return last, nil // another client of the server takes no job
	}
	return last, json.Unmarshal(m.Data, &last)
}

// claims takes the job, if the last claim is still that one.
func (c *Commander) claims(ctx context.Context, last claim) error {
	text, err := json.Marshal(c.claim)
	if err != nil {
		return err
	}
	m := c.Conn.seal(&nats.Msg{Subject: claimSubject(c.job.job.Key()), Data: text})
	_, err = c.Conn.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(last.sequence))
	if conflict := new(jetstream.APIError); errors.As(err, &conflict) &&
		(conflict.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || conflict.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) {
		if last, err = c.Conn.lastClaim(ctx, c.job.job.Key()); err == nil {
			err = last.running()
		}
	}
	return err
}

func (l claim) running() error { return fmt.Errorf("%w, on %s", ErrRunning, l.Process) }

// engage takes the job, if no commander of it answers. Of several that try at once, one takes it: the others find that the last
// claim is not the one that they have seen. A commander answers before it claims, so one that comes later gets an answer.
func (c *Commander) engage(ctx context.Context) error {
	key := c.job.job.Key()
	if err := c.establish(ctx); err != nil {
		return c.Conn.explain(err)
	}
	last, err := c.Conn.lastClaim(ctx, key)
	if err != nil {
		return c.Conn.explain(err)
	}
	switch other, err := c.Conn.commander(ctx, key); {
	case err != nil:
		return c.Conn.explain(err)
	case other != nil:
		return claim{Process: other.Process}.running()
	}
	if err := c.attend(key); err != nil {
		return err
	}
	c.claim = claim{Number: max(last.Number+1, uint64(time.Now().UnixMicro())), ID: nuid.Next(), Process: Process()}
	if err := c.claims(ctx, last); err != nil {
		c.Leave()
		if !errors.Is(err, ErrRunning) {
			err = c.Conn.explain(err)
		}
		return err
	}
	return nil
}

// hold returns ErrRunning if another commander has taken the job, as it may while this one has no connection. What the server has lost is
// claimed again.
func (c *Commander) hold(ctx context.Context) error {
	last, err := c.Conn.lastClaim(ctx, c.job.job.Key())
	switch {
	case err != nil:
		return err
	case last.ID == c.claim.ID:
		return nil
	case last.Number >= c.claim.Number:
		return last.running()
	}
	return c.claims(ctx, last)
}

// cancelledStream is the name of the stream with the jobs that were cancelled.
const cancelledStream = "ringleader-cancelled"

// cancelledTime is how long the server keeps that a job was cancelled, for a commander that is cut off meanwhile.
const cancelledTime = 24 * time.Hour

func cancelledSubject(key string) string { return "ringleader.cancelled." + key }

// noteCancelled notes that a job is cancelled: the commander with the last claim ends.
func (c *Conn) noteCancelled(ctx context.Context, key string) error {
	last, err := c.lastClaim(ctx, key)
	if err == nil && last.ID != "" {
		if _, err = c.js.Stream(ctx, cancelledStream); errors.Is(err, jetstream.ErrStreamNotFound) {
			_, err = c.js.CreateStream(ctx, jetstream.StreamConfig{
				Name: cancelledStream, Subjects: []string{cancelledSubject("*")}, MaxMsgsPerSubject: 1, MaxAge: cancelledTime,
			})
		}
		if err == nil {
			_, err = c.js.PublishMsg(ctx, c.seal(&nats.Msg{Subject: cancelledSubject(key), Data: []byte(last.ID)}))
		}
	}
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) { // the job is gone already
		return c.explain(err)
	}
	return nil
}

// cancelled reports whether this command of the job was cancelled, and not an earlier one.
func (c *Commander) cancelled(ctx context.Context) (bool, error) {
	stream, err := c.Conn.js.Stream(ctx, cancelledStream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	m, err := stream.GetLastMsgForSubject(ctx, cancelledSubject(c.job.job.Key()))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return c.Conn.genuine(m.Subject, m.Header, m.Data) && string(m.Data) == c.claim.ID, nil
}
