package plan

import (
	"bytes"
	"errors"
	"io"
)

// Result writes a result that took work into a file, as [report.Printer.ToFile] does. What the file cannot take is printed.
func (p *Program) Result(path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(p.Out)
	}
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	err := p.ToFile(path, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err })
	if err == nil {
		return nil
	}
	_, failed := p.Out.Write(text.Bytes())
	return errors.Join(err, failed)
}
