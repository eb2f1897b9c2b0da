package lab

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

// moment returns the step of a run at which a story stops: the first one after a step. It reports false if there is none.
type moment func(t *told, after int) (step int, found bool)

// told is a run, with its steps in words.
type told struct {
	*trace.Record
	lines [][]string // words of each step, from its process on
	names map[string]bool
}

// momentOf reads the heading of a stop.
func momentOf(heading string) (moment, error) {
	words := strings.Fields(heading)
	for i := range words {
		words[i] = bare(words[i])
	}
	switch words[0] {
	case "start", "end":
		if len(words) > 1 {
			return nil, fmt.Errorf("nothing follows the word %s", words[0])
		}
		if words[0] == "start" {
			return func(_ *told, after int) (int, bool) { return 0, after < 0 }, nil
		}
		return func(t *told, _ int) (int, bool) { return len(t.Steps), true }, nil // also after a stop at the last step
	case "step":
		number, err := one(words)
		return func(t *told, after int) (int, bool) { return number, number > after && number <= len(t.Steps) }, err
	case "time":
		number, err := one(words)
		return passed(election.Units(uint64(number))), err
	case "message":
		return messageMoment(words)
	}
	return inWords(words), nil
}

// one returns the number that follows a word.
func one(words []string) (int, error) {
	if len(words) == 2 {
		if number, err := strconv.Atoi(words[1]); err == nil && number >= 0 {
			return number, nil
		}
	}
	return 0, fmt.Errorf("one number follows %s, such as %[1]s 12", words[0])
}

// passed returns the moment at which all has happened up to a time.
func passed(time election.Ticks) moment {
	return func(t *told, after int) (last int, found bool) {
		if !t.Clock {
			return 0, false
		}
		for i := range t.Steps {
			if !time.Less(t.Steps[i].Time) {
				last = i + 1
			}
		}
		return last, last > after
	}
}

// messageMoment reads message 7 is sent, arrives, or is lost.
func messageMoment(words []string) (moment, error) {
	number, err := one(words[:min(2, len(words))])
	if err != nil {
		return nil, err
	}
	var is func(s *trace.Step) bool
	switch strings.Join(words[2:], " ") {
	case "is sent":
		is = func(s *trace.Step) bool {
			for i := range s.Sent {
				if s.Sent[i].Message == number {
					return true
				}
			}
			return false
		}
	case "arrives":
		is = func(s *trace.Step) bool { return s.Event == trace.Receive && s.Message == number }
	case "is lost":
		is = func(s *trace.Step) bool { return s.Event == trace.Lost && s.Message == number }
	default:
		return nil, fmt.Errorf("a message is sent, arrives, or is lost: message %d arrives", number)
	}
	return func(t *told, after int) (int, bool) {
		for i := max(0, after); i < len(t.Steps); i++ {
			if is(&t.Steps[i]) {
				return i + 1, true
			}
		}
		return 0, false
	}, nil
}

// inWords returns the moment of a step whose line of the story has these words, in this order. If the first word is the name of
// a process, the step is one of that process.
func inWords(words []string) moment {
	return func(t *told, after int) (int, bool) {
		for i := max(0, after); i < len(t.Steps); i++ {
			line := t.lines[i]
			if t.names[words[0]] {
				if line[0] == words[0] && inOrder(words[1:], line[1:]) {
					return i + 1, true
				}
			} else if inOrder(words, line[1:]) {
				return i + 1, true
			}
		}
		return 0, false
	}
}

// bare returns a word without the marks around it.
func bare(word string) string { return strings.Trim(word, "⟨⟩,;") }

// inOrder reports whether a line has the words, in this order.
func inOrder(words, line []string) bool {
	for _, word := range line {
		if len(words) > 0 && word == words[0] {
			words = words[1:]
		}
	}
	return len(words) == 0
}

// tell returns a run with its steps in words.
func tell(r *trace.Record) (*told, error) {
	lines, err := r.Lines()
	if err != nil {
		return nil, err
	}
	t := &told{Record: r, lines: make([][]string, len(lines)), names: map[string]bool{}}
	for i, line := range lines {
		words := strings.Fields(line.Event + " " + line.Effects)
		for k := range words {
			words[k] = bare(words[k])
		}
		t.lines[i] = append([]string{line.Process}, words...)
		t.names[line.Process] = true
	}
	return t, nil
}

// Place finds the steps of all stops. run makes the run of a chapter. The error names the file and the line of a stop that
// the run does not have.
func (s *Story) Place(run func(Scenario) (*trace.Record, error)) error {
	for i := range s.Chapters {
		c := &s.Chapters[i]
		record, err := run(c.Run)
		if err == nil {
			err = c.place(record)
		} else {
			err = fmt.Errorf("%d: %w", c.line, err)
		}
		if err != nil {
			return fmt.Errorf("%s.md:%w", s.Name, err)
		}
	}
	return nil
}

// errNoMoment reports a stop that a run does not have.
var errNoMoment = errors.New("the run has no such moment")

func (c *Chapter) place(record *trace.Record) error {
	t, err := tell(record)
	if err != nil {
		return fmt.Errorf("%d: %w", c.line, err)
	}
	after := -1
	for i := range c.Stops {
		s := &c.Stops[i]
		find, err := momentOf(s.Moment)
		if err != nil {
			return fmt.Errorf("%d: %w", s.line, err)
		}
		step, found := find(t, after)
		if !found && after <= 0 {
			return fmt.Errorf("%d: %w: %s", s.line, errNoMoment, excerpt(s.Moment))
		} else if !found {
			return fmt.Errorf("%d: %w after step %d, where the stop before is: %s", s.line, errNoMoment, after, excerpt(s.Moment))
		}
		s.Step, after = step, step
	}
	return nil
}
