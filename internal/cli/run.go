package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/simulate"
)

type runOptions struct {
	input
	timing, schedule string
	delay            uint64
	until, limit     uint64
	scenario         string
	story            bool
	save             string
	waking
	checking
	faultFlags
	overOptions
	anonymous bool
	results
}

func (p *program) run() *cobra.Command {
	var o runOptions
	command := &cobra.Command{
		Use:     "run [ALGORITHM]",
		GroupID: groupStudy,
		Short:   "Run one election, simulated or over TCP, and count what it costs",
		Long: `Run one election on a simulated network and say who leads, what it cost and whether that
keeps the bound that its source states. One seed is one run, on every machine.

An asynchronous run has a schedule, which picks the link that delivers next:
  fifo           the one with the oldest message, so that all delays are one unit
  lifo           the one written last
  random         any that is not empty
  round-robin    one after the other
  random-delay   as random delays have it, from 256 to 65536 ticks of a clock
  sweep, tile    process by process, tile by tile: the same counts, faster on large rings
  max-messages, max-time   greedy adversaries
  burns          the adversary of Burns' lower bound, who keeps one edge of the ring shut
A timed run has delays of 1 to --delay units, and a synchronous one delays of one unit. Both have a
clock, and so do fifo and random-delay.

What goes wrong is said in lines, each in a --fault, or all in a file for --faults, where # begins a
comment. Times need a clock; without from and until a fault lasts from 0 on, and for ever.
  dead 3                                     crash 7 at 30
  recover 7 at 80                            crash 7 at 30 after 2 sends
  partition 1,2 | 3,4 from 30 until 150      partition 1 | others
  cut 1 -> 2 from 10 until 20                pause 3 from 10 until 50
  slow 3 by 4 from 0 until 100               suspect 2 of 5 from 10 until 20
  drift 4 by 11/10                           reorder
  lose 1/20                                  duplicate 1/50
  random 2 crashes, 1 recovery, 1 partition, 1 cut, 1 slow, 1 pause, 1 suspicion until 500
A crash after so many sends comes amid the next step that sends more. Processes that a partition does
not name keep their links. A slow process's messages take so many times as long; one that pauses
stands still. What random draws, the seed decides. An algorithm need not claim to survive a fault; if
it breaks, the result says so, and how to replay it.

With --over tcp nothing is simulated: the processors are joined by TCP connections on this machine, and
the system's schedule is what it is. Counts that depend on no schedule are the same. A timed algorithm's
unit is then a duration, a synchronous one keeps rounds by markers, which are counted apart, and
processes can only be dead. With --over processes each has an operating-system process of its own.

With --anonymous all processes of a ring have one identifier, or those of --ids, which may repeat. All start
together and every message takes one unit; after each the states of those whom nothing tells apart are
compared. Unless they choose by chance they are equal for ever, so that all lead or none does.

Exit status: 0 one leader, the right one, agreed; 1 not so; 2 the call was wrong; 3 stopped early.`,
		Example: `  ringleader run lcr --ids 5,4,3,2,1
  ringleader run ring-bully --n 1000000 --order random --seed 7
  ringleader run lcr --n 8 --order random --schedule random --start any --draw lcr.svg
  ringleader run franklin --n 256 --order decreasing --schedule burns
  ringleader run peterson --n 7 --order random --non-fifo --schedule random --seed 16
  ringleader run bully --ids 1,2,3,4,5,6,7 --dead 7 --start 4
  ringleader run bully --n 5 --crash 5@30 --recover 5@60 --trace bully.jsonl
  ringleader run bully --n 5 --fault "partition 1,2 | 3,4,5 from 30 until 90"
  ringleader run bully --n 7 --fault "random 2 crashes, 1 recovery until 100" --seed 3
  ringleader run hirschberg-sinclair --n 100 --order random --over tcp
  ringleader run lcr --n 5 --anonymous
  ringleader run odd-pair --ids 7,5,5,7,5,5,5
  ringleader run --scenario s2-figures-2.7-2.8
  ringleader run lcr --ids 5,4,3,2,1 --story
  ringleader run bully --n 7 --fault "random 2 crashes until 100" --seed 3 --save bad-day.json`,
		RunE: func(command *cobra.Command, args []string) error {
			args, err := o.played(command, args)
			if err != nil {
				return err
			}
			e, err := p.oneAlgorithm(command, args)
			if err != nil {
				return err
			}
			e = o.form(e)
			if o.anonymous {
				return p.runAnonymous(command, e, &o)
			}
			if o.over != "" || command.Flags().Changed("unit") {
				return p.runOver(command, e, &o)
			}
			return p.simulate(command.Context(), e, &o)
		},
	}
	o.input.flags(command, p.algorithms)
	o.results.flags(command, "the run")
	f := command.Flags()
	f.BoolVar(&o.duplicates, "allow-duplicate-ids", false, "see what equal identifiers do")
	f.StringVar(&o.start, "start", "", "who starts before the first delivery: all, or ID,…; any: the schedule decides when (default all)")
	o.waking.flags(command)
	o.checking.flags(command)
	f.StringVar(&o.timing, "timing", "", "asynchronous, timed or synchronous (default what the algorithm assumes)")
	f.StringVar(&o.schedule, "schedule", "fifo", "of an asynchronous run: "+strings.Join(simulate.Schedules, ", "))
	f.Uint64Var(&o.delay, "delay", 0, "of a timed run: messages take 1 to this many units (default the parameter delay, or 1)")
	o.faultFlags.flags(command)
	o.overOptions.flags(command)
	f.BoolVar(&o.anonymous, "anonymous", false, "give all the same identifier, or those of --ids, and compare all states in lock-step: Angluin's impossibility")
	f.StringVar(&o.scenario, "scenario", "", "a run that has a name, told as a story; see ringleader scenarios")
	f.BoolVar(&o.story, "story", false, "first tell the run, a line a step")
	f.Uint64Var(&o.until, "until", 0, "a run with a clock ends at this time (default when all is quiet, or must have settled)")
	f.Uint64Var(&o.limit, "limit", 0, "stop after so many deliveries and timeouts; 0: never (default never; at 100 million or 4n³ with faults or timeouts, since some never end; over connections at 10000 or 4n³)")
	f.StringVar(&o.save, "save", "", "save the run with all that it depends on into this file, for ringleader replay")
	_ = command.RegisterFlagCompletionFunc("timing", fixed("asynchronous", "timed", "synchronous"))
	_ = command.RegisterFlagCompletionFunc("schedule", fixed(simulate.Schedules...))
	_ = command.RegisterFlagCompletionFunc("start", fixed("all", "any"))
	_ = command.RegisterFlagCompletionFunc("scenario", fixed(runScenarioNames()...))
	return command
}

