package study

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/work"
	"ringleader.example/ringleader/verify"
)

type verifyOptions struct {
	plan.Input
	verify.Options // what the flags of faults set
	maxStates      int
	most           int // of a range of sizes; 0: one size
	memory         plan.ByteCount
	reduce         string
	usual          []string // the parameters that have the declared values for verify, as NAME=VALUE
	clockError     string
	from           string // a saved run
	at             int    // the step of it from which on
	probabilities  bool
	gallery        bool
	counterexample
	willing plan.Waking
	plan.Ranks
	plan.Results
	labour.Work
}

// Verify returns the command that tries every schedule.
func Verify(p *plan.Program) *plan.Command {
	var o verifyOptions
	command := &cobra.Command{
		Use:     "verify ALGORITHM",
		GroupID: option.GroupStudy,
		Short:   "Try every schedule, and show the shortest run that violates a property",
		Long: `Try every schedule, and check these properties: there is one leader, the right one; processes decide as
declared, and all have decided at the end; the messages are within the declared bound; every election
can end. With --n every distinct order of identifiers is tried. A violation is shown as a story with the
fewest steps; --draw draws it. Declared bounds on time and on averages are not judged: --n 2..5 --extremes
shows them beside what was found.

What an algorithm declares is checked: any set of initiators, and links that are not FIFO, unless it
demands otherwise. Where that is more than 200 000 states, less is checked. Faults that it survives, other
networks of its kind, votes, priorities, unwilling processes, longer delays, and other identifiers where it
computes with them or they may be equal, are checked with their flags only. The result says what is left out,
with a flag that checks it. With --extremes, --out, --shard and --nats all processes initiate
and links are FIFO unless flags say otherwise. Schedules and orders that differ in nothing that matters
are tried once; --reduce none tries all. Parameters that are not given have the values that the algorithm
declares for verify, if any, so that there are finitely many states; the result names them.

Faults come at any moment, as often as their flags allow. Each combination is tried, also outside the
algorithm's fault model; the result then names the faults that it does not tolerate. A cut is of a link,
one way or both, or between two sides. It begins and ends at any moment, and ends for sure. What is sent or
would arrive meanwhile is lost, and processes may suspect each other until it ends.

With --lazy no event of an algorithm with leases is urgent: messages and timers take any time, and time
passes at any moment. That covers pauses, slow disks and unbounded delays. Only safety is judged then.

With --from what else could have happened is tried from a step of a saved run on: of one of explain
--export, or of a walk. It is in lazy time, in steps of --pace units. Terms and renewals that are limited
leave finitely many states.

With --out what was found in each order is kept on disk. If the check is interrupted, the same command
continues it. --shard checks one part of the orders of several; ringleader merge joins them. With --nats
workers on any number of machines check the orders; ringleader worker starts one.

Exit status: 0 every property holds, or no random walk violates one; 1 a property is violated; 3 not finished;
64 the call was wrong.`,
		Example: `  ringleader verify lcr --n 4
  ringleader verify ring-bully --n 4 --start any
  ringleader verify peterson --n 9 --start all
  ringleader verify franklin --n 4 --reorder --reduce none
  ringleader verify lcr --n 2..7 --extremes
  ringleader verify bully --n 3 --crash 1 --recover 1
  ringleader verify bully --n 3 --cut 1
  ringleader verify quorum-bully --n 3 --priorities 0,1,1 --lazy --param terms=1,renewals=1,lease=2,rho=0,renewal=1,asking=no
  ringleader verify bully --n 3 --start every-set --param answer-timeout=2 --draw wrong.svg
  ringleader verify itai-rodeh-synchronous --n 5 --param choices=2 --probabilities
  ringleader verify bully --n 5 --crash 2 --cut 1 --random 1000 --seed 7 --save bad.json
  ringleader verify --from incident.json --at 40 --param terms=9,renewals=1
  ringleader verify lcr --n 9 --out orders
  ringleader verify lcr --n 9 --shard 3/16 --out part3
  ringleader verify lcr --n 10 --nats nats://10.0.0.1:4222
  ringleader verify --gallery
  ringleader verify --gallery bully-under-a-cut --draw cut.svg`,
	}
	o.Input.Flags(command, p)
	o.Ranks.Flags(command)
	o.willing.FlagUnwilling(command)
	command.ValidArgsFunction = p.OneOf(plan.AnyAlgorithm)
	o.Results.Flags(command, "the violation")
	o.counterexample.flags(command)
	o.Work.Define(command, p.Printer)
	f := command.Flags()
	f.Lookup("n").Value = Sizes{&o.N, &o.most}
	f.BoolVar(&o.Extremes, "extremes", false, "exact extremes and means of messages and time over all orders and schedules, with runs that attain them; --n 2..8 prints a table")
	f.StringVar(&o.Start, "start", "", "initiators: all or ID,…, before other events; any: the schedule decides; every-set: each set in turn; each: all, at any time before their first message (default as the algorithm declares)")
	for _, fault := range []struct {
		number     *int
		name, text string
	}{
		{&o.Crashes, "crash", "number of crashes, of any process, at any moment"},
		{&o.Recoveries, "recover", "number of recoveries"},
		{&o.Losses, "lose", "number of messages that are lost"},
		{&o.Options.Duplicates, "duplicate", "number of messages that arrive twice"},
		{&o.Cuts, "cut", "number of cuts"},
		{&o.Suspicions, "suspect-falsely", "number of suspicions of live processes"},
		{&o.Commands, "resign", "number of times that a host asks its process to resign"},
	} {
		option.Number(f, fault.number, fault.name, "", 0, fault.text)
	}
	f.BoolVar(&o.Wardens, "wardens", false, "a crash ends the work of the process too, and a proof of that may reach each other process at any time")
	f.BoolVar(&o.Unordered, "reorder", false, "links are not FIFO: messages may overtake each other")
	f.BoolVar(&o.Unordered, "non-fifo", false, "the same as --reorder, as run calls it")
	option.Positive(f, &o.Delay, "delay", "of timed algorithms: messages take 1 to this many units (default the parameter delay, or 1)")
	f.BoolVar(&o.Lazy, "lazy", false, "of algorithms with leases: messages and timers take any time, and only safety is judged")
	f.StringVar(&o.clockError, "clock-error", "0", "with --lazy: by which part clocks are fast or slow, such as 1/10; time passes in steps of 10 units then")
	option.Positive(f, &o.Pace, "pace", "with --lazy: number of units that pass at once; a greater one tries fewer schedules (default 1)")
	from := f.Lookup("from")
	from.Value = &runOrTime{from.Value, &o.from}
	from.Usage = "a FILE: go on from this saved run, such as one of explain --export. A number: show the violation from this time on, or from this step without a clock"
	f.IntVar(&o.at, "at", -1, "with --from: after which step of that run; 0 is its beginning (default the last one)")
	f.Var(&o.memory, "memory", "stop before the program takes more memory: a number of bytes, or one with KiB, MiB or GiB (default 4GiB)")
	option.Positive(f, &o.maxStates, "max-states", "stop at this many states of one order (default no limit)")
	option.Positive(f, &o.MaxDepth, "max-depth", "stop at states that so many steps lead to (default 20000)")
	option.Positive(f, &o.Cores, "cores", "number of cores to use, at most 4096; the result does not depend on it (default all)")
	f.StringVar(&o.reduce, "reduce", "auto", "auto: whatever of these applies; none: the whole state space; confluence: one schedule of each order, if it decides all; partial-order: events of one process first, where no other one interferes; symmetry: one of the orders and states that are alike")
	f.BoolVar(&o.Exact, "exact", false, "tell states apart by 128 bits, even if there are more than 10 million of them in one order")
	f.BoolVar(&o.Rotations, "rotations", false, "on a ring: try every order, and not only one of those that are rotations of each other")
	f.BoolVar(&o.gallery, "gallery", false, "check elections that are broken on purpose: all, or one by NAME, with its story")
	f.BoolVar(&o.probabilities, "probabilities", false, "exact probabilities and means over all random choices, instead of properties")
	option.Offer(command, "start", "all", "any", "every-set", "each")
	option.Offer(command, "reduce", reductions...)
	return p.CarriesOut(&plan.Command{Command: command, Plan: func(args []string) (plan.Study, error) { return o.plan(p, command, args) }, Working: &o.Work})
}

