package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/cli/run"
	"ringleader.example/ringleader/internal/cli/study"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/experiment"
)

// labCommand returns a command that the lab calls; nil: it does not.
func labCommand(p *plan.Program, name string) *plan.Command {
	switch name {
	case "count":
		return study.Count(p)
	case "compare":
		return study.Compare(p)
	case "run":
		command, o := run.New(p)
		o.Ceiling = labCeiling
		return command
	case "verify":
		return study.Verify(p)
	case "worst":
		return study.Worst(p)
	}
	return nil
}

// labSize is a number of processes: on rings and trees, whose links grow with it, and on complete graphs.
type labSize struct{ sparse, mesh int }

func (s labSize) of(mesh bool) int {
	if mesh {
		return s.mesh
	}
	return s.sparse
}

// mostLabSize are the largest networks of these commands.
var mostLabSize = map[string]labSize{
	"count": {10_000_000, 10_000_000}, "run": {1 << 20, 1 << 10}, "compare": {1 << 20, 1 << 10}, "verify": {64, 64}, "worst": {1 << 10, 1 << 10},
}

// mostLabMemory is the memory of the program at which a check or a run ends.
const mostLabMemory = plan.ByteCount(1 << 30)

// meshed reports whether the links of an algorithm's network grow with the square of its size.
func meshed(e *catalogue.Entry) bool {
	return e.Topology == election.Complete || e.Topology == election.UnknownNeighbours
}

// labAnswer is the answer of a command.
type labAnswer struct {
	Call   string       `json:"call"`
	Status int          `json:"status"`
	Result any          `json:"result"`
	Run    *savedAnswer `json:"run,omitempty"`
}

// savedAnswer is a saved run without the version.
type savedAnswer struct {
	Run     []string    `json:"run"`
	Choices plan.Walked `json:"choices,omitzero"`
}

func (l *laboratory) call(ctx context.Context, a asked) (any, error) {
	var question struct {
		Args []string `json:"args"`
	}
	if err := a.read(&question); err != nil {
		return nil, err
	}
	p := l.program(a.progress)
	s, err := l.planned(p, question.Args)
	if err != nil {
		return nil, err
	}
	return l.answered(ctx, p, s)
}

// answered answers by the result of a study.
func (l *laboratory) answered(ctx context.Context, p *plan.Program, s plan.Answerable) (*labAnswer, error) {
	found, err := s.Answer(ctx, p, &labour.Hands{Work: new(labour.Work)})
	if err != nil {
		return nil, err
	}
	answer := &labAnswer{Call: p.Command}
	if answer.Status, _ = plan.StatusOf(found.Verdict); answer.Status == report.ExitUsage || len(found.Results) == 0 {
		return nil, found.Verdict
	}
	if len(found.Results) > 1 {
		return nil, errors.New("this call prints several results; ask for one")
	}
	answer.Result = p.Headed(found.Results[0])
	if found.Witness != nil {
		if run, err := found.Witness(); err == nil { // some runs cannot be repeated
			answer.Run = &savedAnswer{run.Run, run.Choices}
		}
	}
	return answer, nil
}

// planned returns the study of a call that the lab makes, after a check of its flags.
func (l *laboratory) planned(p *plan.Program, given []string) (plan.Answerable, error) {
	if len(given) == 0 || plan.LabFlags[given[0]] == nil {
		return nil, errors.New("the lab calls count, compare, run, verify and worst")
	}
	name := given[0]
	command := labCommand(p, name)
	p.Adopt(command.Command)
	if err := command.ParseFlags(given[1:]); errors.Is(err, pflag.ErrHelp) {
		return nil, errors.New("the lab shows no help; the command line does")
	} else if err != nil {
		return nil, option.Explain(command.Command, err)
	}
	flags := command.Flags()
	var err error
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(plan.LabFlags[name], f.Name) {
			err = errors.Join(err, fmt.Errorf("the lab does not take --%s; the command line does", f.Name))
		}
	})
	if err == nil {
		err = plan.Harmless(flags)
	}
	if err == nil {
		err = l.affordable(p, command.Command)
	}
	if err == nil {
		err = p.Begin(command.Command, flags.Args())
	}
	if err != nil {
		return nil, err
	}
	s, err := command.Plan(flags.Args())
	if err != nil {
		return nil, err
	}
	study, is := s.(plan.Answerable)
	if !is {
		return nil, errors.New("the lab does not show this; the command line does")
	}
	return study, nil
}

// affordable returns an error for larger networks than the lab takes. It lets verify take a limited memory.
func (l *laboratory) affordable(p *plan.Program, command *cobra.Command) error {
	flags := command.Flags()
	n, err := largest(flags)
	if err != nil {
		return err
	}
	most := mostLabSize[command.Name()]
	mesh := false
	if f := flags.Lookup("topology"); f != nil {
		mesh = f.Value.String() == "complete"
	}
	for _, word := range flags.Args() {
		name, _, _ := strings.Cut(word, ":")
		if e, err := p.Find(name); err == nil { // else the command has a better error
			mesh = mesh || meshed(e)
		}
	}
	if size := most.of(mesh); n > size {
		return fmt.Errorf("%s in the lab takes at most %d processes here; the command line has no such limit", command.Name(), size)
	}
	if f := flags.Lookup("memory"); f != nil {
		if memory := f.Value.(*plan.ByteCount); *memory == 0 || *memory > mostLabMemory {
			return flags.Set("memory", strconv.FormatUint(uint64(mostLabMemory), 10))
		}
	}
	return nil
}

// largest returns the largest number of processes that flags ask for.
func largest(flags *pflag.FlagSet) (n int, err error) {
	if ids := flags.Lookup("ids"); ids != nil && ids.Changed {
		n = strings.Count(ids.Value.String(), ",") + 1
	}
	f := flags.Lookup("n")
	switch value := f.Value.(type) {
	case option.Decimal[int]:
		n = max(n, *value.Value)
	case study.Sizes:
		n = max(n, *value.From, *value.To)
	default:
		if !f.Changed {
			return n, nil
		}
		all, err := experiment.ParseSizes(value.String())
		if err != nil {
			return 0, fmt.Errorf("--n: %w", err)
		}
		n = max(n, slices.Max(all))
	}
	return n, nil
}
