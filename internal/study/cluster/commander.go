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

	"ringleader.example/ringleader/internal/study/work"
)

var (
	// ErrRunning reports that another commander runs a job; the text names it.
	ErrRunning = errors.New("this job runs already")
	// ErrCancelled reports that a job has been removed from the server while it ran.
	ErrCancelled = errors.New("the job was cancelled")
)

// ComputeError is the error of a job's computation: that of a run on this machine, with the same text.
type ComputeError struct{ Err error }

func (e *ComputeError) Error() string { return e.Err.Error() }

// Unwrap returns the error of the task.
func (e *ComputeError) Unwrap() error { return e.Err }

// Commander has the pieces of one job computed by workers. It is a [work.Runner] between Begin and Finish or Leave.
type Commander struct {
	Conn   *Conn
	Notice func(string) // called with one line for people; may be nil

	pause  time.Duration // between two looks at the server; 0: the usual one
	within time.Duration // how long the server may take to remove pieces; 0: the usual time

	job     record
	store   time.Time // when the server's work queue was made: another one means that its store was lost
	own     answering
	claim   claim
	place   place    // how far the results are read
	spare   []result // those that were not needed when they came
	heard   crowd    // of workers
	rivals  rivals
	joined  bool // there were rivals the last time
	warned  bool // of results without a seal
	account account
	woken   chan struct{} // the job may have been removed
	asked   []*nats.Subscription
	beats   sync.WaitGroup
	ending  context.CancelFunc
}

// Begin announces a job, which a command line asks for, and takes over what the server has of it. It returns ErrRunning
// if another commander has the job, and answers.
func (c *Commander) Begin(ctx context.Context, j work.Job, units uint64, call string) error {
	key := j.Key()
	c.job = record{job: j, call: call, units: units, begun: time.Now()}
	c.own.set(announcement{Key: key, Version: wireVersion(j.Version), Process: Process(), Progress: work.Progress{Left: -1}})
	c.rivals = rivals{key: key, version: wireVersion(j.Version), heard: map[string]rival{}}
	c.account, c.joined, c.warned = account{}, false, false
	c.heard = crowd{version: wireVersion(j.Version), notice: c.notice, genuine: c.Conn.genuine, workers: map[string]heard{}}
	c.place, c.spare, c.woken = place{}, nil, make(chan struct{}, 1)
	err := c.engage(ctx)
	for range 3 {
		if !errors.Is(err, jetstream.ErrStreamNotFound) && !errors.Is(err, jetstream.ErrNoStreamResponse) {
			break
		}
		err = c.engage(ctx) // another commander has just finished this job
	}
	return err
}

func (c *Commander) notice(line string) {
	if c.Notice != nil {
		c.Notice(line)
	}
}

// establish makes the streams that are missing. It notes which store they are in.
func (c *Commander) establish(ctx context.Context) error {
	queue, err := c.Conn.queue(ctx)
	if err != nil {
		return err
	}
	config, err := c.Conn.resultsConfig(c.job)
	if err != nil {
		return err
	}
	there, err := c.Conn.js.Stream(ctx, config.Name)
	if err == nil {
		if _, wrong := c.Conn.readRecord(there.CachedInfo().Config); wrong != nil {
			c.notice(fmt.Sprintf("%v, so what the server has of it is removed, and computed again", wrong))
			if err = c.Conn.js.DeleteStream(ctx, config.Name); err == nil {
				err = jetstream.ErrStreamNotFound
			}
		}
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = c.Conn.js.CreateStream(ctx, config)
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		err = nil // another commander has made it meanwhile, at another time
	}
	c.store = queue.CachedInfo().Created
	return err
}

// attend answers questions for the commander, announces it, and listens to workers.
func (c *Commander) attend(key string) error {
	for subject, handle := range map[string]nats.MsgHandler{
		commanderSubject + key: func(m *nats.Msg) { c.Conn.reply(m, jobSubject, c.own.text()) },
		workerSubject:          c.heard.hear,
		jobSubject:             c.Conn.believed(c.rivals.hear),
		stopSubject + key:      c.wake, // whoever sends that, the commander only looks
	} {
		s, err := c.Conn.nats.Subscribe(subject, handle)
		if err != nil {
			c.Leave()
			return c.Conn.explain(err)
		}
		c.asked = append(c.asked, s)
	}
	if err := c.Conn.nats.PublishRequest(askSubject, workerSubject, nil); err != nil { // the workers there answer now
		c.Leave()
		return c.Conn.explain(err)
	}
	var ctx context.Context
	ctx, c.ending = context.WithCancel(context.Background())
	c.beats.Go(func() {
		for beating := true; beating; beating = wait(ctx, beat) {
			_ = c.Conn.tell(jobSubject, c.own.text())
		}
	})
	return nil
}

// wake hears of units that are needed no more: if these are all, the job may have been removed.
func (c *Commander) wake(m *nats.Msg) {
	var units work.Piece
	if json.Unmarshal(m.Data, &units) != nil || units.To != all {
		return
	}
	select {
	case c.woken <- struct{}{}:
	default:
	}
}

