package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/work"
)

// outcome is what a job that is computed meanwhile ends with.
type outcome struct {
	result []byte
	err    error
}

// start has a job computed meanwhile.
func start(ctx context.Context, t testing.TB, commander *Commander, j work.Job, task work.Task) <-chan outcome {
	t.Helper()
	ended := make(chan outcome, 1)
	r, err := work.NewResults(task, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		err := work.Complete(ctx, commander, j, task, r, nil)
		joined, other := r.Joined()
		ended <- outcome{joined, errors.Join(err, other)}
	}()
	return ended
}

// twice returns the units of one-unit pieces that were computed more than once.
func twice(t testing.TB, log string) (again []string) {
	t.Helper()
	lines := logged(t, log)
	for i := 1; i < len(lines); i++ {
		if lines[i] == lines[i-1] {
			again = append(again, lines[i])
		}
	}
	return again
}

// steady is a job of one-unit pieces that log themselves. Its second half waits at a gate.
func steady(t testing.TB) sums {
	t.Helper()
	s := sums{Of: 120, Log: filepath.Join(t.TempDir(), "log")}
	s.shut(t, s.Of/2)
	return s
}

// done returns how many units a commander shows as done.
func done(c *Commander) uint64 {
	c.own.mutex.Lock()
	defer c.own.mutex.Unlock()
	return c.own.Progress.Done
}

// taken is how many pieces of a steady job its commander has when the server ends.
const taken = 20

// interrupt begins a steady job, and ends its server when some pieces are computed. The gate is still shut. The settings are those of the server, with its
// address. Lines are those of the commander's connection and of the commander.
func interrupt(t *testing.T, w *Worker) (s broker.Settings, spec sums, ended <-chan outcome, lines *notices) {
	t.Helper()
	s, spec, lines = lasting(t), steady(t), new(notices)
	e := serve(t, s)
	c := connect(t, overNetwork(e), lines.add)
	hire(t, connect(t, overNetwork(e), nil), w)
	j, task := jobOf(t, "coarse", spec)
	commander := begin(t, c, j, task, lines.add)
	ended = start(t.Context(), t, commander, j, task)
	until(t, "begun", func() bool { return done(commander) >= taken })
	e.Close()
	return s, spec, ended, lines
}

func TestAServerThatComesBackGoesOn(t *testing.T) {
	t.Parallel()
	s, spec, ended, lines := interrupt(t, &Worker{Patience: time.Hour}) // a slow machine repeats nothing
	spec.open(t)
	serve(t, s)
	o := <-ended
	same(t, "coarse", spec, o.result, o.err)
	if again := twice(t, spec.Log); len(again) > 0 {
		t.Errorf("computed twice: %v", again)
	}
	if len(lines.with("is lost")) < 1 || len(lines.with("connected to NATS server")) < 1 { // on a slow machine it may be lost again
		t.Errorf("notices: %q", lines.with(""))
	}
}

func TestAServerThatLosesItsStoreGoesOn(t *testing.T) {
	t.Parallel()
	s, spec, ended, lines := interrupt(t, &Worker{Patience: time.Hour})
	s.Store = filepath.Join(t.TempDir(), "other")
	spec.open(t)
	serve(t, s)
	o := <-ended
	same(t, "coarse", spec, o.result, o.err)
	if again := twice(t, spec.Log); len(again) > int(spec.Of)-taken { // what the commander has is not lost
		t.Errorf("computed twice: %v", again)
	}
	if len(lines.with("has lost its store")) < 1 { // again if the server takes no streams at once
		t.Errorf("notices: %q", lines.with(""))
	}
}

