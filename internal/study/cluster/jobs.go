package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ringleader.example/ringleader/internal/study/work"
)

var (
	// ErrNoJob reports that a server has no such job.
	ErrNoJob = errors.New("no such job")
	// ErrAmbiguous reports that several jobs begin with the same characters.
	ErrAmbiguous = errors.New("several jobs begin with it")
)

// Jobs returns the jobs of a server, the oldest first.
func (c *Conn) Jobs(ctx context.Context) (jobs []work.JobState, err error) {
	records, err := c.records(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		one, err := c.state(ctx, r)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			continue // it has just been removed
		}
		if err != nil {
			return nil, c.explain(err)
		}
		jobs = append(jobs, one)
	}
	return jobs, nil
}

// records returns the records of all jobs, the oldest first.
func (c *Conn) records(ctx context.Context) (records []record, err error) {
	streams := c.js.ListStreams(ctx, jetstream.WithStreamListSubject("ringleader.result.>"))
	for info := range streams.Info() {
		if r, err := c.readRecord(info.Config); err == nil {
			records = append(records, r)
		}
	}
	if err := streams.Err(); err != nil {
		return nil, c.explain(err)
	}
	slices.SortFunc(records, func(a, b record) int {
		return cmp.Or(a.begun.Compare(b.begun), cmp.Compare(a.job.Key(), b.job.Key()))
	})
	return records, nil
}

// state looks at a job.
func (c *Conn) state(ctx context.Context, r record) (s work.JobState, err error) {
	s = work.JobState{Job: r.job, Key: r.job.Key(), Call: r.call, Begun: r.begun, Units: r.units, State: work.Waiting, Left: -1}
	done, err := c.pieces(ctx, resultsStream(s.Key), "ringleader.result."+s.Key+".>")
	if err != nil {
		return s, err
	}
	queued, err := c.pieces(ctx, queueStream, c.queueSubjects(r.job)+">")
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return s, err
	}
	var doneUnits, queuedUnits work.Ranges
	for p := range done {
		doneUnits.Add(p)
	}
	for p := range queued {
		queuedUnits.Add(p)
	}
	s.Done, s.Queued = doneUnits.Len(), queuedUnits.Len()
	answer, err := c.commander(ctx, s.Key)
	switch {
	case err != nil:
		return s, err
	case answer != nil:
		at := answer.Progress
		s.State, s.Commander = work.Running, answer.Process
		s.Rate, s.Workers, s.Left = at.Rate, at.Workers, at.Left
		if at.Units > 0 { // of a growing task, the commander knows how many are needed
			s.Done, s.Units = at.Done, at.Units
		}
	case s.Done == s.Units:
		s.State = work.Done
	}
	return s, nil
}

// pieces returns the pieces that the subjects of a stream name.
func (c *Conn) pieces(ctx context.Context, stream, filter string) (map[work.Piece]bool, error) {
	s, err := c.js.Stream(ctx, stream)
	if err != nil {
		return nil, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(filter))
	if err != nil {
		return nil, err
	}
	pieces := map[work.Piece]bool{}
	for subject := range info.State.Subjects {
		if _, p, err := parseSubject(subject); err == nil {
			pieces[p] = true
		}
	}
	return pieces, nil
}

// commanderTime is how long a commander may take to answer.
const commanderTime = 2 * time.Second

// commander asks the commander of a job. It returns nil if there is none.
func (c *Conn) commander(ctx context.Context, key string) (*announcement, error) {
	answers, err := c.nats.SubscribeSync(nats.NewInbox())
	if err != nil {
		return nil, err
	}
	defer func() { _ = answers.Unsubscribe() }()
	if err := c.nats.PublishRequest(commanderSubject+key, answers.Subject, nil); err != nil {
		return nil, err
	}
	if err := c.flush(ctx); err != nil { // where no commander listens, the answer that says so comes before the end of a flush
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, commanderTime) // from now on: the server may have been slow
	defer stop()
	for { // another client of the server may answer, too
		m, err := answers.NextMsgWithContext(ctx)
		switch {
		case errors.Is(err, nats.ErrNoResponders):
			return nil, nil
		case errors.Is(err, context.DeadlineExceeded):
			return &announcement{Process: "a process that does not answer"}, nil
		case err != nil:
			return nil, err
		}
		var a announcement
		if c.genuine(jobSubject, m.Header, m.Data) && json.Unmarshal(m.Data, &a) == nil && a.Key == key {
			return &a, nil
		}
	}
}

