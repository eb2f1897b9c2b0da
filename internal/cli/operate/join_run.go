//go:build !js

package operate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/aside"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/storage"
)

// runJoin runs a member until the context of the command is done.
func (p *program) runJoin(command *cobra.Command, s *settings, o *joinOptions, config ringleader.Config) error {
	endOnce()
	log := newLog(p, notice, o)
	defer log.Close()
	config.Logger = log.Logger
	a, life, err := agent.Start(command.Context(), agent.Config{Member: config, HTTP: o.http, HTTPS: o.https, HTTPHosts: o.httpHosts, Hooks: o.hooks, Health: o.stands.Health}, joinStore)
	if err != nil {
		return notJoined(o, err)
	}
	defer a.Close()
	warnOf(o, config)
	p.reloads(command, s, config, a, log)
	life, end := context.WithCancel(life)
	defer end()
	if o.stopWithStdin {
		go func() {
			p.obey(a.Member, log.Logger)
			end()
		}()
	}
	show := report.NewMember(p.Out, o.json, a.Member)
	var unshown error
	shown := begin(func() {
		if o.json {
			if unshown = p.JSON(p.Header()); unshown != nil {
				return
			}
		}
		show.Started(config.Listen, o.http)
		show.Follow(life, o.reportLeases)
	})
	select {
	case <-shown:
	case <-life.Done():
	case <-a.Done():
	}
	told := soon(shown)
	if told && unshown != nil {
		return unshown
	}
	if err = a.Close(); err != nil {
		return report.Failed("member %d: %w", o.id, err)
	}
	if told {
		soon(begin(show.Stopped))
	}
	return nil
}

// begin begins something that prints, which waits for as long as no process reads that. It returns what is closed afterwards.
func begin(print func()) <-chan struct{} {
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		print()
	}()
	return printed
}

// soon reports whether something is printed within a second. The end of a member waits no longer.
func soon(printed <-chan struct{}) bool {
	late := time.NewTimer(time.Second)
	defer late.Stop()
	select {
	case <-printed:
		return true
	case <-late.C:
		return false
	}
}

// memberLog is the log of a member, on stderr.
type memberLog struct {
	*slog.Logger
	*aside.Writer
	level slog.LevelVar
	usual slog.Level
}

// notice is the level of what a quiet log shows, too, though nothing is wrong: answers to an operator.
const notice = slog.LevelInfo + 2

func newLog(p *program, usual slog.Level, o *joinOptions) *memberLog {
	l := &memberLog{usual: usual}
	l.set(o)
	l.Writer = aside.New(p.Err, func(missing int) string {
		var line strings.Builder
		slog.New(report.NewLog(&line, o.id, slog.LevelWarn)).Warn("lines of the log are left out here: nothing took them", "lines", missing)
		return line.String()
	})
	l.Logger = slog.New(withoutEnd{report.NewLog(l.Writer, o.id, &l.level)})
	return l
}

// set sets the level that the options ask for.
func (l *memberLog) set(o *joinOptions) {
	l.level.Set(l.usual)
	if o.verbose {
		l.level.Set(slog.LevelDebug)
	}
}

// notJoined returns the error of a member that cannot join. What may pass by itself is no wrong call, so that a service
// manager tries again: a full disk, a port or a directory that another process has, an address that is not up yet.
func notJoined(o *joinOptions, err error) error {
	var network *net.OpError
	switch {
	case errors.Is(err, ringleader.ErrWrite):
		return report.Failed("member %d: %w", o.id, err)
	case errors.Is(err, storage.ErrLocked), errors.As(err, &network), passes(err):
		return report.Failed("%w", err)
	}
	return err
}

// passes reports whether a directory or file cannot be used now, and the call is right all the same. A disk with errors, for example, is mounted again for
// reading only.
func passes(err error) bool {
	return slices.ContainsFunc([]syscall.Errno{
		syscall.EROFS, syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.ESTALE, syscall.ETIMEDOUT, syscall.EBUSY, syscall.EAGAIN, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM,
	}, func(e syscall.Errno) bool { return errors.Is(err, e) })
}

// joinStore joins. With Bully, which promises nothing, it makes a store first if there is none; a wrong configuration
// makes none.
func joinStore(ctx context.Context, c ringleader.Config) (*ringleader.Member, error) {
	m, err := ringleader.Join(ctx, c)
	switch {
	case !errors.Is(err, storage.ErrMissing):
	case c.Algorithm == ringleader.Bully:
		if err = ringleader.Init(c.Data, c.Group, c.ID); err == nil {
			m, err = ringleader.Join(ctx, c)
		}
	case c.Group == "": // init wants a name
		err = fmt.Errorf("%w: ringleader init --data %q --group NAME --id %d, and then join with that --group", err, c.Data, c.ID)
	default:
		err = fmt.Errorf("%w: ringleader init --data %q --group %q --id %d", err, c.Data, c.Group, c.ID)
	}
	return m, err
}

// warnOf warns of addresses that are not safe. The member itself warns of Bully.
func warnOf(o *joinOptions, c ringleader.Config) {
	for _, l := range []struct {
		flag, address string
		secure        bool
	}{{"--listen", c.Listen, c.TLS != nil}, {"--http", o.http, false}} {
		if l.address != "" && !l.secure && !option.IsLoopback(l.address) {
			c.Logger.Warn(fmt.Sprintf("%s %s is open to other machines, without encryption or authentication", l.flag, l.address))
		}
	}
}

// obey carries out commands of the parent process, one per line, until there are no more.
func (p *program) obey(m *ringleader.Member, log *slog.Logger) {
	for lines := bufio.NewScanner(p.Stdin); lines.Scan(); {
		verb, argument, _ := strings.Cut(lines.Text(), " ")
		switch id, err := strconv.ParseUint(argument, 10, 64); {
		case verb == "resign":
			go m.Resign(context.Background()) // the next command does not wait for the work to stop
		case verb != "transfer" || err != nil:
			log.Warn("unknown command", "line", lines.Text())
		default:
			if err := m.Transfer(id); err != nil {
				log.Warn("the lead is not handed over", "error", err)
			}
		}
	}
}

// withoutEnd does not log the error that ends the member: it is returned, and printed once.
type withoutEnd struct{ slog.Handler }

func (h withoutEnd) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError && r.Message == view.EndedByError {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h withoutEnd) WithAttrs(attributes []slog.Attr) slog.Handler {
	return withoutEnd{h.Handler.WithAttrs(attributes)}
}

func (h withoutEnd) WithGroup(name string) slog.Handler { return withoutEnd{h.Handler.WithGroup(name)} }
