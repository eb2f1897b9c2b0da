package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/brokertest"
	"ringleader.example/ringleader/internal/study/secret"
	"ringleader.example/ringleader/internal/study/work"
)

// stranger returns a connection to a server whose messages have no seals, or those of another token. The server lets it in all the same.
func stranger(t *testing.T, e *served, token string) *Conn {
	t.Helper()
	c := connect(t, e.Access(), nil)
	c.token = token
	return c
}

// strangers are those that a test is repeated with: without seals, and with others.
var strangers = map[string]string{"no seal": "", "another seal": "another token"}

// forged is a result of the first units that says more than theirs.
const forged = `{"sum":1,"units":5}`

func TestAResultOfAStrangerIsRefusedAndComputedAgain(t *testing.T) {
	t.Parallel()
	for name, seals := range strangers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, settings(t))
			spec := sums{Of: 10}
			j, task := jobOf(t, "coarse", spec)
			var lines notices
			commander := begin(t, connect(t, e.Access(), nil), j, task, lines.add)
			other := stranger(t, e, seals)
			for u := range uint64(2) {
				if err := other.Store(t.Context(), j.Key(), work.Piece{From: u, To: u + 1}, []byte(forged)); err != nil {
					t.Fatal(err)
				}
			}
			ended := start(t.Context(), t, commander, j, task)
			until(t, "refused", func() bool { return len(lines.with("the result of units 0 to 0 is refused")) > 0 })
			hire(t, connect(t, overNetwork(e), nil), &Worker{})
			o := <-ended
			same(t, "coarse", spec, o.result, o.err)
			if all := lines.with("is refused"); len(all) != 1 {
				t.Errorf("notices: %q", all)
			}
		})
	}
}

// A sealed result is of no use for another piece, another job, or with other content.
func TestASealIsOfOneMessage(t *testing.T) {
	t.Parallel()
	c := &Conn{token: token}
	j, _ := jobOf(t, "coarse", sums{Of: 10})
	k, _ := jobOf(t, "coarse", sums{Of: 11})
	sealed := func() *nats.Msg {
		m := nats.NewMsg(resultSubject(j.Key(), work.Piece{From: 3, To: 4}))
		m.Header.Set(tookHeader, "1s")
		m.Data = []byte(forged)
		return c.seal(m)
	}
	believed := func(m *nats.Msg) bool { return c.genuine(m.Subject, m.Header, m.Data) }
	if !believed(sealed()) {
		t.Error("a message with its seal is refused")
	}
	for what, change := range map[string]func(*nats.Msg){
		"another piece":     func(m *nats.Msg) { m.Subject = resultSubject(j.Key(), work.Piece{From: 4, To: 5}) },
		"another job":       func(m *nats.Msg) { m.Subject = resultSubject(k.Key(), work.Piece{From: 3, To: 4}) },
		"another kind":      func(m *nats.Msg) { m.Subject = troubleSubject(j.Key(), work.Piece{From: 3, To: 4}) },
		"another content":   func(m *nats.Msg) { m.Data = []byte(`{"sum":2,"units":5}`) },
		"another time":      func(m *nats.Msg) { m.Header.Set(tookHeader, "2s") },
		"an error":          func(m *nats.Msg) { m.Header.Set(failedHeader, "oh") },
		"attempts":          func(m *nats.Msg) { m.Header.Add(attemptHeader, "host") },
		"a queue":           func(m *nats.Msg) { m.Header.Set(queuedHeader, "1") },
		"a worker":          func(m *nats.Msg) { m.Header.Set(workerHeader, "host") },
		"bytes that move":   func(m *nats.Msg) { m.Header.Set(tookHeader, "1s"+forged); m.Data = nil },
		"no seal":           func(m *nats.Msg) { m.Header.Del(sealHeader) },
		"a seal of nothing": func(m *nats.Msg) { m.Header.Set(sealHeader, "") },
		"part of its seal":  func(m *nats.Msg) { m.Header.Set(sealHeader, m.Header.Get(sealHeader)[:42]) },
	} {
		m := sealed()
		if change(m); believed(m) {
			t.Errorf("with %s the seal is believed", what)
		}
	}
	m := sealed()
	m.Header.Set(sealHeader, (&Conn{token: "another token"}).sealOf(m.Subject, m.Header, m.Data))
	if believed(m) {
		t.Error("the seal of another token is believed")
	}
}

