package chaos

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/agent"
)

// commandRole is the first argument of this binary as a command. The second is what its member was told.
const commandRole = "chaos-command"

// exec lets the member run its work as a command, and ends the process.
func (c *child) exec() {
	text, err := json.Marshal(c.spec)
	if err != nil {
		panic(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	config := c.config()
	config.Logger = slog.New(teller{config.Logger.Handler(), c})
	const backoff = 5 * time.Millisecond // it doubles
	a, life, err := agent.Start(ctx, agent.Config{
		Member: config, OnExit: agent.Resign, Backoff: backoff, StopTimeout: lease / 2,
		Command: []string{os.Args[0], commandRole, string(text)},
	}, ringleader.Join)
	if err != nil {
		c.leave(refused, err, statusRefused)
	}
	c.joined(a.Member)
	_, err = a.Exec(life)
	if closing := a.Close(); ctx.Err() != nil && err == nil {
		c.leave(closed, closing, 0)
	}
	c.leave(failed, err, statusFailed)
}

// teller reports what the log of a member tells about its command: the end of the lease before the keeper has that as an order, and the end of
// the command after no process of it is left.
type teller struct {
	slog.Handler
	child *child
}

func (t teller) Enabled(context.Context, slog.Level) bool { return true }

func (t teller) Handle(ctx context.Context, r slog.Record) error {
	told := map[string]slog.Value{}
	r.Attrs(func(a slog.Attr) bool {
		told[a.Key] = a.Value
		return true
	})
	if r.Level == agent.EachOrder {
		t.child.ordered(r.Message == agent.FirstOrder, told["term"].Uint64(), int64(told["until"].Duration()))
	}
	if _, over := told["status"]; over {
		t.child.say(event{What: ended, Term: told["term"].Uint64(), From: now()})
	}
	if !t.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return t.Handler.Handle(ctx, r)
}

func (t teller) WithAttrs(all []slog.Attr) slog.Handler {
	return teller{t.Handler.WithAttrs(all), t.child}
}

func (t teller) WithGroup(name string) slog.Handler {
	return teller{t.Handler.WithGroup(name), t.child}
}

// ordered reports the lease of which a keeper is told.
func (c *child) ordered(first bool, term uint64, until int64) {
	at := now()
	if first {
		c.say(event{What: started, Term: term, To: at})
	}
	if until > at {
		c.say(event{What: leased, Term: term, From: at, To: at, Until: until})
	}
}

// beCommand runs a command. It does not ask whether the lease is valid: it is while a command runs.
func beCommand(text string) {
	c := newChild(text, os.Stdout)
	term, err := strconv.ParseUint(os.Getenv("RINGLEADER_TERM"), 10, 64)
	if err != nil {
		panic(err)
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	copied := &cached{child: c, term: term, valid: func() bool { return true }}
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for n := 0; ; n++ {
		c.say(event{What: ran, Term: term, From: now()})
		copied.step(n)
		select {
		case <-asked:
			if !c.Lingers {
				os.Exit(0)
			}
		case <-ticker.C:
		}
	}
}
