package work

import (
	"context"
	"sync"
	"time"
)

// Local is the Runner on this process's cores.
type Local struct{ Cores int }

// Run implements [Runner].
func (l Local) Run(ctx context.Context, _ Job, t Task, r *Results, progress func(Progress)) error {
	cores := max(1, l.Cores)
	run := &local{task: t, results: r, cutter: NewCutter(t, r, cores), progress: progress, open: map[Piece]context.CancelFunc{}}
	var group sync.WaitGroup
	for range cores {
		group.Go(func() { run.work(ctx) })
	}
	run.watch(&group)
	switch {
	case run.bug != nil:
		panic(run.bug)
	case run.err != nil:
		return run.err
	}
	return ctx.Err()
}

// watched is the time between two calls of progress.
const watched = time.Second / 5

// watch waits for the workers, and shows the progress.
func (l *local) watch(group *sync.WaitGroup) {
	if l.progress == nil {
		group.Wait()
		return
	}
	ended := make(chan struct{})
	go func() { group.Wait(); close(ended) }()
	ticker := time.NewTicker(watched)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			l.progress(l.cutter.Progress())
			return
		case <-ticker.C:
			l.progress(l.cutter.Progress())
		}
	}
}

// local is a run on this process's cores.
type local struct {
	task     Task
	results  *Results
	cutter   *Cutter
	progress func(Progress)

	mutex sync.Mutex
	open  map[Piece]context.CancelFunc // the pieces that are computed at the moment
	err   error                        // of the lowest piece that failed
	at    Piece                        // that piece
	bug   any                          // what a piece panicked with
}

// work computes pieces until there is none.
func (l *local) work(ctx context.Context) {
	for ctx.Err() == nil {
		p, ok := l.cutter.Next()
		if !ok {
			return
		}
		of, begun := l.begin(ctx, p)
		if !begun {
			return
		}
		began := time.Now()
		result, err := l.compute(of, p)
		l.end(ctx, p, result, err, time.Since(began))
	}
}

// begin notes a piece that is to be computed. It reports false if an error has made it useless.
func (l *local) begin(ctx context.Context, p Piece) (context.Context, bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.bug != nil || l.err != nil && p.From > l.at.From {
		return nil, false
	}
	ctx, stop := context.WithCancel(ctx)
	l.open[p] = stop
	return ctx, true
}

// compute computes a piece, and keeps a panic for the goroutine that waits for the run.
func (l *local) compute(ctx context.Context, p Piece) (result []byte, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			l.mutex.Lock()
			l.bug = bug
			l.mutex.Unlock()
			err = context.Canceled
		}
	}()
	return l.task.Compute(ctx, p)
}

// end takes the result of a piece, and stops the computation of those that are needed no more.
func (l *local) end(ctx context.Context, p Piece, result []byte, err error, took time.Duration) {
	if err == nil {
		_, err = l.results.Take(p, result)
		l.cutter.Done(p, took)
	} else if ctx.Err() == nil && !l.results.Needs(p) {
		err = nil // it was stopped for that
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.open[p]()
	delete(l.open, p)
	if err != nil && ctx.Err() == nil && (l.err == nil || p.From < l.at.From) && (l.bug == nil) {
		l.err, l.at = err, p
	}
	for other, stop := range l.open {
		if l.bug != nil || l.err != nil && other.From > l.at.From || !l.results.Needs(other) {
			stop()
		}
	}
}
