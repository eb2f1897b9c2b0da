package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest line of a file, in bytes with its end. Longer ones are neither written nor read.
const MaxLine = 1 << 26

// Writer writes a record as JSON lines while it happens: first the header, then a line a step. Each line is one call
// of Write; a caller that writes much should buffer.
type Writer struct {
	w     io.Writer
	valid *validator
	text  encoder
}

// NewWriter writes the header and returns a writer of the steps.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	valid, err := newValidator(&h)
	if err != nil {
		return nil, err
	}
	out := &Writer{w: w, valid: valid}
	return out, out.line(h)
}

// Step writes the next step. It refuses one that contradicts the steps before; see [Record.Validate].
func (out *Writer) Step(s *Step) error {
	if err := out.valid.step(s); err != nil {
		return err
	}
	return out.line(s)
}

func (out *Writer) line(v any) error {
	line, err := out.text.line(v)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRecord, err)
	}
	_, err = out.w.Write(line)
	return err
}

// WriteTo writes the record as JSON lines. Equal records give equal bytes.
func (r *Record) WriteTo(w io.Writer) (int64, error) {
	counted := &counter{w: w}
	b := bufio.NewWriter(counted)
	out, err := NewWriter(b, r.Header)
	for i := 0; err == nil && i < len(r.Steps); i++ {
		err = out.Step(&r.Steps[i])
	}
	return counted.n, errors.Join(err, b.Flush())
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// Read reads only what a [Writer] wrote. It refuses a line that a Writer would write differently, even by a field or
// a space, and an impossible step. So two files are equal if and only if their records are. The error wraps ErrRecord
// and names the line.
func Read(r io.Reader) (*Record, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxLine+1)
	lines.Split(wholeLines)
	var (
		record Record
		valid  *validator
		text   encoder
		number int
	)
	wrong := func(err error) (*Record, error) {
		if !errors.Is(err, ErrRecord) {
			err = fmt.Errorf("%w: %w", ErrRecord, err)
		}
		return nil, fmt.Errorf("line %d: %w", number, err)
	}
	for lines.Scan() {
		number++
		if number == 1 {
			if err := text.decode(lines.Bytes(), &record.Header); err != nil {
				return wrong(err)
			}
			var err error
			if valid, err = newValidator(&record.Header); err != nil {
				return wrong(err)
			}
			continue
		}
		var s Step
		if err := text.decode(lines.Bytes(), &s); err != nil {
			return wrong(err)
		}
		if err := valid.step(&s); err != nil {
			return wrong(err)
		}
		record.Steps = append(record.Steps, s)
	}
	number++
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return wrong(errTooLong)
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", number, err)
	case valid == nil:
		return wrong(errors.New("there is no header"))
	}
	return &record, nil
}

var errTooLong = fmt.Errorf("a line is longer than %d bytes", MaxLine)

// wholeLines splits like bufio.ScanLines, but keeps the ends of lines, so that a truncated file is recognised.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if end := bytes.IndexByte(data, '\n'); end >= 0 {
		return end + 1, data[:end+1], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// encoder defines the only encoding of a value.
type encoder struct{ buffer bytes.Buffer }

// line returns the value's line with its end, valid until the next call.
func (e *encoder) line(v any) ([]byte, error) {
	e.buffer.Reset()
	out := json.NewEncoder(&e.buffer)
	out.SetEscapeHTML(false)
	if err := out.Encode(v); err != nil {
		return nil, err
	}
	if e.buffer.Len() > MaxLine {
		return nil, errTooLong
	}
	return e.buffer.Bytes(), nil
}

// decode reads the line of a value, in that only encoding.
func (e *encoder) decode(line []byte, v any) error {
	in := json.NewDecoder(bytes.NewReader(line))
	in.DisallowUnknownFields()
	if err := in.Decode(v); errors.Is(err, io.EOF) {
		return errors.New("the line is empty")
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the line ends early")
	} else if err != nil {
		return err
	}
	written, err := e.line(v)
	if err != nil {
		return err
	}
	if bytes.Equal(line, written) {
		return nil
	}
	same := 0
	for same < len(line) && same < len(written) && line[same] == written[same] {
		same++
	}
	return fmt.Errorf("column %d: it says %s where %s would be written", same+1, excerpt(line[same:]), excerpt(written[same:]))
}

func excerpt(text []byte) string {
	const most = 24
	if len(text) > most {
		return fmt.Sprintf("%q…", text[:most])
	}
	return fmt.Sprintf("%q", text)
}
