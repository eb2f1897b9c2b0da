package cli

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
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/trace"
)

// object is a JSON object whose fields keep their order.
type object []field

type field struct {
	name  string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err
		}
		value, err := plainJSON(f.value)
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

// plainJSON is JSON in which < and > stand for themselves.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// print writes a result as one line of JSON.
func (p *program) print(v any) error {
	line, err := plainJSON(v)
	if err != nil {
		return err
	}
	_, err = p.stdout.Write(append(line, '\n'))
	return err
}

// messages is how results show counts.
func messages(d *election.Declaration, m outcome.Messages) object {
	byKind := object{}
	for k := range d.Kinds {
		byKind = append(byKind, field{d.Kinds[k].Name, m.ByKind[k]})
	}
	return object{
		{"total", m.Total},
		{"election", m.Election},
		{"announcement", m.Announcement},
		{"overhead", m.Overhead},
		{"by_kind", byKind},
	}
}

// times is how results show moments.
func times(elected, decided, quiet any) object {
	return object{{"elected", elected}, {"decided", decided}, {"quiet", quiet}}
}

// worst is the first declared worst case, if it speaks of a run with so many starters; none does of faults on the way,
// since who recovers, say, may begin again.
func worst(d *election.Declaration, starters int, hurt bool) *election.Bound {
	b := d.Bound(election.Worst)
	if b == nil || hurt || b.OneStart && starters > 1 {
		return nil
	}
	return b
}

// bound is how results show a worst case.
func bound(b *election.Bound, m outcome.Messages, n int) object {
	most := b.Value(uint64(n))
	shown := any(most)
	if most == math.MaxUint64 { // it is more
		shown = nil
	}
	return object{{"of", b.Of}, {"messages", shown}, {"formula", b.Formula}, {"holds", m.Of(b.Of) <= most}}
}

// parameters is how results show parameters.
func parameters(p election.Parameters) object {
	o := object{}
	for _, name := range p.Names() {
		text := p.Text(name)
		if number, whole := new(big.Int).SetString(text, 10); whole {
			o = append(o, field{name, number})
		} else {
			o = append(o, field{name, text})
		}
	}
	return o
}

// shownIDs is how many processes a result lists by identifier.
const shownIDs = 1000

// counts writes a table of messages by kind for people.
func counts(w io.Writer, d *election.Declaration, b *election.Bound, m outcome.Messages, n int, after string) {
	note := func(of string) string {
		if b != nil && b.Of == of && b.Value(uint64(n)) == math.MaxUint64 {
			return "   worst case " + b.Formula
		}
		if b != nil && b.Of == of {
			return fmt.Sprintf("   worst case %s = %d", b.Formula, b.Value(uint64(n)))
		}
		return ""
	}
	width := len(fmt.Sprint(m.Total + m.Overhead))
	width = max(width, 6)
	elections, names := 0, 12
	for _, kind := range d.Kinds {
		names = max(names, len(kind.Name))
	}
	for k, kind := range d.Kinds {
		text := ""
		switch kind.Class {
		case election.Election:
			elections++
		default:
			text = "   " + kind.Class.String()
		}
		if kind.Name == "election" && len(d.Kinds) == 2 {
			text = note("election")
		}
		fmt.Fprintf(w, "  %-*s %*d%s\n", names, kind.Name, width, m.ByKind[k], text)
	}
	if text := note("election"); elections > 1 {
		fmt.Fprintf(w, "  %-*s %*d%s\n", names, "to elect", width, m.Election, text)
	}
	fmt.Fprintf(w, "  %-*s %*d%s%s\n", names, "total", width, m.Total, note("total"), after)
}

// results is where a command puts what it found: stdout, and the files of a record.
type results struct {
	json        bool
	draw, trace string
}

func (r *results) flags(command *cobra.Command, of string) {
	f := command.Flags()
	f.BoolVar(&r.json, "json", false, "print one JSON object")
	f.StringVar(&r.draw, "draw", "", "draw "+of+" into this SVG file, a space-time diagram; - is stdout")
	f.StringVar(&r.trace, "trace", "", "write the record of "+of+" as JSON lines into this file; - is stdout")
}

// recorded says whether a record is wanted.
func (r *results) recorded() bool { return r.draw != "" || r.trace != "" }

// check refuses to write two things to stdout.
func (r *results) check() error {
	if (r.draw == "-" || r.trace == "-") && (r.json || r.draw == r.trace) {
		return errors.New("stdout takes one result: one of --json, --draw - and --trace -")
	}
	return nil
}

// put writes the record's files, and then, if stdout is free for it, the result.
func (r *results) put(p *program, record *trace.Record, asJSON func() object, asText func() error) error {
	if r.recorded() && record == nil {
		fmt.Fprintln(p.stderr, "ringleader: no run went wrong, so there is none to draw or to write")
	}
	if r.draw != "" && record != nil {
		if err := p.toFile(r.draw, record.SVG); err != nil {
			return err
		}
	}
	if r.trace != "" && record != nil {
		if err := p.toFile(r.trace, func(w io.Writer) error { _, err := record.WriteTo(w); return err }); err != nil {
			return err
		}
	}
	switch {
	case r.json:
		return p.print(asJSON())
	case r.draw != "-" && r.trace != "-":
		return asText()
	}
	return nil
}

// toFile writes a file whole or not at all; "-" is stdout. What is no file, a device or a pipe, is written to
// as it is, and so is the file that a link leads to.
func (p *program) toFile(path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(p.stdout)
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
	if why := reason(err); why != err {
		return failed("cannot write %s: %w", path, why)
	}
	return err
}

// canReplace says beforehand whether a file can be written to.
func (p *program) canReplace(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return failed("cannot write %s: %w", path, reason(err))
		}
		return file.Close()
	} else if err == nil && !info.IsDir() {
		return nil
	}
	info, err := os.Stat(filepath.Dir(path))
	if err == nil && !info.IsDir() {
		err = errors.New("its folder is no folder")
	}
	if err != nil {
		return failed("cannot write %s: %w", path, reason(err))
	}
	return nil
}

// fill writes to what is there.
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

// progress tells a person on a terminal, after the first second, how far something long has come.
type progress struct {
	w       io.Writer
	started time.Time
	shown   time.Time
}

func (p *program) progress() *progress {
	if !isTerminal(p.stderr) {
		return &progress{}
	}
	return &progress{w: p.stderr, started: time.Now(), shown: time.Now()}
}

func (p *progress) show(format string, args ...any) {
	if p.w == nil || time.Since(p.shown) < time.Second {
		return
	}
	p.shown = time.Now()
	fmt.Fprintf(p.w, "\r\x1b[K%s, %s", fmt.Sprintf(format, args...), time.Since(p.started).Round(time.Second))
}

func (p *progress) done() {
	if p.w != nil && p.shown != p.started {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
