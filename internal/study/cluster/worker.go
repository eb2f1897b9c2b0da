package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"ringleader.example/ringleader/internal/study/work"
)

// Worker computes pieces of all jobs of its version.
type Worker struct {
	Conn    *Conn
	Cores   int // pieces that it computes at the same time
	Version string
	Kinds   map[string]work.Kind
	Notice  func(string) // called with one line for people; may be nil

	Patience time.Duration // how long the server waits for a sign of a piece; 0: the usual time

	late    time.Duration            // how long it waits at its end for pieces that are under way; 0: the usual time
	settled func(string, work.Piece) // called with the key of its job when a piece has left the queue; may be nil: for tests

	mutex    sync.Mutex
	draining chan struct{} // closed when the worker takes no more pieces
	measured Measured
}

// Measured are the numbers of a worker since it began.
type Measured struct {
	Pieces      uint64        // computed and stored
	Units       uint64        // … and theirs
	Failed      uint64        // pieces whose computation returned an error
	Redelivered uint64        // pieces that came after another delivery of them
	Returned    uint64        // pieces that were given back
	Work        time.Duration // of computations
	Slots, Busy int           // pieces that it can compute, and computes, at the moment
	Refused     uint64        // jobs of another version, or with another token
	Connected   bool
}

// usualPatience is how long the server waits for a sign of a piece before it gives it to another worker.
const usualPatience = 5 * time.Second

// Drain lets the pieces in work end, takes no more, and ends Run.
func (w *Worker) Drain() {
	drained := w.drained()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	select {
	case <-drained:
	default:
		close(drained)
	}
}

// drained returns the channel that Drain closes.
func (w *Worker) drained() chan struct{} {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.draining == nil {
		w.draining = make(chan struct{})
	}
	return w.draining
}

// Measured returns the worker's numbers.
func (w *Worker) Measured() Measured {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	m := w.measured
	m.Slots, m.Connected = w.Cores, w.Conn.nats.IsConnected()
	return m
}

func (w *Worker) measure(change func(*Measured)) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	change(&w.measured)
}

func (w *Worker) notice(line string) {
	if w.Notice != nil {
		w.Notice(line)
	}
}

// Run computes pieces until ctx is done, or until Drain. It gives the pieces back that it does not end. While the server is
// away it waits.
func (w *Worker) Run(ctx context.Context) error {
	s := &shift{Worker: w, patience: cmp.Or(w.Patience, usualPatience), id: nuid.Next(), held: map[*held]bool{}, tasks: map[string]*opened{}, refused: map[string]bool{}, rate: meter{began: time.Now()}}
	if s.Cores < 1 {
		return errors.New("a worker has at least one core")
	}
	s.busy, s.alone = make(chan struct{}, s.Cores), make(chan struct{}, 1)
	subscriptions := map[string]nats.MsgHandler{stopSubject + "*": w.Conn.believed(s.stop), jobSubject: s.announced, askSubject: s.answer}
	for subject, handle := range subscriptions {
		subscription, err := w.Conn.nats.Subscribe(subject, handle)
		if err != nil {
			return w.Conn.explain(err)
		}
		defer func() { _ = subscription.Unsubscribe() }()
	}
	return s.work(ctx)
}

// shift is one call of Run.
type shift struct {
	*Worker
	id       string
	patience time.Duration
	rate     meter

	mutex   sync.Mutex
	held    map[*held]bool
	tasks   map[string]*opened // by the keys of their jobs
	refused map[string]bool    // keys of jobs of other versions or tokens

	busy  chan struct{} // has an element for each core that a piece occupies
	alone chan struct{} // has an element while a suspected piece waits for all of them
}

// held is a piece that the worker has taken from the queue.
type held struct {
	jetstream.Msg
	key        string
	piece      work.Piece
	queued     uint64 // its number in the queue
	deliveries uint64
	later      bool            // it is suspected, and was not computed
	ctx        context.Context // of its computation
	end        context.CancelFunc
}

