package cluster

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ringleader.example/ringleader/internal/study/work"
)

// slot computes pieces, one after the other. While it computes one, the result of the one before is stored.
func (s *shift) slot(ctx context.Context, queue <-chan *held) {
	var storing sync.WaitGroup
	defer storing.Wait()
	for h := range queue {
		m := s.answerTo(ctx, h)
		storing.Wait()
		storing.Go(func() { s.end(ctx, h, m) })
	}
}

// answerTo computes a piece. It returns nil if there is no answer.
func (s *shift) answerTo(ctx context.Context, h *held) *nats.Msg {
	task, err := s.open(ctx, h.key)
	if task == nil && err == nil {
		return nil
	}
	m := nats.NewMsg(resultSubject(h.key, h.piece))
	if err == nil {
		end, answer, begun := s.begin(ctx, h)
		if !begun {
			return nil
		}
		defer end()
		if answer != nil {
			return answer
		}
		s.measure(func(m *Measured) { m.Busy++ })
		began := time.Now()
		m.Data, err = compute(h.ctx, task, h.piece)
		took := time.Since(began)
		s.measure(func(m *Measured) { m.Busy--; m.Work += took })
		m.Header.Set(tookHeader, took.String())
	}
	if h.ctx.Err() != nil {
		return nil
	}
	m.Header.Set(workerHeader, Process())
	if most := s.Conn.nats.MaxPayload(); err == nil && int64(len(m.Data))+headroom > most {
		err = fmt.Errorf("the result has %d bytes, and the server takes %d", len(m.Data), most)
	}
	if err != nil {
		s.measure(func(m *Measured) { m.Failed++ })
		m.Subject, m.Data = troubleSubject(h.key, h.piece), nil
		m.Header.Set(failedHeader, fmt.Sprintf("%q", err.Error()))
	}
	return m
}

// headroom is the size in bytes that the headers of a result may have.
const headroom = 4 << 10

// compute computes a piece. A panic is an error: the commander computes the piece again, and panics in its own right.
func compute(ctx context.Context, t work.Task, p work.Piece) (result []byte, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			err = fmt.Errorf("panic: %v\n%s", bug, debug.Stack())
		}
	}()
	return t.Compute(ctx, p)
}

// end stores the answer to a piece, and removes the piece from the queue.
func (s *shift) end(ctx context.Context, h *held, m *nats.Msg) {
	switch {
	case m != nil && s.store(ctx, h, m):
		s.done(h)
		s.measure(func(m *Measured) { m.Pieces++; m.Units += h.piece.Len() })
	case ctx.Err() != nil:
		s.giveBack(h)
	case h.later:
		s.release(h)
		_ = h.NakWithDelay(aloneTime * s.patience)
	default: // the piece or its job is needed no more
		s.done(h)
	}
}

// mostPause is the longest time between two attempts to store a result.
const mostPause = 2 * time.Second

// store stores an answer. It tries until the server has it, unless the job is removed or ctx is done.
func (s *shift) store(ctx context.Context, h *held, m *nats.Msg) bool {
	for pause := reconnectWait; ; pause = min(2*pause, mostPause) {
		connected, stop := s.Conn.connected(ctx)
		_, err := s.Conn.js.PublishMsg(connected, s.Conn.seal(m))
		stop()
		if err == nil {
			s.Conn.content()
			return true
		}
		if errors.Is(err, jetstream.ErrNoStreamResponse) {
			if _, err := s.Conn.js.Stream(ctx, resultsStream(h.key)); errors.Is(err, jetstream.ErrStreamNotFound) {
				s.forget(h.key)
				return false
			}
		}
		s.Conn.complain(err)
		if !wait(ctx, pause) {
			return false
		}
	}
}

// opened is the task of a job.
type opened struct {
	once sync.Once
	task work.Task // nil and no error: the job is gone
	err  error
}

// mostTasks is how many tasks a worker keeps open.
const mostTasks = 8

// open returns the task of a job.
func (s *shift) open(ctx context.Context, key string) (work.Task, error) {
	s.mutex.Lock()
	o := s.tasks[key]
	if o == nil {
		if len(s.tasks) >= mostTasks {
			clear(s.tasks)
		}
		o = &opened{}
		s.tasks[key] = o
	}
	s.mutex.Unlock()
	o.once.Do(func() { o.task, o.err = s.openJob(ctx, key) })
	if o.task == nil {
		s.forget(key)
	}
	return o.task, o.err
}

func (s *shift) forget(key string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.tasks, key)
}

// openJob opens a job. It tries until the server shows it, or shows that it is gone.
func (s *shift) openJob(ctx context.Context, key string) (work.Task, error) {
	for {
		stream, err := s.Conn.js.Stream(ctx, resultsStream(key))
		if err == nil {
			return s.openRecord(stream.CachedInfo().Config)
		}
		if errors.Is(err, jetstream.ErrStreamNotFound) || ctx.Err() != nil {
			return nil, nil
		}
		s.Conn.complain(err)
		if !wait(ctx, reconnectWait) {
			return nil, nil
		}
	}
}

func (s *shift) openRecord(config jetstream.StreamConfig) (work.Task, error) {
	r, err := s.Conn.readRecord(config)
	if err != nil {
		return nil, err
	}
	kind, known := s.Kinds[r.job.Kind]
	switch {
	case r.job.Version != s.Version:
		return nil, fmt.Errorf("the job is of version %s", r.job.Version)
	case !known:
		return nil, fmt.Errorf("%q is no kind of job", r.job.Kind)
	}
	return kind(r.job.Spec)
}

// meter measures a rate over a few seconds.
type meter struct {
	mutex sync.Mutex
	began time.Time
	count uint64
	rate  float64
}

// meterTime is the time over which a rate is measured.
const meterTime = 5 * time.Second

// measure returns the rate at which a count grows, in a second.
func (m *meter) measure(count uint64) float64 {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if took := time.Since(m.began); took >= meterTime || m.rate == 0 {
		m.rate = float64(count-m.count) / max(took.Seconds(), beat.Seconds())
		if took >= meterTime {
			m.began, m.count = time.Now(), count
		}
	}
	return m.rate
}
