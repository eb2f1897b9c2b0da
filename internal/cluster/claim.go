package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// claim is the message by which a commander takes a job. The job's stream holds the last one.
type claim struct {
	Number   uint64 `json:"number"` // of the job's claims
	ID       string `json:"id"`     // of the commander
	Process  string `json:"process"`
	sequence uint64 // in the stream; 0: there is no claim
}

func claimSubject(key string) string { return "ringleader.claim." + key }

// lastClaim returns the last claim of the job.
func (c *Commander) lastClaim(ctx context.Context) (last claim, err error) {
	key := c.job.job.Key()
	stream, err := c.Conn.js.Stream(ctx, resultsStream(key))
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
	return last, json.Unmarshal(m.Data, &last)
}

// claims takes the job, if the last claim is still that one.
func (c *Commander) claims(ctx context.Context, last claim) error {
	text, err := json.Marshal(c.claim)
	if err != nil {
		return err
	}
	_, err = c.Conn.js.Publish(ctx, claimSubject(c.job.job.Key()), text, jetstream.WithExpectLastSequencePerSubject(last.sequence))
	if conflict := new(jetstream.APIError); errors.As(err, &conflict) &&
		(conflict.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || conflict.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) {
		if last, err = c.lastClaim(ctx); err == nil {
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
	last, err := c.lastClaim(ctx)
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
	c.claim = claim{Number: last.Number + 1, ID: nuid.Next(), Process: Process()}
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
	last, err := c.lastClaim(ctx)
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