// work runs the slots.
func (s *shift) work(ctx context.Context) error {
	taking, leave := context.WithCancel(ctx) // pieces from the queue
	defer leave()
	keeping, stop := context.WithCancel(context.Background())
	var pullers, slots, keepers sync.WaitGroup
	queue := make(chan *held) // for any slot: none waits behind a long piece while another slot is idle
	for range s.Cores {
		pullers.Go(func() { s.pull(taking, ctx, queue) })
		slots.Go(func() { s.slot(ctx, queue) })
	}
	keepers.Go(func() { s.every(keeping, s.patience/3, s.keep) })
	keepers.Go(func() { s.every(keeping, beat, func() { s.announce(s.Cores) }) })
	keepers.Go(func() {
		select {
		case <-s.drained():
			leave()
		case <-keeping.Done():
		}
	})
	pullers.Wait()
	close(queue)
	slots.Wait()
	stop()
	keepers.Wait()
	s.announce(0)
	_ = s.Conn.nats.FlushTimeout(beat)
	return nil
}

// every does something again and again until ctx is done.
func (s *shift) every(ctx context.Context, pause time.Duration, do func()) {
	for going := true; going; going = wait(ctx, pause) {
		do()
	}
}

// consumer returns the queue's consumer of the worker's version. It makes what is missing.
func (s *shift) consumer(ctx context.Context) (jetstream.Consumer, error) {
	queue, err := s.Conn.queue(ctx)
	if err != nil {
		return nil, err
	}
	return queue.CreateOrUpdateConsumer(ctx, s.Conn.consumerConfig(s.Version, s.patience))
}

// pull takes pieces from the queue: one, and when a slot begins with it, the next one. So a slot waits for no answer of
// the server between two pieces.
func (s *shift) pull(taking, ctx context.Context, slot chan<- *held) {
	for taking.Err() == nil {
		if err := s.pullOnce(taking, ctx, slot); err != nil && taking.Err() == nil {
			if !errors.Is(err, jetstream.ErrNoHeartbeat) && !errors.Is(err, context.Canceled) {
				s.Conn.complain(err)
			}
			wait(taking, reconnectWait)
		}
	}
}

func (s *shift) pullOnce(taking, ctx context.Context, slot chan<- *held) error {
	connected, stop := s.Conn.connected(taking)
	defer stop()
	consumer, err := s.consumer(connected)
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(1), jetstream.PullExpiry(30*time.Second), jetstream.PullHeartbeat(5*time.Second))
	if err != nil {
		return err
	}
	defer s.leave(messages)
	for {
		m, err := messages.Next(jetstream.NextContext(connected))
		if err != nil {
			return err
		}
		h := s.hold(ctx, m)
		if h == nil {
			continue
		}
		select {
		case slot <- h:
		case <-time.After(s.idleTime()):
			s.giveBack(h)
		case <-taking.Done():
			s.giveBack(h)
			return nil
		}
	}
}

// idleTime returns how long a piece may wait for a slot. After that, another worker may be idle.
func (s *shift) idleTime() time.Duration {
	m := s.Measured()
	mean := m.Work / time.Duration(max(1, m.Pieces))
	return min(s.patience+2*mean, mostPatience*s.patience)
}

// mostPatience is how many times the patience a piece may wait at most.
const mostPatience = 12

// lateTime is how long a worker that takes no more pieces waits for those that are under way to it, if the server does not answer.
const lateTime = time.Second

// leave ends an iterator, and gives back the pieces that are under way: the server sends none any more when it knows.
func (s *shift) leave(messages jetstream.MessagesContext) {
	messages.Drain()
	for {
		m, err := messages.Next(jetstream.NextMaxWait(cmp.Or(s.late, lateTime)))
		if err != nil {
			break
		}
		s.putBack(m)
	}
	messages.Stop()
}

