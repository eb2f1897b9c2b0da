package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/outcome"
)

// Object is a JSON object whose fields keep their order.
type Object []Field

// Field is the name of a field, which is a text, and its value.
type Field [2]any

func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(f[0])
		if err != nil {
			return nil, err
		}
		value, err := PlainJSON(f[1])
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// PlainJSON returns JSON with unescaped < and >.
func PlainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Result is the result of a command.
type Result interface {
	JSON() any           // for programs
	Text(*Printer) error // for people
}

// Print prints a result.
func (p *Printer) Print(r Result, asJSON bool) error {
	if !asJSON {
		return p.Fit(r.Text)
	}
	return p.JSON(p.Headed(r))
}

// Headed returns a result for programs, with the fields that results have in common.
func (p *Printer) Headed(r Result) any {
	all := r.JSON()
	if found, is := all.(Object); is {
		return p.headed(found)
	}
	return all
}

// headed puts the common fields of every result first: the call, the version, and the inputs of the run, or null if
// the command has none.
func (p *Printer) headed(found Object) Object {
	head := Object{{"command", p.Command}, {"version", p.Version}, {"seed", nil}, {"parameters", nil}, {"topology", nil}, {"start", nil}}
	rest := make(Object, 0, len(found))
	for _, f := range found {
		if i := slices.IndexFunc(head, func(h Field) bool { return h[0] == f[0] }); i >= 0 {
			head[i] = f
		} else {
			rest = append(rest, f)
		}
	}
	return append(head, rest...)
}

// Header returns the first line of a result that is many lines of JSON, as an event.
func (p *Printer) Header() any { return append(Object{{"event", "call"}}, p.headed(nil)...) }

// JSON prints a result as one line of JSON.
func (p *Printer) JSON(v any) error {
	line, err := PlainJSON(v)
	if err != nil {
		return err
	}
	_, err = p.Out.Write(append(line, '\n'))
	return err
}

// messages returns the JSON of counts.
func messages(d *election.Declaration, m outcome.Messages) Object {
	byKind := Object{}
	for k := range d.Kinds {
		byKind = append(byKind, Field{d.Kinds[k].Name, m.ByKind[k]})
	}
	return Object{
		{"total", m.Total},
		{"election", m.Election},
		{"announcement", m.Announcement},
		{"overhead", m.Overhead},
		{"by_kind", byKind},
	}
}

// times returns the JSON of moments.
func times(elected, decided, quiet any) Object {
	return Object{{"elected", elected}, {"decided", decided}, {"quiet", quiet}}
}

// worst returns the first declared worst-case bound that covers that many initiators, or nil. No bound covers faults
// during a run: a recovered process, for example, may begin again.
func worst(d *election.Declaration, starters, n int, hurt bool) *worstCase {
	b := d.Bound(election.Worst)
	if b == nil || hurt || b.OneStart && starters > 1 {
		return nil
	}
	return &worstCase{b, b.Value(uint64(n))}
}

// worstCase is a declared worst case and its value, which is found before anything is printed: the function of an algorithm may panic.
type worstCase struct {
	*election.Bound
	most uint64 // math.MaxUint64: it is more
}

// json returns the worst case, and whether the messages of a run are within.
func (b *worstCase) json(m outcome.Messages) Object {
	shown := any(b.most)
	if b.most == math.MaxUint64 {
		shown = nil
	}
	return Object{{"of", b.Of}, {"messages", shown}, {"formula", b.Formula}, {"holds", m.Of(b.Of) <= b.most}}
}

// Parameters returns the JSON of parameters.
func Parameters(p election.Parameters) Object {
	o := Object{}
	for _, name := range p.Names() {
		text := p.Text(name)
		if number, whole := new(big.Int).SetString(text, 10); whole {
			o = append(o, Field{name, number})
		} else {
			o = append(o, Field{name, text})
		}
	}
	return o
}

// shownIDs is the largest number of processes that a result lists by identifier.
const shownIDs = 1000

const electionMessages = "election messages" // the sum over their kinds, where there are several

