package studies

import (
	"fmt"
	"strconv"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/worstcase"
)

// Worst is a costly input that was searched for.
type Worst struct {
	Options    *worstcase.Options
	Parameters []string // as they were given: name=value
	Program    string   // what the program is called in a shell
	*worstcase.Result
}

// Words returns the run of what was found: the algorithm, and flags as --name=value.
func (r *Worst) Words() []string {
	i := &r.Input
	words := []string{r.Options.Entry.Name, "--ids=" + report.Commas(len(i.IDs), func(p int) uint64 { return i.IDs[p] })}
	if i.Wake != nil {
		words = append(words, "--wake="+strings.Join(wakes(i), ","))
	}
	if len(i.Unwilling) > 0 {
		words = append(words, "--unwilling="+report.Commas(len(i.Unwilling), func(k int) uint64 { return i.IDs[i.Unwilling[k]] }))
	}
	for _, parameter := range r.Parameters {
		words = append(words, "--param="+parameter)
	}
	if d := r.Options.Entry.Declaration; d.Starts == election.Together && len(i.Unwilling) > 0 {
		words = append(words, r.choices(d)...) // else run lets processes start at any time, because of --unwilling
	}
	return words
}

// choices are the flags of the choices that were not given.
func (r *Worst) choices(d *election.Declaration) (words []string) {
	set, err := r.Options.Entry.Set(r.Options.Parameters)
	if err != nil {
		return nil
	}
	for _, parameter := range d.Parameters {
		choice, isChoice := parameter.(*election.Choice)
		if _, given := r.Options.Parameters[parameter.String()]; isChoice && !given {
			words = append(words, "--param="+choice.Name+"="+set.Text(choice.Name))
		}
	}
	return words
}

// call is the run of what was found, in a shell.
func (r *Worst) call() string {
	call := []string{r.Program, "run"}
	for _, word := range r.Words() {
		name, value, isFlag := strings.Cut(word, "=")
		if call = append(call, name); isFlag {
			call = append(call, report.ShellWord(value))
		}
	}
	return strings.Join(call, " ")
}

// wakes are the times at which processes wake; - is never.
func wakes(i *worstcase.Input) []string {
	all := make([]string, len(i.Wake))
	for p, at := range i.Wake {
		if all[p] = at.String(); at == election.Forever {
			all[p] = "-"
		}
	}
	return all
}

// parameters returns the JSON of the parameters, which were set before.
func (r *Worst) parameters() report.Object {
	set, err := r.Options.Entry.Set(r.Options.Parameters)
	if err != nil {
		return nil
	}
	return report.Parameters(set)
}

// perProcess is the cost divided by the number of processes.
func (r *Worst) perProcess() float64 { return float64(r.Cost.Lo) / float64(r.Options.Size) }

// JSON returns what was found for programs.
func (r *Worst) JSON() any {
	s := r.Options
	result := report.Object{
		{"algorithm", s.Entry.Name},
		{"n", s.Size},
		{"topology", s.Entry.Topology.String()},
		{"start", "all"},
		{"of", s.Measure.String()},
		{"seed", s.Seed},
		{"parameters", r.parameters()},
		{"exact", r.Exact},
		{"tries", r.Tries},
		{"largest", r.Cost},
		{"times_n", r.perProcess()},
		{"ids", r.IDs},
	}
	if r.Wake != nil {
		result = append(result, report.Field{"wake", wakes(&r.Input)})
	}
	if s.Measure == worstcase.Phase {
		result = append(result, report.Field{"phase", r.Phase})
	}
	unwilling := make([]uint64, len(r.Unwilling))
	for k, q := range r.Unwilling {
		unwilling[k] = r.IDs[q]
	}
	return append(result, report.Field{"unwilling", unwilling}, report.Field{"replay", r.call()})
}

// Text prints what was found for people.
func (r *Worst) Text(p *report.Printer) error {
	s := r.Options
	what := map[worstcase.Measure]string{
		worstcase.Phase: amount.Word(r.Cost, "message") + fmt.Sprintf(" in phase %d", r.Phase), worstcase.Elections: amount.Word(r.Cost, "election message"),
		worstcase.Total: amount.Word(r.Cost, "message"), worstcase.Elected: amount.Word(r.Cost, "unit") + " until a leader decides",
	}[s.Measure]
	inputs, largest := fmt.Sprintf("%s, seed %d", amount.Of(r.Tries, "input"), s.Seed), "largest found"
	if r.Orders {
		inputs, largest = "all "+amount.Of(r.Tries, "order"), "exact worst case"
		if !r.Exact {
			inputs, largest = fmt.Sprintf("%s, each with one draw of its random choices, seed %d", inputs, s.Seed), "lower bound"
		}
		if s.Entry.Counts == election.CountsVary {
			inputs += ", schedule fifo"
		}
	}
	fmt.Fprintf(p.Out, "%s · ring of %d · %s\n\n", p.Paint().Text(report.Bold, s.Entry.Title), s.Size, inputs)
	fmt.Fprintf(p.Out, "%s: %s %s, %s n\n$ %s\n", largest, r.Cost, what, strconv.FormatFloat(r.perProcess(), 'g', 4, 64), r.call())
	return nil
}
