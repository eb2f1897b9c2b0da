//go:build !js

package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/show/render"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/show/report/studies"
	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
	"ringleader.example/ringleader/internal/study/prove"
	"ringleader.example/ringleader/proofs"
)

// proveOptions are the flags of prove.
type proveOptions struct {
	drop, guards []string
	solvers      []string
	timeout      time.Duration
	emit, draw   string
	size         int
	recorded     bool
}

// Prove returns the command that proves algorithms for every number of processes.
func Prove(p *plan.Program) *cobra.Command {
	o := &proveOptions{}
	command := &cobra.Command{
		Use:     "prove [MODEL ...]",
		GroupID: option.GroupStudy,
		Short:   "Prove algorithms for every number of processes, with z3 and cvc5",
		Long: `Prove algorithms for every number of processes. A model is an algorithm as a transition system
with invariants: each invariant holds at first, and each action keeps it. MODEL is the name of one
of the models in proofs/, by default all, or a file that ends in .model; package internal/study/logic has
its form. Each solver that is installed tries each obligation. Nothing counts as proved but
what a solver calls unsatisfiable. The column tie says how tests compare the model with the code:
a in all that the checker visits of a few processes, b in runs, c the code itself by solvers.

An axiom that does not hold on small groups is refused. If a model differs from what was proved,
warnings on stderr name its new axioms, which may be false on groups where they were not tried,
actions that are never possible or change nothing, and invariants and safety formulas that follow
from the axioms alone.

--drop leaves out an invariant, and --drop-guard a guard: what is then not proved needs it. On rings
--drop also searches, without a solver, for the smallest state in which all other invariants hold
and a step breaks one. With --solver none it does nothing else, also for a whole model. If there is
none, a larger ring may have one, as --n makes it, or what is lost is no step, but that a lemma or
a safety formula follows.

Install the solvers ` + prove.Install + `.

Exit status: 0 each solver has proved all; 1 something is refuted; 3 something is
neither proved nor refuted, or there is no solver.`,
		Example: "  ringleader prove\n  ringleader prove quorum-bully --solver z3\n  ringleader prove lcr --drop passed --draw lcr.svg\n" +
			"  ringleader prove lcr --drop passed --solver none\n" +
			"  ringleader prove quorum-bully --drop-guard grant-claim:2\n  ringleader prove lcr --emit lcr.smt2\n  ringleader prove --recorded",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return models.Names(), cobra.ShellCompDirectiveDefault
		},
		RunE: func(command *cobra.Command, args []string) error { return proveAll(p, command, args, o) },
	}
	f := command.Flags()
	f.StringSliceVar(&o.drop, "drop", nil, "leave out this invariant, lemma or axiom of the one model; may be repeated")
	f.StringSliceVar(&o.guards, "drop-guard", nil, "leave out this guard, as ACTION:NUMBER from 1; may be repeated")
	f.StringSliceVar(&o.solvers, "solver", nil, "z3 or cvc5 (default: each that is installed), or none")
	f.DurationVar(&o.timeout, "timeout", time.Minute, "how long a solver may take for an obligation")
	f.StringVar(&o.emit, "emit", "", "write the obligations of the one model as SMT-LIB 2 into this file, and run no solver; - is stdout")
	f.StringVar(&o.draw, "draw", "", "draw the counterexample to induction into this .svg, .png or .pdf file; - is stdout, as SVG")
	f.IntVarP(&o.size, "n", "n", plan.UsualRing, "how many processes the ring of the counterexample has: 1 to 5")
	f.BoolVar(&o.recorded, "recorded", false, "run no solver: check that what was proved is what the models are now")
	return command
}

// searches reports whether nothing is asked for but the search of a counterexample to induction.
func (o *proveOptions) searches() bool { return slices.Equal(o.solvers, []string{plan.NoSolver}) }

// check returns an error for flags that do not fit.
func (o *proveOptions) check(models int) error {
	changed := len(o.drop)+len(o.guards) > 0
	switch {
	case models != 1 && (changed || o.emit != "" || o.searches()):
		return errors.New("--drop, --drop-guard, --emit and --solver none are of one model; name it")
	case slices.Contains(o.solvers, plan.NoSolver) && len(o.solvers) > 1:
		return errors.New("--solver none goes with no other solver")
	case o.draw != "" && !changed && !o.searches():
		return errors.New("--draw shows what an invariant is for; leave one out with --drop")
	case o.recorded && (changed || o.emit != "" || len(o.solvers) > 0):
		return errors.New("--recorded runs no solver and changes nothing; leave out the other flags")
	case o.timeout <= 0:
		return fmt.Errorf("--timeout %v leaves no time", o.timeout)
	case o.size < 1 || o.size > 5:
		return fmt.Errorf("--n %d is not 1 to 5", o.size)
	}
	for _, name := range o.solvers {
		if !slices.Contains(prove.Solvers, name) && name != plan.NoSolver {
			return fmt.Errorf("--solver %s is not one of %s, %s", logic.Plain(name), strings.Join(prove.Solvers, ", "), plan.NoSolver)
		}
	}
	return option.Drawable("draw", o.draw, render.Formats)
}