// A store that an older copy replaces has lost the newest pieces and results.
func TestAServerThatLosesTheTailOfItsStoreGoesOn(t *testing.T) {
	t.Parallel()
	s, spec, ended, _ := interrupt(t, &Worker{})
	early := filepath.Join(t.TempDir(), "early")
	if err := os.CopyFS(early, os.DirFS(s.Store)); err != nil {
		t.Fatal(err)
	}
	e := serve(t, s)
	until(t, "going on", func() bool { return len(logged(t, spec.Log)) > 40 })
	e.Close()
	s.Store = early
	spec.open(t)
	serve(t, s)
	o := <-ended
	same(t, "coarse", spec, o.result, o.err)
}

// A server that was killed can remember that pieces were acknowledged which are in its queue still. It gives them to no worker.
func TestPiecesThatTheQueuePassesByArePublishedAgain(t *testing.T) {
	t.Parallel()
	s, spec := lasting(t), sums{Of: 20}
	e := serve(t, s)
	c := connect(t, overNetwork(e), nil)
	j, task := jobOf(t, "sums", spec)
	ended := start(t.Context(), t, begin(t, c, j, task, nil), j, task)
	queued := func() map[work.Piece]bool {
		pieces, err := c.pieces(t.Context(), queueStream, c.queueSubjects(j)+">")
		if err != nil {
			return nil // there is no server at the moment
		}
		return pieces
	}
	until(t, "a piece in the queue", func() bool { return len(queued()) > 0 })
	e.Close()
	messages := filepath.Join(s.Store, "jetstream", "$G", "streams", queueStream, "msgs")
	early := filepath.Join(t.TempDir(), "early")
	if err := os.CopyFS(early, os.DirFS(messages)); err != nil {
		t.Fatal(err)
	}

	e = serve(t, s)
	queue, err := connect(t, e.Access(), nil).queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := queue.CreateOrUpdateConsumer(t.Context(), c.consumerConfig(version, time.Second))
	if err != nil {
		t.Fatal(err)
	}
	m, err := consumer.Next()
	if err == nil {
		err = m.DoubleAck(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	if err := errors.Join(os.RemoveAll(messages), os.CopyFS(messages, os.DirFS(early))); err != nil {
		t.Fatal(err)
	}

	e = serve(t, s)
	hire(t, connect(t, e.Access(), nil), &Worker{})
	o := <-ended
	same(t, "sums", spec, o.result, o.err)
}

func TestPiecesThatTheQueueHasLostArePublishedAgain(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	var lines notices
	c := connect(t, e.Access(), lines.add)
	spec := sums{Of: 10}
	j, task := jobOf(t, "sums", spec)
	ended := start(t.Context(), t, begin(t, c, j, task, nil), j, task)
	queued := func() int {
		pieces, err := c.pieces(t.Context(), queueStream, c.queueSubjects(j)+">")
		if err != nil {
			t.Fatal(err)
		}
		return len(pieces)
	}
	until(t, "a piece in the queue", func() bool { return queued() > 0 })
	if err := c.unqueue(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	until(t, "a piece in the queue again", func() bool { return queued() > 0 })
	if err := c.unqueue(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	until(t, "a notice there", func() bool { return len(lines.with("does not keep pieces")) == 1 })
	hire(t, connect(t, e.Access(), nil), &Worker{})
	o := <-ended
	same(t, "sums", spec, o.result, o.err)
}

func TestACommanderTakesOverFromAnother(t *testing.T) {
	t.Parallel()
	for kind, spec := range map[string]sums{"coarse": {Of: 120}, "growing": {Of: 2000, Wait: time.Millisecond}} {
		spec.Log, spec.Begins = filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "begins")
		spec.shut(t, 0)
		e := serve(t, settings(t))
		worker, _ := hire(t, connect(t, e.Access(), nil), &Worker{Patience: time.Minute}) // a slow machine repeats nothing
		j, task := jobOf(t, kind, spec)
		for range 3 {
			ctx, stop := context.WithCancel(t.Context())
			c := connect(t, e.Access(), nil)
			commander := begin(t, c, j, task, nil)
			ended := start(ctx, t, commander, j, task)
			before, err := c.Find(ctx, j.Key())
			if err != nil {
				t.Fatal(err)
			}
			further := before.Done + spec.Of/8
			spec.shut(t, further)
			until(t, "further", func() bool {
				spec.relieve(t, worker.Cores)
				return done(commander) >= further
			})
			stop()
			if o := <-ended; !errors.Is(o.err, context.Canceled) {
				t.Fatalf("%s: it ends with %v", kind, o.err)
			}
			commander.Leave()
		}
		spec.open(t)
		commander := begin(t, connect(t, e.Access(), nil), j, task, nil)
		got, err := complete(t.Context(), t, commander, j, task, nil)
		same(t, kind, spec, got, err)
		var total sum
		if err := json.Unmarshal(got, &total); err != nil {
			t.Fatal(err)
		}
		computed, sizes := uint64(0), []uint64(nil)
		for _, line := range logged(t, spec.Log) {
			var from, last uint64
			if _, err := fmt.Sscanf(line, "%d to %d", &from, &last); err != nil {
				t.Fatal(err)
			}
			sizes = append(sizes, last+1-from)
			computed += last + 1 - from
		}
		// What is under way at a takeover may be published again: the next commander cannot know that it is. How large the pieces are
		// depends on the machine.
		slices.SortFunc(sizes, func(a, b uint64) int { return cmp.Compare(b, a) })
		most := total.Units + total.Units/10
		for _, n := range sizes[:min(len(sizes), 3*ahead*2)] { // three takeovers from commanders with two slots
			most += n
		}
		if computed < total.Units || computed > most {
			t.Errorf("%s: %d units are computed for a result of %d", kind, computed, total.Units)
		}
	}
}

// Results of other cuts than the commander's own may come at any time.
func TestResultsOfOtherCutsAreTaken(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	spec := sums{Of: 1000, Wait: 2 * time.Millisecond}
	j, task := jobOf(t, "sums", spec)
	ended := start(t.Context(), t, begin(t, c, j, task, nil), j, task)
	hire(t, connect(t, e.Access(), nil), &Worker{})
	var last work.Piece
	until(t, "a large piece in the queue", func() bool {
		pieces, err := c.pieces(t.Context(), queueStream, c.queueSubjects(j)+">")
		for p := range pieces {
			if p.From > last.From {
				last = p
			}
		}
		return err == nil && last.Len() > 20
	})
	for _, p := range []work.Piece{{From: last.From + 5, To: last.From + 7}, {From: last.From + 6, To: last.From + 9}} {
		store(t, c, j, task, p)
	}
	o := <-ended
	same(t, "sums", spec, o.result, o.err)
}

// store stores the result of a piece, as a worker does.
func store(t testing.TB, c *Conn, j work.Job, task work.Task, p work.Piece) {
	t.Helper()
	result, err := task.Compute(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Store(t.Context(), j.Key(), p, result); err != nil {
		t.Fatal(err)
	}
}

func TestTheQueueHoldsNothingAfterAnEnd(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	spec := sums{Of: 100, End: 3}
	j, task := jobOf(t, "ending", spec)
	queued := func() int {
		pieces, err := c.pieces(t.Context(), queueStream, c.queueSubjects(j)+">")
		if err != nil {
			t.Fatal(err)
		}
		return len(pieces)
	}
	ended := start(t.Context(), t, begin(t, c, j, task, nil), j, task)
	until(t, "a piece in the queue", func() bool { return queued() > 0 })
	store(t, c, j, task, work.Piece{From: 0, To: 5})
	if o := <-ended; o.err != nil {
		t.Error(o.err)
	}
	if left := queued(); left > 0 {
		t.Errorf("%d pieces are left", left)
	}
}

func TestAnErrorIsThatOfALocalRun(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	hire(t, connect(t, e.Access(), nil), &Worker{})
	for _, kind := range []string{"sums", "coarse", "ending"} {
		spec := sums{Of: 300, Wait: time.Millisecond, Fails: 57, Log: filepath.Join(t.TempDir(), "log")}
		j, task := jobOf(t, kind, spec)
		_, want := local(t, kind, spec)
		commander := begin(t, connect(t, e.Access(), nil), j, task, nil)
		for range 2 { // the second time, the server has the error
			_, err := complete(t.Context(), t, commander, j, task, nil)
			if !errors.Is(err, errSums) || err.Error() != want.Error() {
				t.Errorf("%s: %v, want %v", kind, err, want)
			}
		}
		if err := commander.Finish(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestNothingIsPublishedAfterAnError(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	hire(t, connect(t, e.Access(), nil), &Worker{Patience: time.Minute}) // a slow machine repeats nothing
	spec := sums{Of: 300, First: time.Second, Fails: 30, Begins: filepath.Join(t.TempDir(), "begins")}
	j, task := jobOf(t, "coarse", spec)
	_, err := complete(t.Context(), t, begin(t, connect(t, e.Access(), nil), j, task, nil), j, task, nil)
	if !errors.Is(err, errSums) {
		t.Error(err)
	}
	if begun := len(readDiary(t, spec.Begins).begun); begun < 31 || begun > 31+2*2*ahead {
		t.Errorf("%d pieces were begun, of which the one after 30 fails", begun)
	}
}

func TestAPanicIsThatOfALocalRun(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	hire(t, connect(t, e.Access(), nil), &Worker{})
	j, task := jobOf(t, "coarse", sums{Of: 300, Panics: 57})
	commander := begin(t, connect(t, e.Access(), nil), j, task, nil)
	defer func() {
		if bug := recover(); bug != "oh" {
			t.Errorf("%v", bug)
		}
	}()
	_, err := complete(t.Context(), t, commander, j, task, nil)
	t.Errorf("it ends with %v", err)
}

// A worker may lack memory, or run on a broken machine.
func TestAnErrorThatOnlyAWorkerHasIsNone(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	spec := sums{Of: 30}
	j, task := jobOf(t, "coarse", spec)
	ill := map[string]work.Kind{"coarse": func(text json.RawMessage) (work.Task, error) {
		s, err := readSums(text)
		s.Fails = 10
		return coarse{s}, err
	}}
	hire(t, connect(t, e.Access(), nil), &Worker{Kinds: ill, Patience: time.Minute}) // a slow machine repeats nothing
	var lines notices
	got, err := complete(t.Context(), t, begin(t, connect(t, e.Access(), nil), j, task, lines.add), j, task, nil)
	same(t, "coarse", spec, got, err)
	if len(lines.with("failed on a worker, and not here")) != 20 {
		t.Errorf("notices: %q", lines.lines)
	}
}

func TestALongPieceIsComputedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("no goroutine differs from those of other tests")
	}
	t.Parallel()
	e := serve(t, settings(t))
	for range 2 {
		hire(t, connect(t, e.Access(), nil), &Worker{Patience: usualPatience})
	}
	spec := sums{Of: 3, Wait: 5 * usualPatience / 2, Begins: filepath.Join(t.TempDir(), "begins")}
	j, task := jobOf(t, "coarse", spec)
	stood := rig.Standstill()
	got, err := complete(t.Context(), t, begin(t, connect(t, e.Access(), nil), j, task, nil), j, task, nil)
	same(t, "coarse", spec, got, err)
	begun, still := readDiary(t, spec.Begins).begun, stood()
	if len(begun) != 3 && still < usualPatience/4 { // else the signs of a worker may have come too late
		t.Errorf("begun: %v", begun)
	}
}

// waiting are the kinds of a worker on which each unit of a coarse job takes that time.
func waiting(d time.Duration) map[string]work.Kind {
	return map[string]work.Kind{"coarse": func(text json.RawMessage) (work.Task, error) {
		s, err := readSums(text)
		s.Wait = d
		return coarse{s}, err
	}}
}

func TestAWorkerThatEndsGivesItsPiecesBack(t *testing.T) {
	t.Parallel()
	for _, drain := range []bool{false, true} {
		e := serve(t, settings(t))
		first, end := hire(t, connect(t, e.Access(), nil), &Worker{Kinds: waiting(time.Hour), Patience: time.Hour})
		spec := sums{Of: 4}
		j, task := jobOf(t, "coarse", spec)
		ended := start(t.Context(), t, begin(t, connect(t, e.Access(), nil), j, task, nil), j, task)
		until(t, "in work", func() bool { return first.Measured().Busy == 2 })
		if drain {
			first.Drain()
		}
		end()
		m := first.Measured()
		if m.Pieces != 0 || m.Busy != 0 || m.Returned < 2 {
			t.Errorf("drain %v: %+v", drain, m)
		}
		hire(t, connect(t, e.Access(), nil), &Worker{Patience: time.Hour})
		o := <-ended
		same(t, "coarse", spec, o.result, o.err)
	}
}

func TestAWorkerThatDrainsEndsThePiecesInWork(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	w := &Worker{Conn: c, Kinds: waiting(time.Second / 2), Cores: 2, Version: version}
	ended := make(chan error, 1)
	go func() { ended <- w.Run(t.Context()) }()
	spec := sums{Of: 100} // this worker would take half a minute
	j, task := jobOf(t, "coarse", spec)
	done := start(t.Context(), t, begin(t, c, j, task, nil), j, task)
	until(t, "in work", func() bool { return w.Measured().Busy == 2 })
	w.Drain()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if m := w.Measured(); m.Pieces < 2 || m.Pieces >= spec.Of {
		t.Errorf("%+v", m)
	}
	hire(t, connect(t, e.Access(), nil), &Worker{Patience: usualPatience})
	o := <-done
	same(t, "coarse", spec, o.result, o.err)
}

func TestASubjectHoldsOneResult(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	j, task := jobOf(t, "sums", sums{Of: 10})
	begin(t, c, j, task, nil)
	subject := resultSubject(j.Key(), work.Piece{From: 2, To: 4})
	for range 3 {
		if _, err := c.js.Publish(t.Context(), subject, []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	s, err := c.js.Stream(t.Context(), resultsStream(j.Key()))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := s.Info(t.Context(), jetstream.WithSubjectFilter(subject)); err != nil || info.State.Subjects[subject] != 1 {
		t.Errorf("%+v, %v", info, err)
	}
}

func TestAResultThatIsTooLargeIsAnError(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	j, task := jobOf(t, "coarse", sums{Of: 1})
	large := map[string]work.Kind{"coarse": func(text json.RawMessage) (work.Task, error) { s, err := readSums(text); return bulky{s}, err }}
	hire(t, connect(t, e.Access(), nil), &Worker{Kinds: large, Patience: time.Minute}) // a slow machine repeats nothing
	var lines notices
	got, err := complete(t.Context(), t, begin(t, connect(t, e.Access(), nil), j, task, lines.add), j, task, nil)
	same(t, "coarse", sums{Of: 1}, got, err)
	if len(lines.with("the server takes 8388608")) != 1 {
		t.Errorf("notices: %q", lines.lines)
	}
}

// mostResult is the size in bytes of the largest result that a server of package broker takes.
const mostResult = 8 << 20

// bulky is a task whose results are larger than a server takes.
type bulky struct{ *sums }

func (bulky) Compute(context.Context, work.Piece) ([]byte, error) {
	return []byte(`"` + strings.Repeat("x", mostResult) + `"`), nil
}

// streams returns the names of the server's streams.
func streams(t testing.TB, c *Conn) (names []string) {
	t.Helper()
	list := c.js.StreamNames(t.Context())
	for name := range list.Name() {
		names = append(names, name)
	}
	if err := list.Err(); err != nil && !errors.Is(err, jetstream.ErrEndOfData) {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}
