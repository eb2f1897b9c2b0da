package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/control"
	"ringleader.example/ringleader/internal/report"
	"ringleader.example/ringleader/storage"
)

// runJoin runs a member until ctx is done.
func (p *program) runJoin(ctx context.Context, o joinOptions, config ringleader.Config) error {
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelDebug
	}
	config.Logger = slog.New(withoutErrors{slog.NewTextHandler(p.Err, &slog.HandlerOptions{Level: level})})

	served := control.Options{Socket: control.Socket(o.data), TLS: config.TLS, Hosts: o.httpHosts, Log: config.Logger}
	for _, l := range []struct {
		flag, address string
		listener      *net.Listener
	}{{"--http", o.http, &served.HTTP}, {"--https", o.https, &served.HTTPS}} {
		if l.address == "" {
			continue
		}
		listener, err := net.Listen("tcp", l.address)
		if err != nil {
			return fmt.Errorf("%s: %w", l.flag, err)
		}
		defer listener.Close()
		*l.listener = listener
	}
	m, err := joinStore(ctx, config)
	switch {
	case errors.Is(err, ringleader.ErrWrite): // another call would not help
		return report.Failed("member %d: %w", o.id, err)
	case err != nil:
		return err
	}
	defer m.Close()
	p.warnOf(o, config)
	life, end := context.WithCancelCause(ctx)
	var serving sync.WaitGroup
	defer serving.Wait()
	defer end(nil)
	serving.Go(func() { end(control.Serve(life, m, served)) })
	if o.stopWithStdin {
		go func() {
			p.obey(m)
			end(nil)
		}()
	}
	if o.json {
		if err := p.JSON(p.Header()); err != nil {
			return err
		}
	}
	show := report.NewMember(p.Out, o.json, m)
	show.Started(config.Listen, o.http)
	show.Follow(life, o.reportLeases)
	err = errors.Join(m.Err(), m.Close())
	if cause := context.Cause(life); ctx.Err() == nil && cause != context.Canceled {
		err = errors.Join(err, cause) // serving HTTP failed
	}
	if err != nil {
		return report.Failed("member %d: %w", o.id, err)
	}
	show.Stopped()
	return nil
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
	default:
		err = fmt.Errorf("%w: ringleader init --data %q --group %q --id %d", err, c.Data, c.Group, c.ID)
	}
	return m, err
}

// warnOf warns of what is not safe.
func (p *program) warnOf(o joinOptions, c ringleader.Config) {
	if c.Algorithm == ringleader.Bully {
		p.warn(report.NoQuorum)
	}
	for _, l := range []struct {
		flag, address string
		secure        bool
	}{{"--listen", c.Listen, c.TLS != nil}, {"--http", o.http, false}} {
		if l.address != "" && !l.secure && !isLoopback(l.address) {
			p.warn(fmt.Sprintf("%s %s is open to other machines, without encryption or authentication.", l.flag, l.address))
		}
	}
}

// obey carries out commands of the parent process, one per line, until there are no more.
func (p *program) obey(m *ringleader.Member) {
	for lines := bufio.NewScanner(p.stdin); lines.Scan(); {
		verb, argument, _ := strings.Cut(lines.Text(), " ")
		switch id, err := strconv.ParseUint(argument, 10, 64); {
		case verb == "resign":
			m.Resign()
		case verb != "transfer" || err != nil:
			p.warn(fmt.Sprintf("unknown command %q", lines.Text()))
		default:
			if err := m.Transfer(id); err != nil {
				p.warn(err.Error())
			}
		}
	}
}

// withoutErrors logs no errors: what stops the member is returned, and printed once.
type withoutErrors struct{ slog.Handler }

func (h withoutErrors) Enabled(ctx context.Context, level slog.Level) bool {
	return level < slog.LevelError && h.Handler.Enabled(ctx, level)
}

func (h withoutErrors) WithAttrs(attributes []slog.Attr) slog.Handler {
	return withoutErrors{h.Handler.WithAttrs(attributes)}
}

func (p *program) warn(text string) { p.Complain("warning: " + text) }
