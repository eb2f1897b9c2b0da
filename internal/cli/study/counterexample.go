package study

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// counterexample holds how a violation is searched for by chance, made smaller and kept.
type counterexample struct {
	random int
	shrink bool
	save   string
	set    *pflag.FlagSet
}

func (c *counterexample) flags(command *cobra.Command) {
	f := command.Flags()
	option.Positive(f, &c.random, "random", "make this many random walks instead of a search, by --seed, and shrink what they find")
	f.BoolVar(&c.shrink, "shrink", false, "show the violation with fewer processes, faults and shorter delays, if there is one")
	f.StringVar(&c.save, "save", "", "save the run to the violation into this file, for replay in the simulator")
	c.set = f
}

// found is what a search or random walks found, made smaller on request.
func (o *verifyOptions) found(e *catalogue.Entry, v verify.Options, r *verify.Report) *report.Verification {
	found := &report.Verification{Checked: o.checked(e, &v), Report: r}
	if r.Violation == nil && v.Moment == nil {
		found.Unchecked, found.Unjudged = o.unchecked(e, &v), unjudged(e, &v, r)
	}
	if r.Violation != nil && v.Moment == nil && (o.shrink || o.random > 0) {
		found.Shrunk, found.Small = verify.Shrink(e.Program, v, r.Violation.Property)
	}
	return found
}

// claim is something that an algorithm declares, and the flag with which more of it is checked. It is open if a search has assumed otherwise.
type claim struct {
	open bool
	flag string
}

// unchecked returns the flags that would check the declarations of the algorithm that this search assumes.
func (o *verifyOptions) unchecked(e *catalogue.Entry, v *verify.Options) (flags []string) {
	set, err := e.Set(v.Setup.Parameters)
	if err != nil {
		return nil // the search has refused them
	}
	unneeded, _ := verify.Unneeded(e.Program, *v, o.open())
	d, n := e.With(set), o.Input.Size()
	counts, _ := verify.CountsOpen(e.Program, *v)
	assumed := []claim{
		{unneeded&verify.InitiatorsFirst != 0, "--start any"},
		{counts && o.Start != "" && v.Starts != verify.AllFirst, "--start all"}, // else tryCounts has looked
		{unneeded&verify.OrderedLinks != 0, "--reorder"},
	}
	for _, c := range slices.Concat(assumed, o.shapes(d, n, v), people(d, set, n, v), setbacks(d, n, v)) {
		if c.open {
			flags = append(flags, c.flag)
		}
	}
	return flags
}

// shapes are the claims about networks.
func (o *verifyOptions) shapes(d *election.Declaration, n int, v *verify.Options) []claim {
	return []claim{
		{d.Unoriented && n > 1 && v.Setup.Flipped == nil, "--orientation"},
		{d.Topology == election.UnknownNeighbours && n > 2 && v.Setup.Ports == nil, "--ports"},
		{d.Topology == election.Tree && n > 3 && !o.set.Changed("topology") && !o.set.Changed("edges"), "--topology"},
	}
}

// people are the claims about what tells processes apart, and about the delays of their messages.
func people(d *election.Declaration, set election.Parameters, n int, v *verify.Options) []claim {
	others := d.Identifiers == election.Computed || d.AllowDuplicates != nil && n > 1 // other or equal identifiers
	claims := []claim{
		{others && v.Size > 0, "--ids"},
		{d.Willingness && n > 1 && v.Setup.Unwilling == nil, "--unwilling"},
		{d.Votes && n > 1 && v.Setup.Votes == nil, "--votes"},
		{d.Priorities && n > 1 && v.Setup.Priorities == nil, "--priorities"},
	}
	if d.Delay != nil {
		claims = append(claims, claim{n > 1 && v.Delay <= 1 && d.LongestDelay(set) == election.Units(1), "--param " + d.Delay.Name + "=2"})
	}
	return claims
}

// setbacks are the claims about faults. Costs are of runs without any.
func setbacks(d *election.Declaration, n int, v *verify.Options) []claim {
	survives := d.Survives
	if v.Extremes {
		survives = 0
	}
	return []claim{
		{survives&(election.Crash|election.Recovery) != 0 && v.Crashes == 0, "--crash"},
		{survives&election.Recovery != 0 && v.Recoveries == 0, "--recover"},
		{survives&election.Partition != 0 && n > 1 && v.Cuts == 0, "--cut"},
	}
}

