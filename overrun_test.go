//go:build unix

package ringleader

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/rig"
)

// overrunning is the environment variable that makes the test binary a process whose work ignores its context: with a log,
// or with none.
const overrunning = "RINGLEADER_TEST_OVERRUN"

// TestAProcessThatEndsSinceItsWorkIgnoresItsContextSaysSo runs that process, and in it that work.
func TestAProcessThatEndsSinceItsWorkIgnoresItsContextSaysSo(t *testing.T) {
	t.Parallel()
	switch os.Getenv(overrunning) {
	case "no log":
		overrun(t, nil)
	case "a log":
		overrun(t, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	case "a log that blocks":
		overrun(t, slog.New(blocks{slog.NewTextHandler(os.Stderr, nil), new(atomic.Bool)}))
	}
	run := func(log string, stderr io.Writer) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		child := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), overrunning+"="+log)
		child.Stderr = stderr
		err := child.Run()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 70 {
			t.Errorf("with %s on %T it ends with %v", log, stderr, err)
		}
	}
	for log, want := range map[string]string{
		"no log": `^ringleader: member \d, term \d+: work has not returned, and its lease is about to end; the process ends, so that no two leaders work at the same time\n$`,
		"a log":  `level=ERROR msg="work has not returned, and its lease is about to end" member=\d term=\d+ margin=30ms\n`,
	} {
		// A process that gets no processor for a part of the margin ends without a word, so that the lease does not end before. Another one says why.
		for begun := time.Now(); ; {
			var said bytes.Buffer
			run(log, &said)
			if regexp.MustCompile(want).Match(said.Bytes()) || t.Failed() {
				break
			}
			if time.Since(begun) > patience {
				t.Fatalf("with %s it says %q; want %q", log, said.String(), want)
			}
		}
	}
	r, w, err := rig.FullPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { errors.Join(r.Close(), w.Close()) }()
	run("no log", w)
	run("a log that blocks", nil)
}

// blocks is a log that takes nothing any more when work has begun.
type blocks struct {
	slog.Handler
	begun *atomic.Bool
}

func (b blocks) Handle(ctx context.Context, r slog.Record) error {
	if b.begun.Load() {
		select {}
	}
	return b.Handler.Handle(ctx, r)
}

func (b blocks) WithAttrs(attributes []slog.Attr) slog.Handler {
	return blocks{b.Handler.WithAttrs(attributes), b.begun}
}

// overrun leads without a majority, with work that does not return.
func overrun(t *testing.T, log *slog.Logger) {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	g := quorum(t, Config{Logger: log}, 1, 2)
	for id, m := range g.members { // whichever leads
		go m.Lead(t.Context(), func(context.Context, Leadership) error {
			if b, ok := log.Handler().(blocks); ok {
				b.begun.Store(true)
			}
			g.members[3-id].Close()
			select {}
		})
	}
	select {}
}

func TestTheZeroLeadershipIsNeverValid(t *testing.T) {
	var l Leadership
	if l.Valid() || !l.Deadline().IsZero() {
		t.Errorf("it is valid: %v, until %v", l.Valid(), l.Deadline())
	}
	if err := l.Publish(""); !errors.Is(err, ErrNotLeader) {
		t.Errorf("it publishes: %v", err)
	}
}

func TestADirectoryIsMadeOnceAndIfMissingOnlyThen(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if err := InitIfMissing(data, "jobs", 1); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(filepath.Join(data, "state"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Init(data, "jobs", 1); !errors.Is(err, ErrExists) || !errors.Is(err, ErrData) {
		t.Errorf("a second Init: %v", err)
	}
	if err := InitIfMissing(data, "jobs", 1); err != nil {
		t.Errorf("it exists: %v", err)
	}
	if err := InitIfMissing(data, "jobs", 2); !errors.Is(err, ErrData) || errors.Is(err, ErrExists) {
		t.Errorf("it is another member's: %v", err)
	}
	if now, err := os.ReadFile(filepath.Join(data, "state")); err != nil || !bytes.Equal(now, made) {
		t.Errorf("it has changed: %v", err)
	}
}