// Workers returns the states of the workers of the job's version that were heard of in the last seconds.
func (c *Commander) Workers() []work.WorkerState { return c.heard.list() }

// Leave ends the command of a job. The server keeps it, and workers compute the pieces that are in the queue.
func (c *Commander) Leave() {
	for _, s := range c.asked {
		_ = s.Unsubscribe()
	}
	c.asked = nil
	if c.ending != nil {
		c.ending()
		c.beats.Wait()
		c.ending = nil
		_ = c.Conn.nats.FlushTimeout(beat) // from then on, another commander may begin
	}
}

// Finish removes the job and its results from the server, unless another commander has taken it. The job's output is written
// before.
func (c *Commander) Finish(ctx context.Context) error {
	err := c.hold(ctx)
	c.Leave()
	if errors.Is(err, ErrRunning) {
		return nil
	}
	return c.Conn.remove(ctx, c.job)
}

// Run is that of a [work.Runner]. It goes on while the server is away, and after that.
func (c *Commander) Run(ctx context.Context, j work.Job, t work.Task, r *work.Results, progress func(work.Progress)) error {
	if !c.job.job.Same(j) || c.ending == nil {
		return errors.New("a job begins before it runs")
	}
	run := &run{Commander: c, key: j.Key(), task: t, results: r, progress: progress, out: map[work.Piece]int{}, failed: map[work.Piece]trouble{}}
	run.read, run.looked, run.at = make(chan result), make(chan view, 1), c.place
	from := c.place
	ctx, stop := context.WithCancel(ctx)
	run.others.Go(func() { run.readResults(ctx, from) })
	defer func() { // after a panic of the task, too
		stop()
		run.retracting.Wait()
		run.others.Wait()
		c.place = run.at
		c.account.waits = false
		c.own.show(c.account, 0)
	}()
	err := run.run(ctx)
	run.retracting.Wait() // the queue has nothing of what is needed no more, unless the server is away, or ctx is done
	return err
}

// run is one call of Run.
type run struct {
	*Commander
	key      string
	task     work.Task
	results  *work.Results
	cutter   *work.Cutter // nil until the stored results are read
	progress func(work.Progress)

	others     sync.WaitGroup // goroutines
	retracting sync.WaitGroup // … that end by themselves
	read       chan result
	at         place // of the last result
	looked     chan view
	looking    bool // a look is under way
	vanished   bool // the last look has not found a stream that was there when it began
	looks      int  // how many have begun
	seen       *view
	losses     int                   // looks since the last result that found pieces lost
	passed     map[work.Piece]uint64 // of the look before

	out    map[work.Piece]int // published pieces without a result, and how many looks had begun before
	failed map[work.Piece]trouble
}

const (
	ahead   = 2               // pieces in the queue for each slot of a worker: one in work, one that waits
	all     = ^uint64(0)      // an end of pieces that comes after all units
	beat    = time.Second     // between two announcements
	fresh   = 5 * time.Second // how long an announcement of a worker counts
	watched = time.Second / 5 // between two calls of progress

	usualPause = 2 * time.Second // between two looks at the server
)

func (r *run) run(ctx context.Context) error {
	show, look := time.NewTicker(watched), time.NewTicker(cmp.Or(r.pause, usualPause))
	defer show.Stop()
	defer look.Stop()
	if err := r.takeSpare(ctx); err != nil {
		return err
	}
	r.look(ctx)
	for {
		again := r.Conn.reconnected()
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case m := <-r.read:
			err = r.take(ctx, m)
		case v := <-r.looked:
			err = r.compare(ctx, v)
		case <-again:
			r.look(ctx)
		case <-look.C:
			r.look(ctx)
		case <-r.woken:
			r.look(ctx)
		case <-show.C:
			r.show()
		}
		if err == nil {
			r.conclude(ctx)
			err = r.settle(ctx)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, ErrRunning) {
			r.abandon(ctx, func(work.Piece) bool { return true })
		}
		if err != nil {
			return err
		}
		if r.cutter != nil && len(r.results.Missing()) == 0 {
			r.show()
			return nil
		}
		r.fill()
	}
}

func (r *run) show() {
	if r.cutter == nil {
		return
	}
	p := r.cutter.Progress()
	p.Workers = len(r.heard.list())
	r.own.progress(p)
	if _, found := r.rivals.least(); found {
		_ = r.Conn.tell(jobSubject, r.own.text())
	}
	if r.progress != nil {
		r.progress(p)
	}
}

// answering is what a commander answers.
type answering struct {
	mutex sync.Mutex
	announcement
}

func (a *answering) set(own announcement) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.announcement = own
}

func (a *answering) progress(p work.Progress) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.Progress = p
}

func (a *answering) show(of account, queued int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.Used, a.Waits = of.used(queued), of.waits
}

func (a *answering) text() []byte {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	text, err := json.Marshal(a.announcement)
	if err != nil {
		panic(err) // an announcement is JSON
	}
	return text
}