func TestEachKindOfMessageHasAKeyOfItsOwn(t *testing.T) {
	t.Parallel()
	keys := map[string]bool{}
	for _, purpose := range []string{"connection", "group", "seal of result", "seal of trouble", "seal of work", "seal of record"} {
		keys[string(secret.Derive(token, purpose))] = true
	}
	if len(keys) != 6 {
		t.Errorf("%d keys for 6 purposes", len(keys))
	}
}

func TestAPieceOfAStrangerIsRefused(t *testing.T) {
	t.Parallel()
	for name, seals := range strangers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, settings(t))
			c := connect(t, e.Access(), nil)
			spec := sums{Of: 10, Begins: filepath.Join(t.TempDir(), "begins")}
			j, task := jobOf(t, "coarse", spec)
			begin(t, c, j, task, nil)
			m := stranger(t, e, seals).piece(c.queueSubject(j, work.Piece{From: 3, To: 7}))
			if _, err := c.js.PublishMsg(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			var lines notices
			hire(t, connect(t, overNetwork(e), nil), &Worker{Notice: lines.add})
			until(t, "refused", func() bool { return len(lines.with("a piece of job "+j.Key()[:12]+" is refused")) == 1 })
			until(t, "the queue empty", func() bool {
				pieces, err := c.pieces(t.Context(), queueStream, c.queueSubjects(j)+">")
				return err == nil && len(pieces) == 0
			})
			if begun := readDiary(t, spec.Begins).begun; len(begun) > 0 {
				t.Errorf("computed: %v", begun)
			}
		})
	}
}

// The pieces of a stranger's job are sealed here, so that the seal of the job alone is between it and the worker.
func TestAJobOfAStrangerIsRefused(t *testing.T) {
	t.Parallel()
	for name, seals := range strangers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, settings(t))
			c := connect(t, e.Access(), nil)
			spec := sums{Of: 3, Begins: filepath.Join(t.TempDir(), "begins")}
			j, task := jobOf(t, "coarse", spec)
			config, err := stranger(t, e, seals).resultsConfig(record{job: j, units: spec.Of, begun: time.Now()})
			if err == nil {
				_, err = c.queue(t.Context())
			}
			if err == nil {
				_, err = c.js.CreateStream(t.Context(), config)
			}
			if err != nil {
				t.Fatal(err)
			}
			w, end := hire(t, connect(t, overNetwork(e), nil), &Worker{})
			p := work.Piece{From: 0, To: 1}
			if _, err := c.js.PublishMsg(t.Context(), c.piece(c.queueSubject(j, p))); err != nil {
				t.Fatal(err)
			}
			until(t, "failed", func() bool { return w.Measured().Failed == 1 })
			if jobs, err := c.Jobs(t.Context()); err != nil || len(jobs) > 0 {
				t.Errorf("the server has the jobs %v, %v", jobs, err)
			}
			if begun := readDiary(t, spec.Begins).begun; len(begun) > 0 {
				t.Errorf("computed: %v", begun)
			}
			end()

			var lines notices
			commander := begin(t, c, j, task, lines.add) // in the stranger's place
			hire(t, connect(t, overNetwork(e), nil), &Worker{})
			got, err := complete(t.Context(), t, commander, j, task, nil)
			same(t, "coarse", spec, got, err)
			if len(lines.with("is removed, and computed again")) != 1 {
				t.Errorf("notices: %q", lines.lines)
			}
		})
	}
}

// A stranger removes a job, claims it, answers in its commander's place, and asks workers to stop.
func TestAStrangerCancelsNoJob(t *testing.T) {
	t.Parallel()
	for name, seals := range strangers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, settings(t))
			c := connect(t, e.Access(), nil)
			other := stranger(t, e, seals)
			spec := sums{Of: 12}
			spec.shut(t, 0) // no piece ends before the stranger has removed the job
			j, task := jobOf(t, "coarse", spec)
			var lines notices
			commander := begin(t, c, j, task, lines.add)
			// The job does not run yet: the looks of its run claim again, too, and two claims at once exclude each other.
			claimed, err := json.Marshal(claim{Number: 1 << 62, ID: "stranger", Process: "stranger"})
			if err == nil {
				_, err = other.js.PublishMsg(t.Context(), other.seal(&nats.Msg{Subject: claimSubject(j.Key()), Data: claimed}))
			}
			if err == nil {
				err = commander.hold(t.Context())
			}
			if err != nil {
				t.Errorf("after a claim of a stranger: %v", err)
			}

			w, _ := hire(t, connect(t, overNetwork(e), nil), &Worker{})
			ended := start(t.Context(), t, commander, j, task)
			until(t, "in work", func() bool { return w.Measured().Busy > 0 })
			// The stranger knows the claim's number, which everyone may read.
			if _, err = other.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: cancelledStream, Subjects: []string{cancelledSubject("*")}, MaxMsgsPerSubject: 1}); err == nil {
				_, err = other.js.PublishMsg(t.Context(), other.seal(&nats.Msg{Subject: cancelledSubject(j.Key()), Data: []byte(commander.claim.ID)}))
			}
			if err == nil {
				err = other.remove(t.Context(), record{job: j})
			}
			if err != nil {
				t.Fatal(err)
			}
			until(t, "a notice there", func() bool { return len(lines.with("the job is gone")) > 0 })
			spec.open(t)
			o := <-ended
			same(t, "coarse", spec, o.result, o.err)
			if len(lines.with("the job is gone from the server, and no command with its token has cancelled it")) != 1 {
				t.Errorf("notices: %q", lines.lines)
			}
		})
	}
}