// modelNamed returns the model of a name or a file.
func modelNamed(name string) (*logic.Model, error) {
	if !strings.HasSuffix(name, ".model") {
		return models.Load(name)
	}
	dir := filepath.Dir(name)
	m, err := logic.Load(os.DirFS(dir), proofs.Files, filepath.Base(name))
	if why := report.Reason(err); why != err {
		return nil, fmt.Errorf("cannot read %s: %w", logic.Plain(name), why)
	}
	return m, err
}

// planOf returns what is to be proved of a model and, if that is not recorded, what should not be so. It prints what is doubtful about the model.
func planOf(p *plan.Program, name string, o *proveOptions) (all, vacuous *prove.Plan, err error) {
	m, err := modelNamed(name)
	if err == nil {
		m, err = m.Without(o.drop, o.guards)
	}
	if err != nil {
		return nil, nil, err
	}
	unsure, err := models.TooStrong(m)
	if err != nil {
		return nil, nil, report.Failed("%w", err)
	}
	all = prove.Obligations(m)
	record, err := models.Record(m.Name)
	if err != nil || record.Hash != all.Hash() {
		vacuous = prove.Vacuous(m)
		for _, warning := range unsure.Warnings() {
			p.Complain(m.Name + ": " + warning)
		}
		if len(m.Safety) == 0 {
			p.Complain(m.Name + ": no safety formula says what its theorem says")
		}
	}
	if err != nil || record.Covers(all) != nil && !o.recorded {
		m.Ties = nil // the code is not compared with this
	}
	return all, vacuous, nil
}

func proveAll(p *plan.Program, command *cobra.Command, names []string, o *proveOptions) error {
	if len(names) == 0 {
		names = models.Names()
	}
	if err := o.check(len(names)); err != nil {
		return err
	}
	var plans []*prove.Plan
	vacuous := map[*prove.Plan]*prove.Plan{} // of models without a valid record
	for _, name := range names {
		plan, void, err := planOf(p, name, o)
		if err != nil {
			return err
		}
		plans, vacuous[plan] = append(plans, plan), void
	}
	switch {
	case o.emit != "":
		return p.ToFile(o.emit, func(w io.Writer) error { _, err := io.WriteString(w, plans[0].Script()); return err })
	case o.recorded:
		return proveRecorded(p, plans)
	case o.draw != "" && !models.IsRing(plans[0].Model):
		return fmt.Errorf("%s is not of a ring, so there is no ring to draw", plans[0].Model.Name)
	}
	if o.searches() {
		return searched(p, plans[0].Model, o)
	}
	found := proveWith(p, command, plans, vacuous, o)
	if len(o.drop)+len(o.guards) > 0 && models.IsRing(plans[0].Model) {
		if o.draw != "-" {
			fmt.Fprintln(p.Out)
		}
		switch refuted, err := induction(p, plans[0].Model, o); {
		case err != nil:
			return err
		case refuted:
			return answered(p, found)
		}
	}
	return found
}

// answered returns the error of a command that has shown a counterexample, whatever the solvers said. It prints why they said nothing.
func answered(p *plan.Program, solvers error) error {
	if exit := (report.ExitError{}); errors.As(solvers, &exit) && exit.Err != nil {
		p.Complain(exit.Error())
	}
	return report.ErrNo
}

// searched searches for a counterexample to induction, which refutes, and runs no solver.
func searched(p *plan.Program, m *logic.Model, o *proveOptions) error {
	if !models.IsRing(m) {
		return fmt.Errorf("%s is not of a ring, so it is searched by solvers only", m.Name)
	}
	switch found, err := induction(p, m, o); {
	case err != nil:
		return err
	case found:
		return report.ErrNo
	}
	return report.ExitError{Code: report.ExitIncomplete}
}

// proveRecorded compares models with what was proved.
func proveRecorded(p *plan.Program, plans []*prove.Plan) error {
	for _, plan := range plans {
		name := plan.Model.Name
		record, err := models.Record(name)
		if err == nil {
			err = record.Covers(plan)
		}
		if err != nil {
			return report.Failed("%w", err)
		}
		for _, run := range record.Runs {
			fmt.Fprintf(p.Out, "%-20sproved by %-13s tie %s\n", name, run.Solver+" "+run.Version, plan.Model.Tied())
		}
	}
	return nil
}

// briefly is how long a solver looks for each warning.
const briefly = 200 * time.Millisecond

// warn prints the warnings of a model, as far as a solver finds them soon, and ends the bar.
func warn(p *plan.Program, command *cobra.Command, s *prove.Solver, vacuous *prove.Plan, bar *report.Progress) error {
	result, err := s.Prove(command.Context(), vacuous, prove.Options{Limit: briefly, Once: true, Progress: func(done int) {
		bar.Show("%s: %s looks for what says nothing, %d of %d", vacuous.Model.Name, s.Name, done, vacuous.Proved())
	}})
	bar.Done()
	if err != nil {
		return report.Stopped("%w", err)
	}
	for _, warning := range vacuous.Warnings(result) {
		p.Complain(vacuous.Model.Name + ": " + warning)
	}
	return nil
}

