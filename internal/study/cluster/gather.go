package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"ringleader.example/ringleader/internal/study/work"
)

// result is a message of the stream of results.
type result struct {
	place place
	piece work.Piece
	data  []byte
	trouble
	forged work.Piece // of a message without the right seal, which is no result
	took   time.Duration
}

// trouble is what a worker reports in place of a result.
type trouble struct {
	failed string   // the text of an error
	deadly []string // the workers that the piece has ended
}

// any reports whether there is trouble.
func (t trouble) any() bool { return t.failed != "" || len(t.deadly) > 0 }

// place is a message in a stream. A server that loses the tail of its store gives the same numbers to other messages,
// with other times.
type place struct {
	sequence uint64
	stored   time.Time // by the server's clock
}

// readResults passes all results on, until ctx is done. It begins anew after each connection.
func (r *run) readResults(ctx context.Context, from place) {
	for ctx.Err() == nil {
		of, stop := r.Conn.connected(ctx)
		_ = r.readOnce(of, &from) // the next look at the server shows what is wrong
		stop()
		wait(ctx, reconnectWait)
	}
}

// errGap reports that messages are missing between two.
var errGap = errors.New("a gap in the results")

// readOnce passes on the results after a place, until there is an error.
func (r *run) readOnce(ctx context.Context, from *place) error {
	stream, err := r.Conn.js.Stream(ctx, resultsStream(r.key))
	if err != nil {
		return err
	}
	if from.sequence > 0 {
		m, err := stream.GetMsg(ctx, from.sequence)
		if errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && !m.Time.Equal(from.stored) {
			*from = place{} // that stream has lost its tail, or is another one
		} else if err != nil {
			return err
		}
	}
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: from.sequence + 1,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(64), jetstream.PullExpiry(10*time.Second), jetstream.PullHeartbeat(beat))
	if err != nil {
		return err
	}
	defer messages.Stop()
	for next := uint64(1); ; next++ {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		about, err := m.Metadata()
		if err != nil {
			return err
		}
		if about.Sequence.Consumer != next {
			return errGap
		}
		*from = place{about.Sequence.Stream, about.Timestamp}
		one := r.readResult(m)
		one.place = *from
		select {
		case r.read <- one:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// readResult reads a message. The piece of one that is no result is empty.
func (c *Commander) readResult(m jetstream.Msg) (r result) {
	header := m.Headers()
	_, piece, err := parseSubject(m.Subject())
	switch {
	case err != nil:
		return r // a claim
	case !c.Conn.genuine(m.Subject(), header, m.Data()):
		r.forged = piece
		return r
	}
	if strings.HasPrefix(m.Subject(), troubleSubjects) {
		if _, failed := header[failedHeader]; !failed {
			return r // the note of an attempt
		}
		r.failed, r.deadly = header.Get(failedHeader), header.Values(attemptHeader)
	}
	r.piece, r.data = piece, m.Data()
	r.took, _ = time.ParseDuration(m.Headers().Get(tookHeader))
	return r
}

// view is what a look at the server shows.
type view struct {
	number int                   // of the look
	queued map[work.Piece]bool   // the pieces in the queue, before …
	last   uint64                // … the number of the last result was this
	passed map[work.Piece]uint64 // those of them that no worker gets, with their numbers there
	err    error
}

// look looks at the server, in another goroutine.
func (r *run) look(ctx context.Context) {
	if r.looking {
		return
	}
	r.looking = true
	r.looks++
	number := r.looks
	r.others.Go(func() {
		connected, stop := r.Conn.connected(ctx)
		defer stop()
		v := r.view(connected)
		v.number = number
		r.looked <- v
	})
}

// view asks for the queue first: the result of a piece that is not in it any more is in the stream.
func (c *Commander) view(ctx context.Context) (v view) {
	if v.err = c.recover(ctx); v.err == nil {
		v.err = c.hold(ctx)
	}
	if v.err != nil {
		return v
	}
	if v.queued, v.err = c.Conn.pieces(ctx, queueStream, c.Conn.queueSubjects(c.job.job)+">"); v.err != nil {
		return v
	}
	if v.passed, v.err = c.passed(ctx); v.err != nil {
		return v
	}
	stream, err := c.Conn.js.Stream(ctx, resultsStream(c.job.job.Key()))
	if v.err = err; err == nil {
		v.last = stream.CachedInfo().State.LastSeq // 0 in a new stream
	}
	return v
}

// passed returns the pieces in the queue that the server takes for computed, with their numbers there. A worker has just
// acknowledged such a piece, and it is about to leave the queue. Or the server was killed, and remembers more of what was acknowledged than
// of its queue: it gives such a piece to no worker any more.
func (c *Commander) passed(ctx context.Context) (map[work.Piece]uint64, error) {
	queue, err := c.Conn.queue(ctx)
	if err != nil {
		return nil, err
	}
	consumer, err := queue.Consumer(ctx, c.Conn.consumerConfig(c.job.job.Version, 0).Durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) { // no worker has come yet
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	passed := map[work.Piece]uint64{}
	for next := uint64(1); ; {
		m, err := queue.GetMsg(ctx, next, jetstream.WithGetMsgSubject(c.Conn.queueSubjects(c.job.job)+">"))
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			return passed, nil
		case err != nil:
			return nil, err
		case m.Sequence > consumer.CachedInfo().AckFloor.Stream:
			return passed, nil
		}
		if _, p, err := parseSubject(m.Subject); err == nil {
			passed[p] = m.Sequence
		}
		next = m.Sequence + 1
	}
}

// recover makes the streams again that a server has lost. If only that of the job is missing, the job was removed: by a command that says so
// under its seal, or else by another client of the server.
func (c *Commander) recover(ctx context.Context) error {
	_, err := c.Conn.js.Stream(ctx, resultsStream(c.job.job.Key()))
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	queue, err := c.Conn.queue(ctx)
	if err != nil {
		return err
	}
	cancelled, err := c.cancelled(ctx)
	switch {
	case err != nil:
		return err
	case cancelled:
		return ErrCancelled
	case queue.CachedInfo().Created.Equal(c.store):
		c.notice("the job is gone from the server, and no command with its token has cancelled it; it goes on, with the results that are here")
	default:
		c.notice("the server has lost its store; the job goes on, with the results that are here")
	}
	return c.establish(ctx)
}

// compare compares what a look has shown with what is awaited.
func (r *run) compare(ctx context.Context, v view) error {
	r.looking = false
	switch {
	case errors.Is(v.err, context.Canceled):
		r.look(ctx) // through the new connection
		return nil
	case errors.Is(v.err, ErrCancelled), errors.Is(v.err, ErrRunning):
		return v.err
	case errors.Is(v.err, jetstream.ErrStreamNotFound) && !r.vanished: // since the look began, as that of a job that is cancelled: the next look finds why
		r.vanished = true
		r.look(ctx)
		return nil
	case v.err != nil:
		r.Conn.complain(v.err)
		return nil
	}
	r.Conn.content()
	r.vanished = false
	if r.seen == nil { // the view before is done with
		r.seen = &v
	}
	return nil
}

// conclude draws the conclusions of a look, when the results that it has shown are read.
func (r *run) conclude(ctx context.Context) {
	v := r.seen
	if v == nil || r.at.sequence < v.last {
		return
	}
	r.seen = nil
	if r.cutter == nil {
		r.adopt(ctx, v.queued)
		return
	}
	before := len(r.out)
	for p, looks := range r.out {
		// The server takes messages and questions in any order, so a piece counts as lost after two looks.
		lost := !v.queued[p] || v.passed[p] > 0 && v.passed[p] == r.passed[p]
		if looks < v.number-1 && lost {
			delete(r.out, p)
			r.cutter.Recut(p)
		}
	}
	r.passed = v.passed
	if len(r.out) == before {
		return
	}
	if r.losses++; r.losses == 2 { // and no result came in between
		r.Conn.complain(errLoses)
	}
}

// errLoses reports a server that takes pieces without an error, and does not keep them.
var errLoses = errors.New("it does not keep pieces; its disk may be full")

// adopt begins to cut. It adopts the pieces that an earlier commander has left in the queue.
func (r *run) adopt(ctx context.Context, queued map[work.Piece]bool) {
	r.cutter = work.NewCutter(r.task, r.results, r.heard.slots())
	missing, stale := r.results.Missing(), []work.Piece(nil)
	for p := range queued {
		if slices.ContainsFunc(missing, func(m work.Piece) bool { return m.From <= p.From && p.To <= m.To }) {
			r.out[p] = r.looks
			r.cutter.Claim(p)
		} else {
			stale = append(stale, p)
		}
	}
	r.retract(ctx, stale)
}
