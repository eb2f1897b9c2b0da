//go:build !js

package study

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/experiment"
)

// studyFile is a file that describes a study. What it leaves out is as on the command line.
type studyFile struct {
	Title      string   `toml:"title"`
	Algorithms []string `toml:"algorithms"`
	N          any      `toml:"n"` // "8..1024", or numbers
	Order      []string `toml:"order"`
	Orders     *uint64  `toml:"orders"`
	Until      *string  `toml:"until"`
	Seed       *uint64  `toml:"seed"`
}

// readFile reads the study that a file describes.
func (o *compareOptions) readFile(p *plan.Program) (*experiment.Study, error) {
	in := p.Stdin
	if o.study != "-" {
		file, err := os.Open(o.study)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", o.study, report.Reason(err))
		}
		defer file.Close()
		in = file
	}
	f, err := parseStudyFile(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.study, err)
	}
	if o.Title == "" {
		o.Title = f.Title
	}
	s, err := f.study(p, o.until)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.study, err)
	}
	return s, nil
}

// mostText is the largest size of such a file.
const mostText = 1 << 20

// kinds are the types of the keys, for error messages.
var kinds = map[string]string{
	"title":      `title is a text, such as "Ours and theirs"`,
	"algorithms": `algorithms is a list of names, such as ["lcr", "stop-and-go-p2:c=2,a=3/2"]`,
	"order":      `order is a list of names, such as ["random"]`,
	"orders":     `orders is a number of at least 1, such as 1000`,
	"until":      `until is a percentage in quotes, such as "1%"`,
	"seed":       `seed is a number of at least 0, such as 1`,
}

func parseStudyFile(in io.Reader) (*studyFile, error) {
	f := new(studyFile)
	text, err := io.ReadAll(io.LimitReader(in, mostText+1))
	switch {
	case err != nil:
		return nil, report.Reason(err)
	case len(text) > mostText:
		return nil, fmt.Errorf("a study has at most %d bytes", mostText)
	}
	err = toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(f)
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		key := strings.Join(unknown.Errors[0].Key(), ".")
		row, _ := unknown.Errors[0].Position()
		return nil, fmt.Errorf("line %d: a study has no %s; %s", row, key,
			option.Instead(key, []string{"algorithms", "n", "order", "orders", "until", "seed", "title"}))
	case errors.As(err, &wrong):
		row, _ := wrong.Position()
		if kind := kinds[strings.Join(wrong.Key(), ".")]; kind != "" { // else it is no TOML
			return nil, fmt.Errorf("line %d: %s", row, kind)
		}
		return nil, fmt.Errorf("line %d: %s", row, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return f, err
}

// study returns the study that the file describes, with the given precision if it names none.
func (f *studyFile) study(p *plan.Program, until string) (*experiment.Study, error) {
	s := experiment.Study{Orders: f.Order, Seed: 1, Program: p.Name}
	if f.Order == nil {
		s.Orders = []string{"random"}
	}
	if f.Seed != nil {
		s.Seed = *f.Seed
	}
	switch {
	case f.Orders != nil && f.Until != nil:
		return nil, errors.New("orders is a number of runs, and until a precision; give one of them")
	case f.Orders != nil && *f.Orders == 0:
		return nil, errors.New("orders is at least 1")
	case f.Orders != nil:
		s.Runs = *f.Orders
	case f.Until != nil:
		until = *f.Until
	}
	var err error
	if s.Runs == 0 {
		if s.Until, err = experiment.ParsePercent(until); err != nil {
			return nil, fmt.Errorf("until: %w", err)
		}
	}
	if s.Sizes, err = f.sizes(); err != nil {
		return nil, fmt.Errorf("n: %w", err)
	}
	return subjects(p, s, f.Algorithms)
}

// sizes reads "8..1024", 16 or [16, 64, 256].
func (f *studyFile) sizes() ([]int, error) {
	list, isList := f.N.([]any)
	if !isList && f.N != nil {
		list = []any{f.N}
	}
	if len(list) == 0 {
		return nil, nil
	}
	var parts []string
	for _, part := range list {
		switch part.(type) {
		case string, int64:
			parts = append(parts, fmt.Sprint(part))
		default:
			return nil, errors.New(`sizes are numbers such as [16, 64, 256], or doublings such as "8..1024"`)
		}
	}
	return experiment.ParseSizes(strings.Join(parts, ","))
}