// plan returns the study that the flags ask for.
func (o *verifyOptions) plan(p *plan.Program, command *cobra.Command, args []string) (plan.Study, error) {
	if o.gallery {
		return o.planGallery(p, args)
	}
	if o.from != "" {
		return o.planFrom(p, args)
	}
	if o.at >= 0 {
		return nil, errors.New("--at is for --from")
	}
	e, err := p.OneAlgorithm(command, args)
	switch {
	case err != nil:
		return nil, err
	case o.most > 0:
		return o.planTable(o.Form(e))
	}
	return o.planCheck(o.Form(e))
}

// reductions are the values of --reduce, by their numbers.
var reductions = []string{verify.NoReduction.String(), verify.AnyReduction.String(), verify.Confluence.String(), verify.PartialOrder.String(), verify.Symmetry.String()}

func (o *verifyOptions) options(e *catalogue.Entry) (verify.Options, error) {
	v := o.Options
	v.MaxStates, v.Memory, v.Cores = o.maxStates, uint64(o.memory), cmp.Or(o.Cores, runtime.GOMAXPROCS(0))
	v.SafetyOnly = e.Leased // its elections never end
	rate, err := faults.ParseChance(o.clockError)
	if err != nil {
		return v, fmt.Errorf("--clock-error: %w", err)
	}
	v.ClockError = rate
	reduction := slices.Index(reductions, o.reduce)
	if reduction < 0 {
		return v, fmt.Errorf("--reduce is %s, not %.40q", strings.Join(reductions, ", "), o.reduce)
	}
	v.Reduce = verify.Reduction(reduction)
	o.bound(e)
	i, err := o.Input.Setup(e)
	if err == nil {
		err = cmp.Or(o.Rank(e, &i, o.Given), o.willing.Reluctant(e, &i))
	}
	if err != nil {
		return v, err
	}
	if most := i.IDs.Len() + max(0, o.Recoveries); o.Crashes > most {
		return v, fmt.Errorf("--crash %d is more than can happen: each of %s crashes once, and once more after each recovery; use --crash %d",
			o.Crashes, amount.Of(i.IDs.Len(), "process"), most)
	}
	v.Setup = i
	switch o.Start {
	case "every-set":
		v.Starts = verify.EverySet
	case "each":
		v.Starts = verify.Each
	default:
		var anyTime bool
		if v.Initiators, anyTime, err = o.Input.Initiators(i); err != nil {
			return v, err
		}
		if anyTime {
			v.Starts = verify.AnyTime
		}
	}
	if o.IDs == "" && o.Order == "" { // every order
		if v.Initiators != nil && e.Topology != election.Complete {
			return v, fmt.Errorf("--start %s needs one order: give --ids or --order", o.Start)
		}
		if i.Unwilling != nil {
			return v, errors.New("--unwilling needs one order: give --ids or --order")
		}
		if o.Scores != "" && e.Topology != election.Complete {
			return v, errors.New("--scores need one order: give --ids or --order")
		}
		if e.Identifiers != election.Anonymous {
			v.Shift = int64(v.Setup.IDs.At(0) - 1) // of --first
		}
		v.Size, v.Setup.IDs = o.N, nil
	}
	return v, nil
}