// options turns flags into options of the simulator.
func (o *runOptions) options(e *catalogue.Entry, stdin io.Reader) (simulate.Options, error) {
	i, err := o.instance(e)
	if err != nil {
		return simulate.Options{}, err
	}
	o.atAnyTime(e.Declaration, o.start, i.Parameters)
	if err = o.reluctant(e, &i); err != nil {
		return simulate.Options{}, err
	}
	s := simulate.Options{
		Instance: i, Delay: o.delay, Seed: o.seed, Until: election.Units(o.until), Limit: o.limit,
		Record: o.recorded() || o.story, Cores: runtime.GOMAXPROCS(0),
	}
	timing := int(e.Timing)
	if o.timing != "" {
		if timing, err = word("timing", o.timing, "asynchronous", "timed", "synchronous"); err != nil {
			return s, err
		}
		if election.Timing(timing) < e.Timing {
			return s, fmt.Errorf("%s needs a %s network; --timing %s is too weak", e.Name, e.Timing, o.timing)
		}
	}
	s.Timing = election.Timing(timing)
	schedule, err := word("schedule", o.schedule, simulate.Schedules...)
	if err != nil {
		return s, err
	}
	s.Schedule = simulate.Schedule(schedule)
	if s.Initiators, s.AnyTime, err = o.initiators(i); err != nil {
		return s, err
	}
	if s.Wake, err = o.wakeUps(o.start, i.IDs.Len()); err != nil {
		return s, err
	}
	s.Faults, err = o.faults(i, stdin)
	if !o.of.Changed("limit") {
		s.Limit = o.patience(e, &s)
	}
	return s, err
}