// proveWith runs the solvers and prints the table. Vacuous are plans of [prove.Vacuous] for some plans.
func proveWith(p *plan.Program, command *cobra.Command, plans []*prove.Plan, vacuous map[*prove.Plan]*prove.Plan, o *proveOptions) error {
	solvers, err := proveSolvers(command.Context(), p, o.solvers)
	if err != nil {
		return err
	}
	for _, s := range solvers {
		if others := otherVersions(s, plans); len(others) > 0 {
			p.Complain(fmt.Sprintf("%s is %s here; what is recorded was proved by %s", s.Name, s.Version, strings.Join(others, ", ")))
		}
	}
	studies.ProofHead(p.Out, solvers)
	refuted, open, bar := false, false, p.Progress()
	for _, plan := range plans {
		found := &studies.Proof{Plan: plan}
		for _, s := range solvers {
			result, err := s.Prove(command.Context(), plan, prove.Options{Limit: o.timeout, Progress: func(done int) {
				bar.Show("%s: %s %d of %d", plan.Model.Name, s.Name, done, plan.Proved())
			}})
			if err != nil {
				bar.Done()
				return report.Stopped("nothing of %s is proved: %w", plan.Model.Name, err)
			}
			found.Results = append(found.Results, result)
		}
		bar.Done()
		if v := vacuous[plan]; v != nil {
			if err := warn(p, command, solvers[0], v, bar); err != nil {
				return err
			}
		}
		_ = p.Fit(func(p *report.Printer) error { found.Row(p.Out); return nil }) // Out keeps an error
		refuted, open = refuted || found.Refuted(), open || !found.Proved()
		if command.Context().Err() != nil {
			return report.Stopped("stopped")
		}
	}
	switch {
	case refuted:
		return report.ErrNo
	case open:
		return report.ExitError{Code: report.ExitIncomplete}
	}
	return nil
}

// otherVersions returns the versions of a solver that have proved some models, without its own.
func otherVersions(s *prove.Solver, plans []*prove.Plan) (versions []string) {
	for _, plan := range plans {
		record, err := models.Record(plan.Model.Name)
		if err != nil {
			continue
		}
		for _, run := range record.Runs {
			if run.Solver == s.Name && run.Version != s.Version && !slices.Contains(versions, run.Version) {
				versions = append(versions, run.Version)
			}
		}
	}
	return versions
}

// proveSolvers returns the solvers of names, or without names all that are installed. It prints a line for each one that is missing. If all are
// missing, the error is the only line.
func proveSolvers(ctx context.Context, p *plan.Program, names []string) (solvers []*prove.Solver, err error) {
	asked, missing := len(names) > 0, []error(nil)
	if !asked {
		names = prove.Solvers
	}
	for _, name := range names {
		switch s, err := prove.Find(ctx, name); {
		case err == nil:
			solvers = append(solvers, s)
		case asked:
			return nil, report.Stopped("%s; nothing is proved", err)
		default:
			missing = append(missing, err)
		}
	}
	if len(solvers) == 0 {
		if i := slices.IndexFunc(missing, func(err error) bool { return !errors.Is(err, exec.ErrNotFound) }); i >= 0 {
			return nil, report.Stopped("no solver can be run, so nothing is proved: %s", missing[i])
		}
		return nil, report.Stopped("no solver is installed, so nothing is proved; %s", prove.Install)
	}
	for _, err := range missing {
		p.Complain(err.Error())
	}
	return solvers, nil
}

// mostStates is how many states a search for a counterexample to induction tries.
const mostStates = 4_000_000

// induction shows the smallest counterexample to induction of a model of a ring, and reports whether there is one.
func induction(p *plan.Program, m *logic.Model, o *proveOptions) (bool, error) {
	found, err := models.Counterexample(m, o.size, plan.MostFacts, mostStates)
	large, many := (*finite.TooLargeError)(nil), (*finite.TooManyError)(nil)
	switch {
	case errors.As(err, &large):
		return false, report.Stopped("%w", err)
	case errors.As(err, &many):
		p.Complain(fmt.Sprintf("no counterexample to induction on %s %s. %s", amount.Of(o.size, "process"), many, models.WhyNone(m, o.size, plan.MostFacts, mostStates)))
		return false, nil
	case err != nil:
		return false, err
	case found == nil:
		said := fmt.Sprintf("no counterexample to induction on %s with up to %d facts", amount.Of(o.size, "process"), plan.MostFacts)
		if len(o.drop)+len(o.guards) > 0 {
			said += ". " + models.WhyNone(m, o.size, plan.MostFacts, mostStates)
		}
		p.Complain(said)
		return false, nil
	}
	shown := studies.Counterexample{Counterexample: found}
	if o.draw != "-" {
		_ = p.Fit(func(p *report.Printer) error { shown.Print(p.Out); return nil }) // Out keeps an error
	}
	if o.draw == "" {
		return true, nil
	}
	return true, p.ToFile(o.draw, func(w io.Writer) error { return render.Write(w, shown.Drawing(), render.Format(o.draw)) })
}