// flush waits until the server has read what was sent, and what it has answered by then is here.
func (c *Conn) flush(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, requestTime)
	defer stop()
	return c.nats.FlushWithContext(ctx)
}

// askTime is how long answers of workers are awaited.
const askTime = 300 * time.Millisecond

// Workers returns the workers that answer, by their processes.
func (c *Conn) Workers(ctx context.Context) (workers []work.WorkerState, err error) {
	answers, err := c.nats.SubscribeSync(nats.NewInbox())
	if err != nil {
		return nil, c.explain(err)
	}
	defer func() { _ = answers.Unsubscribe() }()
	if err := c.nats.PublishRequest(askSubject, answers.Subject, nil); err != nil {
		return nil, c.explain(err)
	}
	ctx, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	for {
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			break
		}
		var w work.WorkerState
		if c.genuine(workerSubject, m.Header, m.Data) && json.Unmarshal(m.Data, &w) == nil && w.ID != "" {
			w.Version = strings.TrimSuffix(w.Version, wireVersion(""))
			workers = append(workers, w)
		}
	}
	slices.SortFunc(workers, func(a, b work.WorkerState) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.ID, b.ID))
	})
	return workers, nil
}

// Find returns the job whose key begins with some characters.
func (c *Conn) Find(ctx context.Context, prefix string) (s work.JobState, err error) {
	r, err := c.find(ctx, prefix)
	if err == nil {
		s, err = c.state(ctx, r)
	}
	return s, err
}

func (c *Conn) find(ctx context.Context, prefix string) (r record, err error) {
	records, err := c.records(ctx)
	if err != nil {
		return r, err
	}
	records = slices.DeleteFunc(records, func(r record) bool { return !strings.HasPrefix(r.job.Key(), prefix) })
	switch len(records) {
	case 0:
		return r, fmt.Errorf("%w: %s", ErrNoJob, prefix)
	case 1:
		return records[0], nil
	}
	return r, fmt.Errorf("%w: %s", ErrAmbiguous, prefix)
}

// Store stores the result of a piece that was computed here, as a worker does.
func (c *Conn) Store(ctx context.Context, key string, p work.Piece, result []byte) error {
	if _, err := c.js.PublishMsg(ctx, c.seal(&nats.Msg{Subject: resultSubject(key, p), Data: result})); err != nil {
		return c.explain(err)
	}
	return nil
}

// Cancel removes the job whose key begins with some characters, with its results. Its commander ends with [ErrCancelled].
func (c *Conn) Cancel(ctx context.Context, prefix string) error {
	r, err := c.find(ctx, prefix)
	if err == nil {
		err = c.noteCancelled(ctx, r.job.Key())
	}
	if err == nil {
		err = c.remove(ctx, r)
	}
	return err
}

// remove removes a job. Its stream goes first, and with it the job. If the rest does not follow, workers drop the pieces of
// a job that is gone.
func (c *Conn) remove(ctx context.Context, r record) error {
	key := r.job.Key()
	if err := c.js.DeleteStream(ctx, resultsStream(key)); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return c.explain(err)
	}
	if err := c.unqueue(ctx, c.queueSubjects(r.job)+">"); err != nil {
		return c.explain(err)
	}
	return c.stop(key, work.Piece{To: all})
}

// stop asks workers to end the computation of units that are needed no more.
func (c *Conn) stop(key string, units work.Piece) error {
	text, err := json.Marshal(units)
	if err == nil {
		err = c.tell(stopSubject+key, text)
	}
	return err
}