func (p *program) simulate(ctx context.Context, e *catalogue.Entry, o *runOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.save == "-" {
		return errors.New("--save writes a file for ringleader replay; stdout has the result")
	}
	s, err := o.options(e, p.stdin)
	if err != nil {
		return err
	}
	checked, err := o.records(e, s.Instance.IDs.Len())
	if err != nil {
		return err
	}
	s.Record, s.Values = s.Record || checked, checked
	bar := p.progress()
	s.Progress = func(deliveries uint64) bool {
		bar.show("%d million deliveries", deliveries/1_000_000)
		return ctx.Err() == nil
	}
	r, err := e.Simulate(s)
	bar.done()
	if err != nil {
		return o.locate(err, e, s.Instance)
	}
	if err := o.checking.run(e, &s, r); err != nil {
		return err
	}
	if o.save != "" {
		if err := p.toFile(o.save, o.saved(e, &s, r.Prepared).put); err != nil {
			return err
		}
	}
	err = o.put(p, r.Record, func() object { return resultJSON(e, o, &s, r) }, func() error {
		if err := p.tell(o, r.Record); err != nil {
			return err
		}
		return p.resultText(e, o, &s, r)
	})
	switch {
	case err != nil:
		return err
	case !r.Complete:
		return exitError{exitIncomplete, stopped(ctx, r.Deliveries)}
	case !r.Right || len(r.Faults) > 0 || o.failed():
		return exitError{code: exitNo}
	}
	return nil
}

// stopped is the error of a run that a limit or the caller stopped.
func stopped(ctx context.Context, deliveries uint64) error {
	if ctx.Err() != nil {
		return fmt.Errorf("stopped after %d deliveries, before the end", deliveries)
	}
	return fmt.Errorf("stopped after %d deliveries, before the end; --limit allows more", deliveries)
}

// arranged is who stood where in the run: Burns' adversary has a say in that.
type arranged struct{ *network.Instance }

func (a arranged) Len() int               { return a.Size() }
func (a arranged) At(position int) uint64 { return a.Real(position) }
func (a arranged) Dense() bool            { return false }

// identity is how results show on what was run.
func identity(e *catalogue.Entry, in *input, ids election.Arrangement) object {
	result := object{{"algorithm", e.Name}, {"n", ids.Len()}}
	if e.Identifiers == election.Anonymous {
		return result
	}
	if in.ids == "" {
		name := in.order
		if name == "" {
			name = "increasing"
		}
		result = append(result, field{"order", name})
		if in.first != 1 {
			result = append(result, field{"first", in.first})
		}
	}
	if ids.Len() <= shownIDs || in.ids != "" {
		list := make([]uint64, ids.Len())
		for q := range list {
			list[q] = ids.At(q)
		}
		result = append(result, field{"ids", list})
	}
	return result
}