// bound gives parameters that are not given the values that the algorithm declares for verify.
func (o *verifyOptions) bound(e *catalogue.Entry) {
	if o.usual != nil || o.probabilities || o.Extremes {
		return
	}
	o.usual = []string{}
	for _, parameter := range e.Parameters {
		name := parameter.String()
		value, declared := e.Checked[name]
		if !declared || slices.ContainsFunc(o.Parameters, func(given string) bool { return strings.HasPrefix(given, name+"=") }) {
			continue
		}
		o.usual = append(o.usual, name+"="+value)
	}
	o.Parameters = append(slices.Clip(o.Parameters), o.usual...)
}

// planCheck plans a check of one algorithm at one size.
func (o *verifyOptions) planCheck(e *catalogue.Entry) (plan.Study, error) {
	if err := errors.Join(o.Results.Check(), o.Work.Check()); err != nil {
		return nil, err
	}
	v, err := o.options(e)
	if err != nil {
		return nil, err
	}
	if flag := o.Kept(); flag != "" && (o.probabilities || o.random > 0 || o.Wardens) {
		return nil, fmt.Errorf("%s is for what is found in each order; leave it out with --probabilities, --random and --wardens", flag)
	}
	if o.probabilities {
		return &chances{e, o, v}, nil
	}
	return &verification{e: e, o: o, v: v}, nil
}