func TestAStrangerStopsNoPiece(t *testing.T) {
	t.Parallel()
	for name, seals := range strangers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, settings(t))
			c := connect(t, e.Access(), nil)
			spec := sums{Of: 1, First: time.Hour, Begins: filepath.Join(t.TempDir(), "begins")}
			j, task := jobOf(t, "coarse", spec)
			w, _ := hire(t, connect(t, overNetwork(e), nil), &Worker{Cores: 1})
			start(t.Context(), t, begin(t, c, j, task, nil), j, task)
			until(t, "in work", func() bool { return w.Measured().Busy == 1 })
			other := stranger(t, e, seals)
			if err := other.stop(j.Key(), work.Piece{To: all}); err != nil {
				t.Fatal(err)
			}
			if err := other.nats.Flush(); err != nil {
				t.Fatal(err)
			}
			until(t, "an answer there", func() bool { // so the worker has heard a later message
				workers, err := c.Workers(t.Context())
				return err == nil && len(workers) == 1
			})
			if m, begun := w.Measured(), readDiary(t, spec.Begins).begun; m.Busy != 1 || len(begun) != 1 {
				t.Errorf("%+v, begun: %v", m, begun)
			}
			until(t, "idle", func() bool { // a worker that has just begun misses the first
				if err := c.stop(j.Key(), work.Piece{To: all}); err != nil {
					t.Fatal(err)
				}
				return w.Measured().Busy == 0
			})
		})
	}
}

func TestAStrangerIsNoCommanderAndNoWorker(t *testing.T) {
	t.Parallel()
	for name, seals := range strangers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, settings(t))
			c := connect(t, e.Access(), nil)
			other := stranger(t, e, seals)
			j, _ := jobOf(t, "coarse", sums{Of: 10})
			state, err := json.Marshal(work.WorkerState{ID: "x", Process: "stranger", Version: wireVersion(version), Slots: 1000})
			if err != nil {
				t.Fatal(err)
			}
			own, err := json.Marshal(announcement{Key: j.Key(), Version: wireVersion(version), Process: "stranger", Waits: true})
			if err != nil {
				t.Fatal(err)
			}
			for subject, answer := range map[string]func(*nats.Msg){
				askSubject:                 func(m *nats.Msg) { other.reply(m, workerSubject, state) },
				commanderSubject + j.Key(): func(m *nats.Msg) { other.reply(m, jobSubject, own) },
			} {
				s, err := other.nats.Subscribe(subject, answer)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = s.Unsubscribe() })
			}
			if err := other.nats.Flush(); err != nil {
				t.Fatal(err)
			}
			if workers, err := c.Workers(t.Context()); err != nil || len(workers) > 0 {
				t.Errorf("the workers are %v, %v", workers, err)
			}
			if a, err := c.commander(t.Context(), j.Key()); err != nil || a == nil || a.Process == "stranger" {
				t.Errorf("the commander is %+v, %v", a, err)
			}

			k, another := jobOf(t, "coarse", sums{Of: 11})
			var lines, refused notices
			hire(t, connect(t, overNetwork(e), nil), &Worker{Notice: refused.add})
			commander := begin(t, c, k, another, lines.add)
			until(t, "refused", func() bool { // again and again, since the worker may not listen yet
				if err := errors.Join(other.tell(workerSubject, state), other.tell(jobSubject, own)); err != nil {
					t.Fatal(err)
				}
				return len(lines.with("the worker on stranger is refused")) == 1 && len(refused.with("the job of stranger is refused")) == 1
			})
			if workers := commander.Workers(); len(workers) > 1 {
				t.Errorf("the workers are %v", workers)
			}
			if _, found := commander.rivals.least(); found {
				t.Error("the stranger's job is a rival")
			}
		})
	}
}

