package electiontest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/outcome"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// Options holds the limits of the suite.
type Options struct {
	Sizes      []int               // numbers of processes to simulate; nil: 1 to 9
	Runs       int                 // random runs for each size and timing; 0: 20
	Verify     int                 // the largest number of processes to check over every schedule; 0: 3, -1: none
	Parameters []map[string]string // the settings to try; nil: the defaults
}

// Conform runs the suite over an algorithm.
func Conform[S, M any](t *testing.T, a election.Algorithm[S, M], o Options) {
	t.Helper()
	if err := a.Validate(); err != nil {
		t.Fatal(err)
	}
	conform(t, &a.Declaration, o, func(t *testing.T, d *election.Declaration, pure bool) program.Program {
		t.Helper()
		a := a
		a.Declaration = *d
		if pure {
			a = Pure(a)
		}
		return small(t, a)
	})
}

// small hides the types of an algorithm, without the loops for large networks, which take most of the compile time.
func small[S, M any](t testing.TB, a election.Algorithm[S, M]) program.Program {
	t.Helper()
	p, err := program.Of(&a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// conform runs the suite over an algorithm with that declaration. of returns its program with another one, or that of [Pure].
func conform(t *testing.T, d *election.Declaration, o Options, of func(t *testing.T, d *election.Declaration, pure bool) program.Program) {
	t.Helper()
	of(t, d, false) // it fails if the types are not plain
	if o.Sizes == nil {
		o.Sizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	}
	if o.Runs == 0 {
		o.Runs = 20
	}
	if o.Verify == 0 {
		o.Verify = 3
	}
	if o.Parameters == nil {
		o.Parameters = []map[string]string{nil}
	}
	for _, parameters := range o.Parameters {
		t.Run(fmt.Sprint("parameters ", parameters), func(t *testing.T) {
			set, err := d.Set(parameters)
			if err != nil {
				t.Fatal(err)
			}
			d := *d.With(set)
			bounds := d.Bounds
			d.Bounds = nil // each bound has its own test, so that a broken one fails no other test
			a := of(t, &d, false)
			whole := new(made)
			t.Run("task is kept under every timing", func(t *testing.T) { runs(t, a, o, parameters, nil, whole, judge) })
			if d.Survives != 0 {
				t.Run("task is kept after the last crash", func(t *testing.T) { runs(t, a, o, parameters, crashes, nil, judge) })
			}
			if d.Counts != election.CountsVary {
				t.Run("counts depend on no schedule, as declared", func(t *testing.T) { runs(t, a, o, parameters, nil, whole, fixed()) })
			}
			t.Run("one seed is one run", func(t *testing.T) { repeats(t, a, slices.Max(o.Sizes), parameters) })
			t.Run("steps are pure", func(t *testing.T) {
				runs(t, of(t, &d, true), Options{Sizes: []int{1, 2, 5}, Runs: 3}, parameters, nil, nil, judge)
			})
			var reports []report
			for n := 1; n <= o.Verify; n++ {
				reports = append(reports, once(func() (*verify.Report, error) { return verify.Program(of(t, &d, false), every(&d, n, parameters)) }))
				t.Run(fmt.Sprint("every schedule of ", n), func(t *testing.T) { holds(t, reports[n-1]) })
			}
			for i := range bounds {
				if b := &bounds[i]; b.Of != "time" && b.Case != election.Average {
					t.Run(fmt.Sprintf("%s case of %s messages is %s", b.Case, b.Of, b.Formula), func(t *testing.T) {
						runs(t, a, o, parameters, nil, whole, func(_ *election.Declaration, _ *simulate.Options, r *simulate.Result) string { return breaks(b, r) })
						d := d
						d.Bounds = bounds[i : i+1]
						bounded(t, of(t, &d, false), parameters, reports)
					})
				}
			}
		})
	}
	t.Run("every declared kind is sent", func(t *testing.T) { kinds(t, of(t, d, false), o) })
}

// Settings returns all combinations of the words of an algorithm's parameters.
func Settings(d *election.Declaration) []map[string]string {
	all := []map[string]string{{}}
	for _, parameter := range d.Parameters {
		p, is := parameter.(*election.Choice)
		if !is {
			continue
		}
		var longer []map[string]string
		for _, setting := range all {
			for _, word := range p.Words {
				with := maps.Clone(setting)
				with[p.Name] = word
				longer = append(longer, with)
			}
		}
		all = longer
	}
	return all
}

// timings are the ways to run an algorithm that its declaration allows.
func timings(d *election.Declaration) (all []simulate.Options) {
	defer func() {
		if d.Starts == election.Together {
			all = slices.DeleteFunc(all, func(o simulate.Options) bool { return o.AnyTime })
		}
	}()
	if d.Timing == election.Asynchronous {
		for _, schedule := range []simulate.Schedule{simulate.FIFO, simulate.LIFO, simulate.Random} {
			all = append(all, simulate.Options{Schedule: schedule}, simulate.Options{Schedule: schedule, AnyTime: true})
			if !d.FIFO && schedule != simulate.FIFO {
				all = append(all, simulate.Options{Schedule: schedule, Faults: faults.Script{Unordered: true}, AnyTime: true})
			}
		}
	}
	if d.Timing <= election.Timed {
		all = append(all, simulate.Options{Timing: election.Timed}, simulate.Options{Timing: election.Timed, AnyTime: true})
		if d.Timing == election.Asynchronous { // any finite delay is allowed
			all = append(all, simulate.Options{Timing: election.Timed, Delay: 7})
		}
	}
	return append(all, simulate.Options{Timing: election.Synchronous})
}

// Setup returns a random setup that suits a declaration: identifiers with gaps, or, where they may repeat, such
// as have a promised leader; exchanged ports without orientation; any tree; any order of ports with unknown
// neighbours; any votes; some unwilling processes where they may be. It has n processes, or more if there is no
// promise for n.
func Setup(d *election.Declaration, n int, seed uint64) network.Setup {
	source := random.New(seed, random.Network)
	ids := make(election.List, n)
	next := uint64(0)
	for p := range ids {
		next += 1 + source.Below(9)
		ids[p] = next
	}
	for p := n - 1; p > 0; p-- {
		q := int(source.Below(uint64(p + 1)))
		ids[p], ids[q] = ids[q], ids[p]
	}
	if d.AllowDuplicates != nil {
		ids = promised(d, n, source)
		n = len(ids)
	}
	i := network.Setup{IDs: ids}
	switch {
	case d.Topology == election.Tree:
		for p := 1; p < n; p++ {
			i.Edges = append(i.Edges, [2]int{int(source.Below(uint64(p))), p})
		}
	case d.Topology == election.UnknownNeighbours:
		i.Ports = portOrders(n, source)
	case d.Unoriented:
		i.Flipped = make([]bool, n)
		for p := range i.Flipped {
			i.Flipped[p] = source.Below(2) == 1
		}
	}
	if d.Votes {
		i.Votes = make([]uint64, n)
		for p := range i.Votes {
			i.Votes[p] = ids[source.Below(uint64(n))]
		}
	}
	if d.Willingness {
		for p := range n - 1 { // one process must be willing
			if source.Below(3) == 0 {
				i.Unwilling = append(i.Unwilling, p)
			}
		}
	}
	return i
}

// promised returns identifiers that are all equal except one or two, of n processes, or of the next larger number for
// which a leader can be promised.
func promised(d *election.Declaration, n int, source *random.Source) election.List {
	for ; ; n++ {
		for range 100 {
			ids := election.List(slices.Repeat([]uint64{5}, n))
			for range 1 + source.Below(2) {
				ids[source.Below(uint64(n))] = 3 + source.Below(5)
			}
			if d.AllowDuplicates(ids) == nil {
				return ids
			}
		}
	}
}

// portOrders returns random orders of the ports of n processes with unknown neighbours.
func portOrders(n int, source *random.Source) [][]int {
	orders := make([][]int, n)
	for p := range orders {
		orders[p] = make([]int, n-1)
		for k := range orders[p] {
			other := int(source.Below(uint64(k + 1)))
			orders[p][k], orders[p][other] = orders[p][other], k
		}
	}
	return orders
}

// initiators returns a random non-empty set of positions, in ring order.
func initiators(n int, source *random.Source) []int {
	var set []int
	for p := range n {
		if source.Below(2) == 1 {
			set = append(set, p)
		}
	}
	if set == nil {
		set = []int{int(source.Below(uint64(n)))}
	}
	return set
}

// wakeUps returns random wake-up times of the processes of a synchronous run; some never wake by themselves.
func wakeUps(n int, source *random.Source) []election.Ticks {
	wake := make([]election.Ticks, n)
	for p := range wake {
		wake[p] = election.Units(source.Below(uint64(2 * n)))
		if source.Below(3) == 0 {
			wake[p] = election.Forever
		}
	}
	if first := source.Below(uint64(n)); wake[first] == election.Forever {
		wake[first] = election.Units(source.Below(3))
	}
	return wake
}

// crashes makes one process crash, between two steps or during a step that sends, and perhaps recover; it recovers in
// any case if the declaration requires that.
func crashes(d *election.Declaration, o *simulate.Options, n int, source *random.Source) {
	f := faults.Crash{Process: int(source.Below(uint64(n))), At: election.Units(source.Below(20))}
	if n == 1 && d.Survives&election.Recovery == 0 {
		return // one process must live
	}
	o.Faults.Crashes = []faults.Crash{f}
	if d.Survives&election.Recovery != 0 && (n == 1 || source.Below(2) == 1 || d.Survives&election.Crash == 0) {
		back := f.At.Add(election.Units(1 + source.Below(20)))
		o.Faults.Recoveries = []faults.Recovery{{Process: f.Process, At: back}}
	}
	if source.Below(2) == 1 {
		o.Faults.Crashes[0].Amid, o.Faults.Crashes[0].Sends = true, int(source.Below(uint64(n)))
	}
}

type harm func(*election.Declaration, *simulate.Options, int, *random.Source)

// judgement returns what is wrong with a run, or "".
type judgement func(*election.Declaration, *simulate.Options, *simulate.Result) string

// made are the results of runs in their order, for those that judge the same runs otherwise.
type made struct {
	results []*simulate.Result
	next    int
}

// again begins with the first result.
func (m *made) again() {
	if m != nil {
		m.next = 0
	}
}

// or returns the next result; it makes the run, and keeps its result, if that has not been done before.
func (m *made) or(run func() (*simulate.Result, error)) (r *simulate.Result, err error) {
	if m == nil {
		return run()
	}
	if m.next == len(m.results) {
		if r, err = run(); err != nil {
			return nil, err
		}
		m.results = append(m.results, r)
	}
	m.next++
	return m.results[m.next-1], nil
}

// runs judges random runs, with the faults of hurt if it is not nil. It makes those that known does not have.
func runs(t *testing.T, a program.Program, o Options, parameters map[string]string, hurt harm, known *made, judge judgement) {
	known.again()
	d, simulator := a.Declared(), simulate.New(a)
	for _, n := range o.Sizes {
		for _, how := range timings(d) {
			if hurt != nil && how.Timing == election.Asynchronous {
				continue // faults come at times
			}
			for seed := range uint64(o.Runs) {
				run := how
				run.Seed = seed
				run.Setup = Setup(d, n, seed)
				run.Setup.Parameters = parameters
				run.Limit = 1_000_000
				source := random.New(seed, random.Choices)
				if d.Starts == election.AnyStart && hurt == nil && !d.Leased {
					start(&run, n, seed, source)
				}
				if hurt != nil {
					hurt(d, &run, n, source)
				}
				r, err := known.or(func() (*simulate.Result, error) { return simulator.Run(run) })
				if err != nil {
					t.Fatal(explained(err))
				}
				if problem := judge(d, &run, r); problem != "" {
					run.Record = true
					var story bytes.Buffer
					if again, err := simulator.Run(run); err == nil {
						_ = again.Record.Story(&story)
					}
					t.Fatalf("%s with %d processes, %s %s, seed %d: %s\n%s", d.Name, n, run.Timing, run.Schedule, seed, problem, story.Bytes())
				}
			}
		}
	}
}

// start lets a run of an odd seed begin at some processes. Of the synchronous others it wakes the processes of each second one in rounds.
func start(run *simulate.Options, n int, seed uint64, source *random.Source) {
	switch {
	case seed%2 == 1:
		run.Initiators = initiators(n, source)
	case run.Timing == election.Synchronous && !run.AnyTime && seed%4 > 0:
		run.Wake = wakeUps(run.Setup.IDs.Len(), source)
	}
}

// fixed judges that runs of one setup in which the same processes start send the same messages, under whatever schedule.
func fixed() judgement {
	first := map[string][]uint64{}
	return func(d *election.Declaration, o *simulate.Options, r *simulate.Result) string {
		if o.Wake != nil || o.AnyTime && d.Counts != election.CountsFixed || o.Initiators != nil && d.Counts < election.CountsStartFirst {
			return "" // nothing is declared
		}
		setup := fmt.Sprint(o.Setup, o.Initiators)
		if first[setup] == nil {
			first[setup] = r.Messages.ByKind
		}
		if slices.Equal(r.Messages.ByKind, first[setup]) {
			return ""
		}
		return fmt.Sprintf("%v messages of each kind, and %v under another schedule", r.Messages.ByKind, first[setup])
	}
}

// explained returns the text of an error, with its story if a step broke the contract.
func explained(err error) string {
	if v := new(simulate.Violation); errors.As(err, &v) && v.Record != nil {
		return fmt.Sprintf("%v\n%s", err, story(v.Record))
	}
	return err.Error()
}

// judge returns what is wrong with a run, or "".
func judge(d *election.Declaration, _ *simulate.Options, r *simulate.Result) string {
	switch {
	case !r.Complete:
		return "the election does not end"
	case len(r.Faults) > 0:
		return r.Faults[0]
	case d.Leased:
		return "" // leases end with the run; the run itself checks that two never run together
	case !r.Agreed:
		return fmt.Sprintf("leaders at %v, %d of %d decided: no agreement", r.Leaders, r.Decided, r.Live)
	case !r.Right:
		return fmt.Sprintf("leader at %v is not the one with %s", r.Leaders, d.Winner)
	}
	return ""
}

// breaks returns how a run without faults violates a bound, of the worst or the best case, or "".
func breaks(b *election.Bound, r *simulate.Result) string {
	if b.OneStart && r.Starters > 1 {
		return ""
	}
	sent, bound := r.Messages.Of(b.Of), b.Value(uint64(len(r.Decisions)))
	if b.Case == election.Worst && sent > bound || b.Case == election.Best && sent < bound {
		return fmt.Sprintf("%d %s messages, %s %s = %d", sent, b.Of, b.Case, b.Formula, bound)
	}
	return ""
}

func repeats(t *testing.T, a program.Program, n int, parameters map[string]string) {
	d, simulator := a.Declared(), simulate.New(a)
	for _, how := range timings(d) {
		how.Record, how.Seed, how.Limit = true, 3, 2_000
		how.Setup = Setup(d, n, 3)
		how.Setup.Parameters = parameters
		var first, second bytes.Buffer
		for _, w := range []*bytes.Buffer{&first, &second} {
			r, err := simulator.Run(how)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Record.WriteTo(w); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("%s, %s %s: the same seed gave two different runs", d.Name, how.Timing, how.Schedule)
		}
	}
}

// kinds makes runs until each declared kind was sent.
func kinds(t *testing.T, a program.Program, o Options) {
	d, functions, simulator := a.Declared(), process.Opened(a).Functions, simulate.New(a)
	seen := make([]uint64, len(d.Kinds))
	for i := range len(o.Sizes) * len(o.Parameters) {
		for seed := range uint64(o.Runs) {
			if !slices.Contains(seen, 0) {
				return
			}
			r, err := simulator.Run(Varied(d, functions, o.Sizes[i/len(o.Parameters)], o.Parameters[i%len(o.Parameters)], seed))
			if err != nil {
				t.Fatal(err)
			}
			for k, sent := range r.Messages.ByKind {
				seen[k] += sent
			}
		}
	}
	if k := slices.Index(seen, 0); k >= 0 && slices.Max(o.Sizes) > 1 {
		t.Errorf("%s declares messages of kind %s, and never sends one", d.Name, d.Kinds[k].Name)
	}
}

// Varied returns a random run among n with as many faults as an algorithm with these functions tolerates, and with commands if it
// takes any: some messages are for faults only.
func Varied(d *election.Declaration, functions election.Functions, n int, parameters map[string]string, seed uint64) simulate.Options {
	if set, err := d.Set(parameters); err == nil { // if not, the run reports it
		d = d.With(set)
	}
	run := simulate.Options{Setup: Setup(d, n, seed), Seed: seed, Limit: 1_000_000}
	run.Setup.Parameters = parameters
	if d.Starts == election.AnyStart && seed%2 == 1 {
		run.Initiators = initiators(n, random.New(seed, random.Choices))
	}
	if d.Survives&election.Recovery != 0 && seed%2 == 0 {
		crashes(d, &run, n, random.New(seed, random.Choices))
	}
	if d.Survives&election.Partition != 0 && n > 1 && seed%4 >= 2 {
		run.Faults.Random = faults.Budget{Partitions: 2, Cuts: 2, Until: election.Units(60)}
	}
	if functions.Command {
		p := int(seed) % n
		run.Commands = []simulate.Command{
			{Process: p, At: election.Units(4)}, {Process: p, At: election.Units(20), Command: election.Command{Order: election.Weigh, Number: 2}},
		}
	}
	if functions.Membership && n > 1 {
		for p := range n { // only the leader obeys
			run.Commands = append(run.Commands,
				simulate.Command{Process: p, At: election.Units(30), Command: election.Command{Order: election.Dismiss, Member: 1}},
				simulate.Command{Process: p, At: election.Units(60), Command: election.Command{Order: election.Enlist, Member: 1}},
			)
		}
	}
	return run
}

// every returns the options to check every schedule of n processes.
func every(a *election.Declaration, n int, parameters map[string]string) verify.Options {
	o := verify.Options{Size: n, Starts: verify.AnyTime, Unordered: !a.FIFO && a.Timing == election.Asynchronous, SafetyOnly: a.Leased}
	o.Setup.Parameters = parameters
	if a.Starts == election.Together {
		o.Starts = verify.AllFirst
	}
	if a.Topology == election.Tree || a.Votes || a.Willingness || a.AllowDuplicates != nil {
		o.Setup = Setup(a, n, 1)
		o.Setup.Parameters = parameters
	}
	o.Orientations = a.Unoriented && n <= 3 // there are 2ⁿ, and as many times the states
	if a.Survives != 0 {
		o.Crashes = 1
	}
	if a.Survives&election.Recovery != 0 {
		o.Recoveries = 1
	}
	return o
}

// report is a check of every schedule.
type report = func() (*verify.Report, error)

// once returns a check that is made on first use, by one goroutine.
func once(check report) report {
	var r *verify.Report
	var err error
	return func() (*verify.Report, error) {
		if check != nil {
			r, err = check()
			check = nil
		}
		return r, err
	}
}

func holds(t *testing.T, check report) {
	r, err := check()
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Violation; v != nil {
		t.Fatalf("%s: %s\n%s", v.Property, v.Detail, story(&v.Record))
	}
	if !r.Complete {
		t.Fatalf("not finished after %d states", r.States)
	}
	t.Logf("%d states, %d transitions", r.States, r.Transitions)
}

// bounded compares the one declared bound with the extremes of the checks, by number of processes, that found no other violation.
// Another check, with the bound declared, records the run that violates it.
func bounded(t *testing.T, a program.Program, parameters map[string]string, checks []report) {
	d := a.Declared()
	b := &d.Bounds[0]
	if b.OneStart || d.Task != election.Once { // bounds are for one election
		return
	}
	for i, check := range checks {
		how := every(d, i+1, parameters)
		n := how.Size
		if how.Setup.IDs != nil {
			n = how.Setup.IDs.Len()
		}
		r, err := check()
		if err != nil || r.MinMessages == nil || !outside(b, r, uint64(n)) {
			continue
		}
		if r, err = verify.Program(a, how); err != nil || r.Violation == nil {
			t.Fatalf("%s = %s is broken, and not broken again: %v", b.Of, b.Formula, err)
		}
		t.Fatalf("%s: %s\n%s", r.Violation.Property, r.Violation.Detail, story(&r.Violation.Record))
	}
}

// outside reports whether a run of n processes has a cost outside the bound.
func outside(b *election.Bound, r *verify.Report, n uint64) bool {
	of := func(m *verify.Messages) uint64 {
		messages := outcome.Messages{Total: m.Total, Election: m.Election, Announcement: m.Announcement}
		return messages.Of(b.Of)
	}
	if b.Case == election.Best {
		return of(r.MinMessages) < b.Value(n)
	}
	return r.MaxMessages == nil || of(r.MaxMessages) > b.Value(n)
}

func story(r *trace.Record) string {
	var b bytes.Buffer
	_ = r.Story(&b)
	return b.String()
}
