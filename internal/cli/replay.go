package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// savedRun is a run in a file: the version that saved it, and the call, with all that it read from other
// files. A call means the same run in every later version.
type savedRun struct {
	Ringleader string   `json:"ringleader"`
	Run        []string `json:"run"` // the algorithm, and flags as --name=value

	Choices []savedChoice `json:"choices,omitempty"` // the events of a run that was walked with --step
}

// mostSaved is the largest size of a saved run in bytes: enough for the longest list of identifiers.
const mostSaved = 64 << 20

// unsaved are the flags of run that are not part of the run itself: where results go, and what it reads
// from other files, which is saved instead. So replaying another person's file reads and writes no other file.
var unsaved = slices.Concat([]string{"step", "walk", "save", "scenario", "over", "unit", "faults", "scores", "help"}, resultNames, storyNames)

// words returns the given flags, as --name=value, except those in without.
func words(flags *pflag.FlagSet, without []string) []string {
	var all []string
	flags.Visit(func(f *pflag.Flag) {
		if slices.Contains(without, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			all = append(all, "--"+f.Name+"="+value)
		}
	})
	return all
}

// saved returns the run of these options, for a file.
func (o *runOptions) saved(e *catalogue.Entry, s *simulate.Options, p *network.Instance) savedRun {
	i := s.Instance
	without := slices.Concat(unsaved, faultNames)
	var more []string
	if i.Votes != nil { // the order of voters is that of the instance
		without = append(without, "ids", "votes")
		if o.ids != "" {
			more = append(more, "--ids="+report.Commas(i.IDs.Len(), i.IDs.At))
		}
		more = append(more, "--votes="+report.Commas(len(i.Votes), func(q int) uint64 { return i.Votes[q] }))
	}
	for _, line := range s.Faults.Lines(p) {
		more = append(more, "--fault="+line)
	}
	version, _ := built()
	return savedRun{Ringleader: version, Run: slices.Concat([]string{cmp.Or(o.called, e.Name)}, words(o.of, without), more)}
}

// put writes a saved run.
func (s savedRun) put(w io.Writer) error {
	line, err := report.PlainJSON(s)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// readSaved reads and validates a saved run.
func (p *program) readSaved(path string) (savedRun, error) {
	var s savedRun
	wrong := func(err error) (savedRun, error) { return s, fmt.Errorf("%s is not a saved run: %w", path, err) }
	in := p.stdin
	if path == "-" {
		path = "stdin"
	} else {
		file, err := os.Open(path)
		if err != nil {
			return s, fmt.Errorf("cannot read %s: %w", path, report.Reason(err))
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, mostSaved+1))
	switch {
	case err != nil:
		return s, fmt.Errorf("cannot read %s: %w", path, report.Reason(err))
	case len(text) == 0:
		return wrong(errors.New("it is empty"))
	case len(text) > mostSaved:
		return wrong(fmt.Errorf("it has more than %d bytes", mostSaved))
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var kind *json.UnmarshalTypeError
	if err := decoder.Decode(&s); errors.As(err, &kind) {
		return wrong(errors.New(`it is not like {"ringleader":"1.0","run":["lcr","--n=5"]}`))
	} else if err != nil {
		return wrong(err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return wrong(errors.New("data follows its end"))
	}
	if err := s.check(p.run().Flags()); err != nil {
		return wrong(err)
	}
	return s, nil
}

// check returns an error for words that are not the algorithm and then known flags of a run, none of which names a file.
func (s *savedRun) check(known *pflag.FlagSet) error {
	if len(s.Run) == 0 {
		return errors.New(`it has no "run": the algorithm, and flags as --name=value`)
	}
	for _, word := range s.Run[1:] {
		name, value, found := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if _, err := numbers(value); name == "votes" && err != nil { // else it would name a file
			return fmt.Errorf("--votes: %w", err)
		}
		if !found || !strings.HasPrefix(word, "--") || known.Lookup(name) == nil || slices.Contains(unsaved, name) {
			return fmt.Errorf("%.40q is not a --name=value of a run", word)
		}
	}
	return nil
}

// parsed gives the flags of the command run the values of a saved run and further ones, and notes the call.
func (p *program) parsed(run *cobra.Command, s *savedRun, more ...string) error {
	if err := run.ParseFlags(slices.Concat(s.Run[1:], more)); err != nil {
		return err
	}
	p.adopt(run)
	p.Command = p.callOf(run, s.Run[:1])
	return nil
}

func (p *program) replay() *cobra.Command {
	var o struct {
		storyFlags
		results
	}
	command := &cobra.Command{
		Use:     "replay FILE",
		GroupID: option.GroupStudy,
		Short:   "Repeat a run that run --save has saved",
		Long: `Repeat a run that run --save has saved: the same algorithm, network, schedule and faults, and so the same
run to the last step. FILE is - for stdin. A replay reads no other files.`,
		Example: `  ringleader run bully --n 7 --fault "random 2 crashes until 100" --seed 3 --save bad-day.json
  ringleader replay bad-day.json
  ringleader replay bad-day.json --draw bad-day.svg`,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s takes one file, which run --save has written", command.CommandPath())
			}
			s, err := p.readSaved(args[0])
			if err != nil {
				return err
			}
			run, o := p.runCommand()
			if err := p.parsed(run.Command, &s, words(command.Flags(), nil)...); err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if s.Choices != nil {
				if err := run.Flags().Set("step", "true"); err != nil {
					return err
				}
			}
			o.replayed = s.Choices
			again, err := run.plan(s.Run[:1])
			if err != nil {
				return err
			}
			return p.carryOut(command.Context(), again, &labour.Hands{Work: run.working})
		},
	}
	o.results.flags(command, "the run")
	o.storyFlags.flags(command)
	return command
}