// A piece that seems to have ended many workers would end its job.
func TestAStrangerLetsNoPieceSeemDeadly(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	c := connect(t, e.Access(), nil)
	spec := sums{Of: 1}
	j, task := jobOf(t, "coarse", spec)
	commander := begin(t, c, j, task, nil)
	p := work.Piece{From: 0, To: 1}
	suspect(t, c, c.queueSubject(j, p))
	queue, err := c.queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := nats.NewMsg(troubleSubject(j.Key(), p))
	m.Header.Set(queuedHeader, fmt.Sprint(queue.CachedInfo().State.LastSeq))
	m.Header[attemptHeader] = []string{"one", "two", "three"}
	if _, err := stranger(t, e, "").js.PublishMsg(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	hire(t, connect(t, overNetwork(e), nil), &Worker{Patience: time.Second / 5})
	got, err := complete(t.Context(), t, commander, j, task, nil)
	same(t, "coarse", spec, got, err)
}

// A stranger that reaches the server without its token is refused. No client sends it the token.
func TestAnOwnTokenIsNotSent(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "token")
	made, err := secret.Own(path)
	if err != nil {
		t.Fatal(err)
	}
	s := settings(t)
	s.Token = made
	e := serve(t, s)
	accepted(t, e.Access())
	accepted(t, overNetwork(e))
	for _, other := range []string{"", "wrong", token} {
		refused(t, Access{URL: e.URL(), Token: other}, "refuses the credentials or the token")
	}
	refused(t, Access{URL: e.URL(), Token: ownPrefix + "AA"}, "this is none")
	s.Token = ownPrefix + "AA"
	if _, err := broker.Start(brokertest.Program(t), s); err == nil || !strings.Contains(err.Error(), "this is none") {
		t.Error(err)
	}

	s = settings(t)
	s.Token = ""
	open := serve(t, s)
	refused(t, Access{URL: open.URL(), Token: made}, "asks for no token that a command has made")
	c := connect(t, Access{URL: open.URL(), Token: made, Own: true}, nil)
	if c.Sealed() {
		t.Error("messages have seals that no other machine can make")
	}
}

// Whoever begins a job again after it was cancelled has not cancelled it.
func TestACancellationIsOfOneCommand(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, settings(t)).Access(), nil)
	j, task := jobOf(t, "coarse", sums{Of: 10})
	cancelled := func(commander *Commander, want bool) {
		t.Helper()
		if got, err := commander.cancelled(t.Context()); err != nil || got != want {
			t.Errorf("cancelled: %v, %v", got, err)
		}
	}
	first := begin(t, c, j, task, nil)
	cancelled(first, false)
	if err := c.Cancel(t.Context(), j.Key()); err != nil {
		t.Fatal(err)
	}
	cancelled(first, true)
	first.Leave()
	cancelled(begin(t, c, j, task, nil), false)
}

func TestProgramsWithDifferentTokensAreDifferentGroups(t *testing.T) {
	t.Parallel()
	groups := map[string]bool{}
	for _, c := range []*Conn{{}, {token: token}, {token: "another token"}} {
		groups[c.group(version)] = true
		groups[c.group("v9")] = true
	}
	if len(groups) != 6 {
		t.Errorf("3 tokens and 2 versions make %d groups", len(groups))
	}
}

// Programs of before the protocol had a number show their version alone, and seal nothing.
func TestAProgramOfAnEarlierProtocolIsRefused(t *testing.T) {
	t.Parallel()
	e := serve(t, settings(t))
	j, task := jobOf(t, "coarse", sums{Of: 10})
	var lines, workerLines notices
	begin(t, connect(t, e.Access(), nil), j, task, lines.add)
	hire(t, connect(t, overNetwork(e), nil), &Worker{Notice: workerLines.add})
	state, err := json.Marshal(work.WorkerState{ID: "x", Process: "old", Version: version, Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	job, err := json.Marshal(announcement{Key: "x", Version: version, Process: "old"})
	if err != nil {
		t.Fatal(err)
	}
	old := stranger(t, e, "")
	until(t, "refused", func() bool {
		if err := errors.Join(old.tell(workerSubject, state), old.tell(jobSubject, job)); err != nil {
			t.Fatal(err)
		}
		says := " is refused: it is of version " + version + ", and this "
		return len(lines.with("the worker on old"+says)) == 1 && len(workerLines.with("the job of old"+says)) == 1
	})
}