// hold notes a piece that has come.
func (s *shift) hold(ctx context.Context, m jetstream.Msg) *held {
	h := &held{Msg: m}
	var err error
	h.key, h.piece, err = parseSubject(m.Subject())
	if err == nil && !s.Conn.genuine(m.Subject(), m.Headers(), m.Data()) {
		err = errUnsealed
		s.refuse(h.key, fmt.Sprintf("a piece of job %.12s is refused: it is not sealed by the token of this worker", h.key))
	}
	if err != nil {
		_ = m.Term()
		return nil
	}
	if about, err := m.Metadata(); err == nil {
		h.queued, h.deliveries = about.Sequence.Stream, about.NumDelivered
	}
	if h.deliveries > 1 {
		s.measure(func(m *Measured) { m.Redelivered++ })
	}
	h.ctx, h.end = context.WithCancel(ctx)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.held[h] = true
	return h
}

// release ends what hold began.
func (s *shift) release(h *held) {
	h.end()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.held, h)
}

// putBack lets another worker have a piece at once. It replaces the piece by a new one, which is not suspected: this worker lives.
func (s *shift) putBack(m jetstream.Msg) { _ = s.Conn.nats.PublishMsg(s.Conn.piece(m.Subject())) }

// giveBack puts a piece back that the worker has held.
func (s *shift) giveBack(h *held) {
	s.release(h)
	s.putBack(h)
	s.measure(func(m *Measured) { m.Returned++ })
}

// done removes a piece from the queue.
func (s *shift) done(h *held) {
	s.release(h)
	_ = h.Ack()
	if s.settled != nil {
		s.settled(h.key, h.piece)
	}
}

// all returns the pieces that the worker has.
func (s *shift) all() (all []*held) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for h := range s.held {
		all = append(all, h)
	}
	return all
}

// keep shows the server that the pieces are still here.
func (s *shift) keep() {
	for _, h := range s.all() {
		_ = h.InProgress()
	}
}

// stop ends the computation of pieces that are needed no more.
func (s *shift) stop(m *nats.Msg) {
	var units work.Piece
	if json.Unmarshal(m.Data, &units) != nil {
		return
	}
	for _, h := range s.all() {
		if stopSubject+h.key == m.Subject && units.From <= h.piece.From && h.piece.To <= units.To {
			h.end()
		}
	}
}

// announced hears of a job.
func (s *shift) announced(m *nats.Msg) {
	var a announcement
	if json.Unmarshal(m.Data, &a) != nil {
		return
	}
	switch own := wireVersion(s.Version); {
	case a.Version != own:
		s.refuse(a.Key, fmt.Sprintf("the job of %s is refused: it is of version %s, and this worker of version %s", a.Process, a.Version, own))
	case !s.Conn.genuine(m.Subject, m.Header, m.Data):
		s.refuse(a.Key, fmt.Sprintf("the job of %s is refused: it is not sealed by the token of this worker", a.Process))
	}
}

// refuse notes a job of which the worker computes nothing.
func (s *shift) refuse(key, why string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.refused[key] && len(s.refused) < mostRefused {
		s.refused[key] = true
		s.measure(func(m *Measured) { m.Refused++ })
		s.notice(why)
	}
}

// mostRefused is how many refused jobs a worker remembers, and shows: any client of the server can announce some.
const mostRefused = 1000

// state is what the worker shows of itself.
func (s *shift) state(slots int) []byte {
	m := s.Measured()
	text, err := json.Marshal(work.WorkerState{ID: s.id, Process: Process(), Version: wireVersion(s.Version), Slots: slots, Busy: m.Busy, Rate: s.rate.measure(m.Pieces)})
	if err != nil {
		panic(err) // a state is JSON
	}
	return text
}

func (s *shift) announce(slots int) { _ = s.Conn.tell(workerSubject, s.state(slots)) }

func (s *shift) answer(m *nats.Msg) { s.Conn.reply(m, workerSubject, s.state(s.Cores)) }
