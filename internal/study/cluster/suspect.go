package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ringleader.example/ringleader/internal/study/work"
)

const (
	// trusted is how many times a piece is delivered before it is suspected of ending its workers. A worker that dies takes
	// all its pieces with it, so most of them are innocent.
	trusted = 2

	// attempts is how many workers may die of a suspected piece. They compute nothing else meanwhile.
	attempts = 3
)

// DeadlyError reports a piece that has ended the workers that computed it, and nothing else at the same time.
type DeadlyError struct {
	Piece   work.Piece
	Workers []string // hosts and numbers of their processes
}

func (e *DeadlyError) Error() string {
	units := fmt.Sprintf("units %s end their workers", e.Piece)
	if e.Piece.Len() == 1 {
		units = fmt.Sprintf("unit %d ends its workers", e.Piece.From)
	}
	return fmt.Sprintf("%s: %d have died that computed nothing else (%s)", units, len(e.Workers), strings.Join(e.Workers, "; "))
}

// begin begins a piece, and reports whether it did. The caller ends it with the function. Most pieces are computed beside others; a
// suspected one is computed alone, and the server notes the attempt before. After too many attempts the answer is that.
func (s *shift) begin(ctx context.Context, h *held) (end func(), answer *nats.Msg, begun bool) {
	if h.deliveries <= trusted {
		end, begun = s.occupy(h.ctx, 1)
		return end, nil, begun
	}
	soon, stop := context.WithTimeout(h.ctx, aloneTime*s.patience)
	defer stop()
	if end, begun = s.occupy(soon, s.Cores); !begun {
		h.later = h.ctx.Err() == nil
		return nil, nil, false
	}
	answer, err := s.note(ctx, h)
	for err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		s.Conn.complain(err)
		if !wait(h.ctx, reconnectWait) {
			break
		}
		answer, err = s.note(ctx, h)
	}
	return end, answer, true
}

// aloneTime is how long a suspected piece may wait until its worker computes nothing else, in times of patience. After that, and a pause
// of the same time, it comes again, to any worker.
const aloneTime = 2

// occupy takes some of the worker's cores.
func (s *shift) occupy(ctx context.Context, cores int) (leave func(), begun bool) {
	taken := 0
	leave = func() {
		for range taken {
			<-s.busy
		}
	}
	if cores > 1 { // two that have some each would wait for each other
		select {
		case s.alone <- struct{}{}:
			defer func() { <-s.alone }()
		case <-ctx.Done():
			return nil, false
		}
	}
	for taken < cores {
		select {
		case s.busy <- struct{}{}:
			taken++
		case <-ctx.Done():
			leave()
			return nil, false
		}
	}
	return leave, true
}

// note notes an attempt to compute a piece. It returns an answer if there were too many.
func (s *shift) note(ctx context.Context, h *held) (answer *nats.Msg, err error) {
	stream, err := s.Conn.js.Stream(ctx, resultsStream(h.key))
	if err != nil {
		return nil, err
	}
	m := nats.NewMsg(troubleSubject(h.key, h.piece))
	m.Header.Set(queuedHeader, strconv.FormatUint(h.queued, 10))
	switch last, err := stream.GetLastMsgForSubject(ctx, m.Subject); {
	case errors.Is(err, jetstream.ErrMsgNotFound):
	case err != nil:
		return nil, err
	case !s.Conn.genuine(last.Subject, last.Header, last.Data): // else any client could let a piece seem deadly
	case last.Header.Get(queuedHeader) == m.Header.Get(queuedHeader): // else the piece was published again
		m.Header[attemptHeader] = last.Header.Values(attemptHeader)
	}
	before := m.Header.Values(attemptHeader)
	if len(before) >= attempts {
		m.Header.Set(failedHeader, "")
		return m, nil
	}
	noted := nats.NewMsg(m.Subject)
	noted.Header[queuedHeader] = m.Header[queuedHeader]
	noted.Header[attemptHeader] = append(slices.Clone(before), Process())
	if _, err := s.Conn.js.PublishMsg(ctx, s.Conn.seal(noted)); err != nil {
		return nil, err
	}
	return nil, nil
}
