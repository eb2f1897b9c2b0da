package study

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
)

// runOrTime is the value of --from: the name of a file, or the time from which on a violation is drawn.
type runOrTime struct {
	pflag.Value
	file *string
}

// Set implements [pflag.Value].
func (r *runOrTime) Set(text string) error {
	if text == "" || strings.Trim(text, "0123456789") == "" {
		return r.Value.Set(text)
	}
	*r.file = text
	return nil
}

// Type implements [pflag.Value].
func (r *runOrTime) Type() string { return "string" }

// String implements [pflag.Value].
func (r *runOrTime) String() string {
	if r.file != nil && *r.file != "" {
		return *r.file
	}
	return r.Value.String()
}

// fromFlags are the flags of verify that --from leaves: the others are about runs from the beginning on.
var fromFlags = slices.Concat([]string{
	"at", "param", "crash", "recover", "lose", "duplicate", "cut", "suspect-falsely", "resign", "wardens", "reorder", "non-fifo", "lazy", "clock-error", "pace",
	"memory", "max-states", "max-depth", "cores", "exact", "random", "seed", "save",
}, plan.ResultNames)

// planFrom plans a search of what else could have happened from a step of a saved run on.
func (o *verifyOptions) planFrom(p *plan.Program, args []string) (plan.Study, error) {
	if len(args) > 0 {
		return nil, fmt.Errorf("--from takes the algorithm from the file; leave out %.40q", args[0])
	}
	for _, word := range plan.Words(o.set, fromFlags) {
		name, _, _ := strings.Cut(word, "=")
		return nil, fmt.Errorf("with --from all else is as in the file; leave out %s", name)
	}
	if err := o.Results.Check(); err != nil {
		return nil, err
	}
	if p.Reach == nil {
		return nil, errors.New("--from is for the command line: this program reads no files")
	}
	there, err := p.Reach(o.from, o.at)
	if err != nil {
		return nil, err
	}
	v := o.Options
	v.Setup, v.Moment, v.Lazy, v.SafetyOnly, v.Pace = there.Options.Setup, there.Moment, true, true, cmp.Or(v.Pace, there.Options.Pace)
	v.Wardens, v.Unordered = v.Wardens || there.Options.Wardens, v.Unordered || there.Options.Faults.Unordered
	v.MaxStates, v.Memory, v.Cores = o.maxStates, uint64(o.memory), cmp.Or(o.Cores, runtime.GOMAXPROCS(0))
	if v.ClockError, err = faults.ParseChance(o.clockError); err != nil {
		return nil, fmt.Errorf("--clock-error: %w", err)
	}
	v.Setup.Parameters = maps.Clone(v.Setup.Parameters)
	for _, given := range o.Parameters {
		name, value, found := strings.Cut(given, "=")
		if !found {
			return nil, fmt.Errorf("--param %.40q: it is name=value", given)
		}
		if v.Setup.Parameters == nil {
			v.Setup.Parameters = map[string]string{}
		}
		v.Setup.Parameters[name] = value
	}
	o.IDs = report.Commas(v.Setup.IDs.Len(), v.Setup.IDs.At)
	o.Start = fmt.Sprintf("after step %d of %s", there.Steps, o.from)
	return &verification{e: there.Entry, o: o, v: v, settled: true}, nil
}