func resultJSON(e *catalogue.Entry, o *runOptions, s *simulate.Options, r *simulate.Result) object {
	result := append(identity(e, &o.input, arranged{r.Prepared}), field{"timing", r.Timing.String()})
	switch r.Timing {
	case election.Asynchronous:
		result = append(result, field{"schedule", s.Schedule.String()})
	case election.Timed:
		result = append(result, field{"delay", r.Delay})
	}
	result = append(result, field{"seed", o.seed}, field{"parameters", parameters(r.Prepared.Parameters)})
	result = append(result, votesJSON(r.Prepared)...)
	result = append(result, wakingJSON(s)...)
	result = append(result, outcomeJSON(e.Declaration, &r.Outcome)...)
	if r.Time != nil {
		result = append(result, field{"time", times(r.Time.Elected, r.Time.Decided, r.Time.Quiet)})
	}
	if b := worst(r.Prepared.Declaration(), r.Starters, r.Disturbed); b != nil {
		result = append(result, field{"bound", bound(b, r.Messages, len(r.Decisions))})
	}
	if r.Open != nil {
		result = append(result, field{"open", object{{"messages", r.Open.Messages}, {"claim", r.Open.Claim}}})
	}
	if losing(&r.Script) {
		result = append(result, field{"lost", r.Lost}, field{"duplicated", r.Duplicated})
	}
	if len(r.Faults) > 0 {
		result = append(result, field{"violations", r.Faults})
	}
	result = append(result, faultsJSON(e, o, r)...)
	result = append(result, o.checksJSON()...)
	return append(result, field{"complete", r.Complete})
}

// outcomeJSON is how results show what came of a run: who leads, and what it cost.
func outcomeJSON(d *election.Declaration, r *outcome.Outcome) object {
	leaders := make([]uint64, 0, len(r.Leaders))
	for _, q := range r.Leaders {
		leaders = append(leaders, r.Identifier(q))
	}
	var leader, position any
	if q, one := r.Leader(); one {
		position = q
		if !r.Anonymous() {
			leader = leaders[0]
		}
	}
	result := object{
		{"leader", leader},
		{"leader_position", position},
		{"leaders", leaders},
		{"live", r.Live},
		{"decided", r.Decided},
		{"agreed", r.Agreed},
		{"messages", messages(d, r.Messages)},
	}
	if r.ByPhase != nil {
		result = append(result, field{"by_phase", r.ByPhase})
	}
	return result
}

// networkOf describes the network of a run: asynchronous one-directional ring of 5.
func networkOf(d *election.Declaration, timing election.Timing, n int) string {
	way := ""
	if d.OneWay {
		way = "one-directional "
	}
	return fmt.Sprintf("%s %s%s of %d", timing, way, d.Topology, n)
}

// underTitle writes who takes part and how, on one line if there is room.
func (p *program) underTitle(who, how string) {
	if utf8.RuneCountInString(who) > 30 {
		fmt.Fprintf(p.stdout, "  %s\n  %s\n\n", who, how)
		return
	}
	fmt.Fprintf(p.stdout, "  %s%*s%s\n\n", who, 31-utf8.RuneCountInString(who), "", how)
}

// lineUp writes the processes, clockwise on a ring.
func lineUp(d *election.Declaration, ids election.Arrangement, dead func(int) bool) string {
	const shown = 12
	separator := " "
	switch {
	case d.Topology == election.Ring && d.OneWay:
		separator = " → "
	case d.Topology == election.Ring:
		separator = " ↔ "
	}
	var b strings.Builder
	for q := range min(ids.Len(), shown) {
		if d.Identifiers == election.Anonymous {
			b.WriteString("○")
		} else {
			fmt.Fprint(&b, ids.At(q))
		}
		if dead(q) {
			b.WriteString("†")
		}
		b.WriteString(separator)
	}
	if ids.Len() > shown {
		b.WriteString("…")
	}
	return strings.TrimSuffix(b.String(), " ")
}