// chances is the study of probabilities over all random choices.
type chances struct {
	e *catalogue.Entry
	o *verifyOptions
	v verify.Options
}

// Job is that of a [plan.Study].
func (*chances) Job() (*labour.Assignment, error) { return nil, plan.ErrNoJob }

// Answer is that of an [plan.Answerable].
func (c *chances) Answer(ctx context.Context, p *plan.Program, _ labour.Doer) (*plan.Finding, error) {
	bar := p.WatchStates(ctx, &c.v)
	found, err := verify.Probabilities(c.e.Program, c.v)
	bar.Done()
	if err != nil && ctx.Err() != nil {
		return nil, report.Stopped("stopped before the end")
	}
	if err != nil {
		return nil, err
	}
	return &plan.Finding{Results: []report.Result{&report.Chances{Checked: c.o.checked(c.e, &c.v), Chances: found}}}, nil
}

// CarryOut is that of a [plan.Study].
func (c *chances) CarryOut(ctx context.Context, p *plan.Program, by labour.Doer) error {
	found, err := c.Answer(ctx, p, by)
	if err != nil {
		return err
	}
	return c.o.Put(p, found)
}

// verification is the study of every schedule, or of random walks.
type verification struct {
	e *catalogue.Entry
	o *verifyOptions
	v verify.Options

	settled bool // the options are those of all pieces
}