// unjudged returns the declared bounds that a search without a violation has not judged. A search compares bounds with the least and the greatest
// number of messages of all runs. It judges a bound for one initiator, and any bound of an election that goes on, only if one process initiates.
// Bounds hold for distinct identifiers.
func unjudged(e *catalogue.Entry, v *verify.Options, r *verify.Report) (open []*election.Bound) {
	set, err := e.Set(v.Setup.Parameters)
	if err != nil || v.Setup.Duplicates {
		return nil
	}
	d, single := e.With(set), len(v.Initiators) == 1
	for i := range d.Bounds {
		b := &d.Bounds[i]
		counted := b.Of != "time" && b.Case != election.Average && r.MinMessages != nil
		if !counted || !single && (b.OneStart || d.Task != election.Once) {
			open = append(open, b)
		}
	}
	return open
}

// savedOfVerify are the flags of verify that a run has as well, and that mean the same.
var savedOfVerify = []string{"param", "topology", "edges", "orientation", "ports", "priorities", "votes", "wardens", "lazy", "clock-error"}

// keep saves the run to a violation.
func keep(p *plan.Program, path string, found *plan.Finding) error {
	if found.Witness == nil {
		p.Complain("nothing is saved: no property is violated")
		return nil
	}
	run, err := found.Witness()
	if err != nil {
		return err
	}
	return p.ToFile(path, run.Put)
}

// reproducing returns the run to the violation that was found: as the choices of a session, which makes the same steps in the
// simulator.
func (o *verifyOptions) reproducing(e *catalogue.Entry, found *report.Verification) (run plan.SavedRun, err error) {
	shown, options := found.Shown()
	session, kept, err := Following(e, options, &shown.Record)
	if err != nil {
		return run, err
	}
	version, _ := plan.Built()
	if options.Moment != nil {
		s := simulate.Options{Setup: options.Setup, Pace: options.Pace, Wardens: options.Wardens, Faults: faults.Script{Unordered: options.Unordered}, Moment: options.Moment}
		words := append(plan.RecordedWords(e.Name, &s), "--clock-error="+options.ClockError.String())
		return plan.SavedRun{Ringleader: version, Run: words, Choices: plan.SavedChoices(session)}, nil
	}
	var others []string
	o.set.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(savedOfVerify, f.Name) {
			others = append(others, f.Name)
		}
	})
	for _, parameter := range o.usual {
		kept = append(kept, "--param="+parameter)
	}
	return plan.SavedRun{Ringleader: version, Run: slices.Concat([]string{e.Name}, plan.Words(o.set, others), kept), Choices: plan.SavedChoices(session)}, nil
}

// Following returns a session that makes the steps of a violation, and the flags for its network and its start. Parameters and the
// flags of savedOfVerify are not among them.
func Following(e *catalogue.Entry, options *verify.Options, r *trace.Record) (session *simulate.Session, kept []string, err error) {
	s := simulate.Options{Setup: options.Setup, Seed: plan.Seed, AnyTime: e.Starts != election.Together, Wardens: options.Wardens, Faults: faults.Script{Unordered: options.Unordered}, Moment: options.Moment, Pace: options.Pace}
	s.Setup.IDs = election.List(r.IDs)
	if e.Identifiers == election.Anonymous {
		s.Setup.IDs = make(election.List, r.N)
	}
	if e.Timing == election.Timed {
		s.Delay = uint64(max(1, options.Delay))
		if options.Delay > 0 {
			kept = append(kept, fmt.Sprintf("--delay=%d", options.Delay))
		}
	}
	if session, err = e.Session(s); err != nil {
		return nil, nil, err
	}
	if options.Lazy {
		if err := session.BeLazy(options.ClockError); err != nil {
			return nil, nil, err
		}
	}
	if err := session.Follow(r); err != nil {
		return nil, nil, report.Failed("cannot save this run: %w", err)
	}
	if e.Identifiers == election.Anonymous {
		kept = append(kept, fmt.Sprintf("--n=%d", r.N))
	} else {
		kept = append(kept, "--ids="+report.Commas(len(r.IDs), func(q int) uint64 { return r.IDs[q] }))
	}
	if s.AnyTime {
		kept = append(kept, "--start=any")
	}
	if options.Unordered {
		kept = append(kept, "--non-fifo=true")
	}
	return session, kept, nil
}
