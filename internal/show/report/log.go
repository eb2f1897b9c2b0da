//go:build !js

package report

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// memberLine returns a line about a member, for people: join prints such lines on stdout, and join and exec log them on stderr.
func memberLine(at time.Time, id uint64, text string) string {
	return fmt.Sprintf("%s  %d %s\n", at.Format("2006-01-02 15:04:05.000"), id, text)
}

// lines is a log of a member in the lines that join prints.
type lines struct {
	out    io.Writer
	mu     *sync.Mutex // on out
	level  slog.Leveler
	id     uint64
	before string // attributes of all lines
	group  string // of the further attributes
}

// NewLog returns a log of the member with an identifier, for people.
func NewLog(out io.Writer, id uint64, level slog.Leveler) slog.Handler {
	return lines{out: out, mu: new(sync.Mutex), level: level, id: id}
}

// Enabled implements slog.Handler.
func (l lines) Enabled(_ context.Context, level slog.Level) bool { return level >= l.level.Level() }

// Handle implements slog.Handler.
func (l lines) Handle(_ context.Context, r slog.Record) error {
	var text strings.Builder
	switch {
	case r.Level >= slog.LevelError:
		text.WriteString("error: ")
	case r.Level >= slog.LevelWarn:
		text.WriteString("warning: ")
	}
	text.WriteString(r.Message)
	text.WriteString(l.before)
	r.Attrs(func(a slog.Attr) bool {
		l.append(&text, l.group, a)
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := io.WriteString(l.out, memberLine(r.Time, l.id, text.String()))
	return err
}

// append appends an attribute. That of the member itself begins the line already.
func (l lines) append(to *strings.Builder, group string, a slog.Attr) {
	value := a.Value.Resolve()
	switch {
	case a.Equal(slog.Attr{}), group == "" && a.Key == "member" && value.String() == strconv.FormatUint(l.id, 10):
		return
	case value.Kind() == slog.KindGroup:
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, inner := range value.Group() {
			l.append(to, group, inner)
		}
		return
	}
	text := value.String()
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || r == '"' || r == '=' || !unicode.IsPrint(r) }) {
		text = strconv.Quote(text)
	}
	fmt.Fprintf(to, " %s%s=%s", group, a.Key, text)
}

// WithAttrs implements slog.Handler.
func (l lines) WithAttrs(attributes []slog.Attr) slog.Handler {
	text := new(strings.Builder)
	for _, a := range attributes {
		l.append(text, l.group, a)
	}
	l.before += text.String()
	return l
}

// WithGroup implements slog.Handler.
func (l lines) WithGroup(name string) slog.Handler {
	if name != "" {
		l.group += name + "."
	}
	return l
}