// counts writes a table of messages by kind for people, and returns the width of its names.
func counts(w io.Writer, d *election.Declaration, b *worstCase, m outcome.Messages, after string) (names int) {
	note := func(of string) string {
		if b == nil || b.Of != of {
			return ""
		}
		return "   worst case " + b.Formula + Needed(b.most < math.MaxUint64, fmt.Sprintf(" = %d", b.most), "") + Needed(m.Of(b.Of) > b.most, ", exceeded", "")
	}
	width := max(6, len(fmt.Sprint(m.Total+m.Overhead)))
	elections := 0
	names = 12
	for _, kind := range d.Kinds {
		names = max(names, len(kind.Name))
		if kind.Class == election.Election {
			elections++
		}
	}
	if elections > 1 {
		names = max(names, len(electionMessages))
	}
	for k, kind := range d.Kinds {
		text := ""
		if kind.Class != election.Election {
			text = "   " + kind.Class.String()
		}
		if kind.Name == "election" && len(d.Kinds) == 2 {
			text = note("election")
		}
		fmt.Fprintf(w, "  %-*s %*d%s\n", names, kind.Name, width, m.ByKind[k], text)
	}
	if text := note("election"); elections > 1 {
		fmt.Fprintf(w, "  %-*s %*d%s\n", names, electionMessages, width, m.Election, text)
	}
	fmt.Fprintf(w, "  %-*s %*d%s%s\n", names, "total", width, m.Total, note("total"), after)
	return names
}

// ToFile writes a file whole or not at all; "-" is Out. A device or a pipe is written to directly, and so is the
// target of a link.
func (p *Printer) ToFile(path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(p.Out)
	}
	place := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		place = target
	}
	put := replace
	if info, err := os.Stat(place); err == nil && !info.Mode().IsRegular() {
		put = fill
	}
	err := put(place, write)
	if why := Reason(err); why != err {
		return Failed("cannot write %s: %w", path, why)
	}
	return err
}

// CanReplace returns, before the work, why a file cannot be written, or nil.
func CanReplace(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return Failed("cannot write %s: %w", path, Reason(err))
		}
		return file.Close()
	} else if err == nil && !info.IsDir() {
		return nil
	}
	info, err := os.Stat(filepath.Dir(path))
	if err == nil && !info.IsDir() {
		err = errors.New("its parent is not a directory")
	}
	if err != nil {
		return Failed("cannot write %s: %w", path, Reason(err))
	}
	return nil
}

// fill writes to an existing device or file.
func fill(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(file)
	return errors.Join(write(buffered), buffered.Flush(), file.Close())
}

// replace puts a new file in the place of the old one.
func replace(path string, write func(io.Writer) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(file.Name())
		}
	}()
	buffered := bufio.NewWriter(file)
	if err := errors.Join(write(buffered), buffered.Flush(), file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// Progress shows, on a terminal and after the first second, the progress of a long computation.
type Progress struct {
	w       io.Writer
	width   int // of the terminal
	watch   func(text string)
	every   time.Duration
	started time.Time
	shown   time.Time
}

// Progress begins a progress bar. It shows nothing unless the printer has a Watch, or Err is a terminal.
func (p *Printer) Progress() *Progress {
	now := time.Now()
	bar := &Progress{watch: p.Watch, every: time.Second, started: now, shown: now}
	switch {
	case bar.watch != nil:
		bar.every /= 5
	case IsTerminal(p.Err):
		bar.w, bar.width = p.Err, (&Printer{Out: p.Err, Getenv: p.Getenv}).Width()
	}
	return bar
}

// Due reports whether Show would replace the line now.
func (p *Progress) Due() bool {
	return (p.w != nil || p.watch != nil) && time.Since(p.shown) >= p.every
}

// Show replaces the line, once a second at most.
func (p *Progress) Show(format string, args ...any) {
	if !p.Due() {
		return
	}
	p.shown = time.Now()
	text := fmt.Sprintf("%s, %s", fmt.Sprintf(format, args...), time.Since(p.started).Round(time.Second))
	if p.watch != nil {
		p.watch(text)
		return
	}
	if all := []rune(text); len(all) >= p.width { // a line that is broken cannot be replaced
		text = string(all[:p.width-1])
	}
	fmt.Fprint(p.w, "\r\x1b[K"+text)
}

// Done clears the line.
func (p *Progress) Done() {
	if p.w != nil && p.shown != p.started {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// Rate returns the number of things done in a second.
func (p *Progress) Rate(done int) string {
	return fmt.Sprintf("%.0f", float64(done)/max(1, time.Since(p.started).Seconds()))
}

// Left returns the time for the rest at the same speed; "" if nothing is done.
func (p *Progress) Left(done, total float64) string {
	if done == 0 {
		return ""
	}
	return p.Remaining(time.Duration(float64(time.Since(p.started)) * (total - done) / done))
}

// Remaining returns the time for the rest in words; "" if it is negative, which is unknown.
func (*Progress) Remaining(left time.Duration) string {
	if left < 0 {
		return ""
	}
	return fmt.Sprintf(", about %s left", left.Round(time.Second))
}

// Commas returns a list of n numbers.
func Commas(n int, at func(int) uint64) string {
	all := make([]string, n)
	for q := range all {
		all[q] = fmt.Sprint(at(q))
	}
	return strings.Join(all, ",")
}

// ShellWord quotes a word for a shell, if it needs that.
func ShellWord(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,/=@:+") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