// Job is that of a [plan.Study]. It is of all orders.
func (s *verification) Job() (*labour.Assignment, error) {
	if s.o.random > 0 || s.v.Wardens {
		return nil, plan.ErrNoJob
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	orders, err := s.orders()
	if err != nil {
		return nil, err
	}
	return s.all(orders), nil
}

// Answer is that of an [plan.Answerable].
func (s *verification) Answer(ctx context.Context, p *plan.Program, by labour.Doer) (*plan.Finding, error) {
	found, err := s.explore(ctx, p, by)
	if err != nil {
		return nil, err
	}
	f := &plan.Finding{
		Results: []report.Result{found}, Verdict: s.o.verdict(ctx, found.Report),
		Page: func() (plan.SavedRun, error) { return s.o.reproducing(s.e, found) },
	}
	if shown, _ := found.Shown(); shown != nil {
		f.Record, f.Witness = &shown.Record, f.Page
	}
	return f, nil
}

// CarryOut is that of a [plan.Study].
func (s *verification) CarryOut(ctx context.Context, p *plan.Program, by labour.Doer) error {
	found, err := s.Answer(ctx, p, by)
	if err != nil {
		return err
	}
	err = s.o.Put(p, found)
	if s.o.save != "" {
		err = errors.Join(err, keep(p, s.o.save, found))
	}
	return cmp.Or(err, found.Verdict)
}

// explore tries every schedule, or makes random walks, and makes smaller what was found on request.
func (s *verification) explore(ctx context.Context, p *plan.Program, by labour.Doer) (*report.Verification, error) {
	bar := p.WatchStates(ctx, &s.v)
	defer bar.Done()
	var r *verify.Report
	var err error
	if s.o.random > 0 {
		var wide []verify.Options
		if s.v.Moment == nil {
			wide, err = s.wider()
		}
		if len(wide) > 0 {
			s.v = wide[0]
		}
		if err == nil {
			r, err = verify.Walks(s.e.Program, s.v, s.o.random, s.o.Seed)
		}
	} else {
		r, err = s.tryDeclared(ctx, p, by)
	}
	if err != nil {
		return nil, err
	}
	return s.o.found(s.e, s.v, r), nil
}

// open returns what the options assume because no flag says otherwise.
func (o *verifyOptions) open() (open verify.Assumption) {
	if o.Start == "" {
		open = verify.InitiatorsFirst
	}
	if !o.set.Changed("reorder") && !o.set.Changed("non-fifo") {
		open |= verify.OrderedLinks
	}
	return open
}

// wider returns options that are nearer to what the algorithm declares, the nearest first.
func (s *verification) wider() ([]verify.Options, error) {
	unneeded, err := verify.Unneeded(s.e.Program, s.v, s.o.open())
	return s.v.Wider(unneeded), err
}

// mostOrders is the largest number of orders that are all explored: a thousand cores with a thousand orders a second each
// need twelve days for them.
const mostOrders = 1e12

// orders returns all orders.
func (s *verification) orders() (*verify.Orders, error) {
	orders, err := verify.NewOrders(s.e.Program, s.v)
	if err != nil {
		return nil, err
	}
	if orders.Len() > mostOrders {
		return nil, fmt.Errorf("every order of %d processes is more than 10¹² orders: up to 15 processes on a ring have fewer; --ids or --order gives one order, and --random makes walks", s.v.Size)
	}
	return orders, nil
}

// tryDeclared tries every schedule that the algorithm declares to bear, or as much of that as is not too large. It sets the options
// to those that were tried.
func (s *verification) tryDeclared(ctx context.Context, p *plan.Program, by labour.Doer) (*verify.Report, error) {
	if s.v.Moment != nil {
		return s.e.Verify(s.v)
	}
	orders, err := s.orders()
	switch {
	case err != nil:
		return nil, err
	case s.o.Extremes:
		return s.tryAll(ctx, p, by, orders)
	case by.Keeps():
		if err := s.settle(); err != nil {
			return nil, err
		}
		if orders, err = s.orders(); err != nil {
			return nil, err
		}
		return s.tryAll(ctx, p, by, orders)
	}
	wide, r, err := s.tryWider()
	if r == nil && err == nil {
		return s.tryAll(ctx, p, by, orders)
	}
	s.v = wide
	return r, err
}

// tryWider tries every schedule under the widest of the options that the algorithm declares to bear, as far as that is not too large. The report is nil if
// each of them is too large. If processes may initiate at any time, tryCounts also judges the declared counts.
func (s *verification) tryWider() (wide verify.Options, r *verify.Report, err error) {
	all, err := s.wider()
	if err != nil {
		return wide, nil, err
	}
	for _, wide := range all {
		r, err := s.e.Verify(wide)
		if errors.Is(err, verify.ErrOptions) { // the reduction that was asked for needs what the algorithm does not
			continue
		}
		if err != nil || r.Limit != verify.StateLimit || r.Violation != nil {
			return s.tryCounts(wide, r, err)
		}
	}
	return wide, nil, nil
}

// tryCounts judges counts that an exploration without a violation has left open. It returns what it is given, or an exploration with a violation.
func (s *verification) tryCounts(wide verify.Options, r *verify.Report, err error) (verify.Options, *verify.Report, error) {
	first := wide
	if first.Starts = s.v.Starts; err != nil || r.Violation != nil || first.Starts == wide.Starts {
		return wide, r, err
	}
	if open, err := verify.CountsOpen(s.e.Program, wide); !open {
		return wide, r, err
	}
	if of, err := s.e.Verify(first); err != nil || of.Violation != nil {
		return first, of, err
	}
	return wide, r, nil
}

// settle sets the flags that all pieces of work have in common: with them, each piece tries what the whole would.
func (s *verification) settle() error {
	if s.settled || s.o.Extremes {
		return nil
	}
	s.settled = true
	wide, r, err := s.tryWider()
	if err != nil || r == nil {
		return err
	}
	if wide.Starts != s.v.Starts {
		err = s.o.set.Set("start", "any")
	}
	if wide.Unordered && !s.v.Unordered {
		err = errors.Join(err, s.o.set.Set("reorder", "true"))
	}
	s.v.Starts, s.v.Unordered = wide.Starts, wide.Unordered
	return err
}

// tryAll tries every schedule. Many orders are work in pieces. Of few, each is explored by all cores, unless the results are
// kept.
func (s *verification) tryAll(ctx context.Context, p *plan.Program, by labour.Doer, orders *verify.Orders) (*verify.Report, error) {
	if s.v.Wardens || !by.Keeps() && orders.Len() < 2*uint64(s.v.Cores) {
		return s.e.Verify(s.v)
	}
	parts, err := by.Do(ctx, p.Printer, s.all(orders))
	if err != nil {
		return nil, err
	}
	part := new(verify.Part)
	for i := range parts {
		later := new(verify.Part)
		if err := json.Unmarshal(parts[i].Result, later); err != nil {
			return nil, err
		}
		part.Join(later)
	}
	return orders.Report(part)
}

// all is the exploration of all orders as work.
func (s *verification) all(orders *verify.Orders) *labour.Assignment {
	return &labour.Assignment{
		Cores: s.v.Cores, Kind: "verify", Task: allOrders{orders}, Units: "orders",
		Words: func() ([]string, error) { return plan.JobWords("verify", []string{s.e.Name}, s.o.set) },
	}
}

// allOrders is an exploration as work whose units are orders.
type allOrders struct{ *verify.Orders }

// Units is that of a [work.Task].
func (c allOrders) Units() uint64 { return c.Len() }

// Compute is that of a [work.Task].
func (c allOrders) Compute(ctx context.Context, p work.Piece) ([]byte, error) {
	part, err := c.Explore(ctx, p.From, p.To)
	if err != nil {
		return nil, err
	}
	return json.Marshal(part)
}

// Join is that of a [work.Task].
func (allOrders) Join(first, second []byte) ([]byte, error) {
	var a, b verify.Part
	if err := errors.Join(json.Unmarshal(first, &a), json.Unmarshal(second, &b)); err != nil {
		return nil, err
	}
	a.Join(&b)
	return json.Marshal(&a)
}

// Ends is that of a [work.Ending].
func (allOrders) Ends(result []byte) bool {
	var part verify.Part
	return json.Unmarshal(result, &part) == nil && part.Stop != nil
}

// verdict returns the error of a result, by which the exit status is known.
func (o *verifyOptions) verdict(ctx context.Context, r *verify.Report) error {
	switch {
	case r.Violation != nil:
		return report.ErrNo
	case o.random > 0 && !r.Stopped:
		return nil
	case ctx.Err() != nil:
		return report.Stopped("stopped after %s", amount.Of(r.States, "state"))
	case !r.Complete:
		infinite := ""
		if r.Growing != "" {
			infinite = "the states seem to be without end, since a field grows: " + r.Growing + "; "
		}
		return report.Stopped("not finished after %s; %s%s allows more", amount.Of(r.States, "state"), infinite, allowing(r))
	}
	return nil
}

// allowing returns the option with the limit that was reached.
func allowing(r *verify.Report) string {
	switch r.Limit {
	case verify.MemoryLimit:
		return "--memory"
	case verify.DepthLimit:
		return "--max-depth"
	}
	return "--max-states"
}

// checked is what a check is of.
func (o *verifyOptions) checked(e *catalogue.Entry, v *verify.Options) report.Checked {
	start := o.Start
	if start == "" {
		start = v.Starts.String()
	}
	return report.Checked{Entry: e, Size: o.Input.Size(), Start: start, Seed: o.Seed, Options: v, Usual: o.usual}
}
