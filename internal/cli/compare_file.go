package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"ringleader.example/ringleader/internal/study"
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
func (o *compareOptions) readFile(p *program) (*study.Study, error) {
	in := p.stdin
	if o.study != "-" {
		file, err := os.Open(o.study)
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", o.study, reason(err))
		}
		defer file.Close()
		in = file
	}
	f, err := parseStudyFile(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.study, err)
	}
	if o.title == "" {
		o.title = f.Title
	}
	s, err := f.study(o.until)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.study, err)
	}
	return s, nil
}

// mostText is how long such a file can be.
const mostText = 1 << 20

func parseStudyFile(in io.Reader) (*studyFile, error) {
	f := new(studyFile)
	err := toml.NewDecoder(io.LimitReader(in, mostText)).DisallowUnknownFields().Decode(f)
	var unknown *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &unknown):
		key := strings.Join(unknown.Errors[0].Key(), ".")
		row, _ := unknown.Errors[0].Position()
		return nil, fmt.Errorf("line %d: a study has no %s; %s", row, key,
			instead(key, []string{"algorithms", "n", "order", "orders", "until", "seed", "title"}))
	case errors.As(err, &wrong):
		row, _ := wrong.Position()
		return nil, fmt.Errorf("line %d: %s", row, strings.TrimPrefix(wrong.Error(), "toml: "))
	}
	return f, reason(err)
}

// study is what the file describes, with this precision if it names none.
func (f *studyFile) study(until string) (*study.Study, error) {
	s := study.Study{Orders: f.Order, Seed: 1}
	if f.Order == nil {
		s.Orders = []string{"random"}
	}
	if f.Seed != nil {
		s.Seed = *f.Seed
	}
	switch {
	case f.Orders != nil && f.Until != nil:
		return nil, errors.New("orders says how many runs are averaged, and until how precise they are to be; one of them")
	case f.Orders != nil && *f.Orders == 0:
		return nil, errors.New("orders is at least 1")
	case f.Orders != nil:
		s.Runs = *f.Orders
	case f.Until != nil:
		until = *f.Until
	}
	var err error
	if s.Runs == 0 {
		if s.Until, err = study.ParsePercent(until); err != nil {
			return nil, fmt.Errorf("until: %w", err)
		}
	}
	if s.Sizes, err = f.sizes(); err != nil {
		return nil, fmt.Errorf("n: %w", err)
	}
	return subjects(s, f.Algorithms)
}

// sizes reads "8..1024", 16 or [16, 64, 256].
func (f *studyFile) sizes() ([]int, error) {
	var parts []string
	switch n := f.N.(type) {
	case nil:
		return nil, nil
	case []any:
		if len(n) == 0 {
			return nil, nil
		}
		for _, part := range n {
			parts = append(parts, fmt.Sprint(part))
		}
	default:
		parts = []string{fmt.Sprint(n)}
	}
	return study.ParseSizes(strings.Join(parts, ","))
}