// fill publishes pieces until the workers have enough, or until it is the turn of another job.
func (r *run) fill() {
	if r.cutter == nil {
		return
	}
	slots := max(1, r.heard.slots())
	r.cutter.Suit(slots)
	more := true
	for more && len(r.out) < ahead*slots && r.turn(len(r.out), slots) {
		more = r.publish()
	}
	r.account.waits = more
	r.own.show(r.account, len(r.out))
}

// publish publishes a piece. It reports false if there is none.
func (r *run) publish() bool {
	p, ok := r.cutter.Next()
	if !ok {
		return false
	}
	if lowest, failed := r.lowestFailed(); failed && p.From > lowest.From {
		r.cutter.Recut(p)
		return false
	}
	r.out[p] = r.looks
	if _, err := r.Conn.js.PublishMsgAsync(r.Conn.piece(r.Conn.queueSubject(r.job.job, p))); err != nil {
		r.Conn.complain(err) // the piece is found missing
		return false
	}
	return true
}

// take takes a result.
func (r *run) take(ctx context.Context, m result) error {
	r.at = m.place
	if m.forged.Len() > 0 && !r.warned {
		r.warned = true
		r.notice(fmt.Sprintf("the result of units %s is refused, and all others that no worker with this token has sealed; they are computed again", m.forged))
	}
	if m.piece.Len() == 0 {
		return nil
	}
	r.losses = 0
	_, waited := r.out[m.piece]
	if waited {
		r.account.spend(m.took)
	}
	if m.any() {
		if waited {
			delete(r.out, m.piece)
			r.failed[m.piece] = m.trouble // and fill publishes nothing after it
		}
		return nil
	}
	taken, err := r.results.Take(m.piece, m.data)
	if err != nil {
		return err
	}
	if !taken && !r.results.Needs(m.piece) {
		r.keep(m)
	}
	if r.cutter == nil {
		return nil
	}
	delete(r.out, m.piece)
	switch {
	case waited && taken:
		r.cutter.Done(m.piece, m.took)
	case waited: // it overlaps with a result of other cuts, of an earlier commander
		r.cutter.Recut(m.piece)
	}
	if _, ending := r.task.(work.Ending); ending && taken {
		r.abandon(ctx, func(p work.Piece) bool { return !r.results.Needs(p) })
	}
	return nil
}

// keep keeps a result that a growing task may need later.
func (r *run) keep(m result) {
	if _, growing := r.task.(work.Growing); growing {
		r.spare = append(r.spare, m)
	}
}

// takeSpare takes the results that were not needed in an earlier run.
func (r *run) takeSpare(ctx context.Context) error {
	spare := r.spare
	r.spare = nil
	for _, m := range spare {
		m.place = r.at
		if err := r.take(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// abandon takes some of the published pieces back.
func (r *run) abandon(ctx context.Context, which func(work.Piece) bool) {
	var back []work.Piece
	for p := range r.out {
		if which(p) {
			delete(r.out, p)
			r.cutter.Recut(p)
			back = append(back, p)
		}
	}
	r.retract(ctx, back)
}

// retract removes pieces from the queue, and ends their computation, in another goroutine. If the server is away, it gives up after a while:
// a piece that is computed in vain does no harm.
func (r *run) retract(ctx context.Context, pieces []work.Piece) {
	if len(pieces) == 0 {
		return
	}
	r.retracting.Go(func() {
		ctx, stop := context.WithTimeout(ctx, cmp.Or(r.within, retractTime))
		defer stop()
		var subjects []string
		for _, p := range pieces {
			subjects = append(subjects, r.Conn.queueSubject(r.job.job, p))
		}
		err := r.Conn.unqueue(ctx, subjects...)
		for _, p := range pieces {
			err = cmp.Or(err, r.Conn.stop(r.key, p))
		}
		if err != nil {
			r.Conn.complain(err)
		}
	})
}

// settle computes the lowest piece that failed, when all units before it are there. So an error is that of the
// computation here, as in a run on this machine; an error that only a worker had is none. A piece that ends workers is not
// computed here.
func (r *run) settle(ctx context.Context) error {
	p, failed := r.lowestFailed()
	if !failed {
		return nil
	}
	if missing := r.results.Missing(); len(missing) > 0 && missing[0].From < p.From {
		return nil
	}
	t := r.failed[p]
	delete(r.failed, p)
	if !r.results.Needs(p) {
		r.cutter.Recut(p)
		return nil
	}
	if len(t.deadly) > 0 {
		return &DeadlyError{p, t.deadly}
	}
	began := time.Now()
	data, err := r.task.Compute(ctx, p)
	if err != nil {
		return &ComputeError{err}
	}
	r.notice(fmt.Sprintf("units %s failed on a worker, and not here: %s", p, t.failed))
	r.out[p] = r.looks
	return r.take(ctx, result{place: r.at, piece: p, data: data, took: time.Since(began)})
}

func (r *run) lowestFailed() (lowest work.Piece, failed bool) {
	for p := range r.failed {
		if !failed || p.From < lowest.From {
			lowest, failed = p, true
		}
	}
	return lowest, failed
}