func (p *program) resultText(e *catalogue.Entry, o *runOptions, s *simulate.Options, r *simulate.Result) error {
	paint, w, n := p.paintOn(p.stdout), p.stdout, len(r.Decisions)
	dead := map[int]bool{}
	for _, q := range r.Dead {
		dead[q] = true
	}
	how := whoStarts(&r.Outcome, s.Initiators, s.AnyTime)
	if s.Wake != nil {
		how = fmt.Sprintf("%d of %d wake by themselves", r.Starters, n)
	}
	switch r.Timing {
	case election.Asynchronous:
		how += ", schedule " + s.Schedule.String()
	case election.Timed:
		how += fmt.Sprintf(", delays 1 to %d", r.Delay)
	}
	fmt.Fprintf(w, "%s · %s · %s\n", paint.text(bold, e.Title), networkOf(e.Declaration, r.Timing, n), e.Source)
	p.underTitle(lineUp(e.Declaration, arranged{r.Prepared}, func(q int) bool { return dead[q] }), fmt.Sprintf("%s, seed %d", how, o.seed))

	verdict, colour := p.verdict(r.Prepared.Declaration(), &r.Outcome)
	fmt.Fprintln(w, paint.text(colour, verdict))
	after := ""
	if r.Time != nil {
		after = fmt.Sprintf("   in %s units of delay", r.Time.Quiet)
	}
	p.tally(r.Prepared)
	counts(w, e.Declaration, worst(r.Prepared.Declaration(), r.Starters, r.Disturbed), r.Messages, n, after)
	if r.Open != nil {
		fmt.Fprintf(w, "  %-12s %*d   deliveries before the last edge is opened; at least (n lg n)/4 + 1/2 = %g\n", "open", 6, r.Open.Messages, r.Open.Claim)
	}
	if losing(&r.Script) {
		fmt.Fprintf(w, "  %-12s %*d\n  %-12s %*d\n", "lost", 6, r.Lost, "duplicated", 6, r.Duplicated)
	}
	for _, fault := range r.Faults {
		fmt.Fprintln(w, paint.text(red, fault))
	}
	p.faultsText(e, o, s, r)
	p.checksText(&o.checking)
	return nil
}

// whoStarts says who starts.
func whoStarts(r *outcome.Outcome, initiators []int, anyTime bool) string {
	switch {
	case anyTime:
		return "each starts when the schedule likes"
	case initiators == nil:
		return "all start"
	case len(initiators) > 8:
		return fmt.Sprintf("%d processes start", len(initiators))
	}
	names := make([]string, len(initiators))
	for i, q := range initiators {
		names[i] = fmt.Sprint(r.Identifier(q))
	}
	if len(names) == 1 {
		return names[0] + " starts"
	}
	return strings.Join(names, ", ") + " start"
}

// verdict says in a line who leads.
func (p *program) verdict(d *election.Declaration, r *outcome.Outcome) (text, colour string) {
	who := "all"
	if len(r.Dead) > 0 {
		who = "all live"
	}
	leader, one := r.Leader()
	name := fmt.Sprint(r.Identifier(leader))
	if r.Anonymous() {
		name = "at position " + name
	} else if d.AllowDuplicates != nil { // identifiers may repeat
		name = fmt.Sprintf("%s at position %d", name, leader)
	}
	switch {
	case len(r.Leaders) == 0:
		return fmt.Sprintf("no leader; %d of %d decided", r.Decided, r.Live), red
	case !one:
		names := make([]string, len(r.Leaders))
		for i, q := range r.Leaders {
			names[i] = fmt.Sprint(r.Identifier(q))
		}
		return fmt.Sprintf("%d leaders: %s; not agreed", len(names), strings.Join(names, ", ")), red
	case !r.Agreed:
		return fmt.Sprintf("leader %s, not agreed; %d of %d decided", name, r.Decided, r.Live), red
	case !r.Right:
		return fmt.Sprintf("leader %s, agreed by %s %d, but it should be the one with %s", name, who, r.Live, d.Winner), red
	case d.Decides == election.LeaderOnly:
		return fmt.Sprintf("leader %s; nobody else learns it", name), green
	}
	return fmt.Sprintf("leader %s, agreed by %s %d", name, who, r.Live), green
}
