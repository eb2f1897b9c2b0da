package quorumbully_test

import (
	"errors"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/proofs/refine"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// explored is what the checker explores: so many states by default, and with -long.
type explored struct {
	name       string
	options    verify.Options
	voters     int
	some, most int // 0: all
}

// with returns options with something set.
func with(o verify.Options, set func(*verify.Options)) verify.Options {
	set(&o)
	return o
}

// varying lets messages overtake each other, of requests that say that lengths vary. TestEveryScheduleRefinesTheModel holds them where they are.
// TestRunsRefineTheModel has lengths that fall.
func varying(o *verify.Options) {
	o.Unordered, o.Delay = true, 3
	o.Setup.Parameters["shortest-lease"], o.Setup.Parameters["renewals"] = "2", "3"
}

var schedules = []explored{
	{"3 claims", quorumbully.Few(3, 0), 3, 2500, 0},
	{"1 claim, a crash", quorumbully.Few(1, 1), 3, 2500, 0},
	{"1 claim, a command, a repeated message", with(quorumbully.Few(1, 0), func(o *verify.Options) { o.Commands, o.Duplicates = 1, 1 }), 3, 0, 0},
	{"2 claims, a repeated message", with(quorumbully.Few(2, 0), func(o *verify.Options) { o.Duplicates = 1 }), 3, 2000, 0},
	{"2 claims, a crash", quorumbully.Few(2, 1), 3, 2000, 0},
	{"2 claims, late messages", with(quorumbully.Few(2, 0), func(o *verify.Options) { o.Delay = 2 }), 3, 2000, 0},
	{"3 claims, late messages", with(quorumbully.Few(3, 0), func(o *verify.Options) { o.Delay = 2 }), 3, 1000, 300_000},
	{"1 claim, messages as late as the lease", with(quorumbully.Few(1, 0), func(o *verify.Options) { o.Delay, o.Setup.Parameters["lease"] = 3, "4" }), 3, 2000, 0},
	{"1 claim, a crash with a warden, a suspicion", with(quorumbully.Few(1, 1), func(o *verify.Options) { o.Wardens, o.Suspicions = true, 1 }), 3, 1000, 0},
	{"2 claims, a crash with a warden, a suspicion", with(quorumbully.Few(2, 1), func(o *verify.Options) { o.Wardens, o.Suspicions = true, 1 }), 3, 1500, 300_000},
	{"2 claims, a command, a repeated message", with(quorumbully.Few(2, 0), func(o *verify.Options) { o.Commands, o.Duplicates = 1, 1 }), 3, 2000, 0},
	{"3 claims, 2 renewals, a crash", with(quorumbully.Few(3, 1), func(o *verify.Options) { o.Setup.Parameters["renewals"] = "2" }), 3, 1000, 0},
	{"3 claims, 2 renewals, 2 crashes", with(quorumbully.Few(3, 2), func(o *verify.Options) { o.Setup.Parameters["renewals"] = "2" }), 3, 1500, 300_000},
	{"1 claim, requests that overtake each other and say that lengths vary", with(quorumbully.Few(1, 0), varying), 3, 2000, 0},
	{"1, 2 and 1 voters", quorumbully.Changes(2, 1, 2, 2, 3, 0), 1, 0, 0},
	{"1, 2 and 1 voters, a crash", quorumbully.Changes(2, 1, 2, 2, 3, 1), 1, 2500, 0},
	{"2, 3 and 2 voters, a crash", quorumbully.Changes(3, 1, 2, 2, 3, 1), 2, 2500, 0},
	{"3, 4 and 3 voters", quorumbully.Changes(4, 1, 2, 2, 3, 0), 3, 2000, 0},
}

// The code does nothing that the model does not allow, in all that the checker visits. A transition is compared with one history of its
// configuration: that of the first run that leads there.
func TestEveryScheduleRefinesTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	happened, made := map[string]int{}, 0
	for _, s := range schedules {
		t.Run(s.name, func(t *testing.T) {
			a, o := quorumbully.Algorithm, s.options
			quorumbully.Host(&a, s.voters < o.Setup.IDs.Len())
			if o.Setup.Parameters["shortest-lease"] != "" {
				quorumbully.Steady(&a)
			}
			if o.MaxStates = s.some; quorumbully.Long() {
				o.MaxStates = s.most
			}
			e, err := refine.Explore(a, o, s.voters)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d transitions, complete %v; %s; %v", e.States, e.Transitions, e.Complete, e.Things, e.Happened)
			for name, times := range e.Happened {
				happened[name] += times
			}
			made++
		})
	}
	if made == len(schedules) { // and none was left out or failed
		mustAll(t, happened)
	}
}

// mustAll fails unless each action of the model has happened.
func mustAll(t *testing.T, happened map[string]int) {
	t.Helper()
	t.Log(happened)
	for _, name := range refine.Actions("quorum-bully") {
		if happened[name] == 0 {
			t.Errorf("%s never happened", name)
		}
	}
}

// commanded is a script in which hosts also change weights, hand over, and ask for the lease again.
func commanded(seed uint64) simulate.Options {
	o := quorumbully.Harsh(seed)
	for at := uint64(1); at < 400; at += 1 + seed%4 {
		for p := range 3 {
			c := election.Command{Order: election.Confirm}
			switch (at + uint64(p)) % 4 {
			case 0:
				c = election.Command{Order: election.Weigh, Number: at % 3}
			case 1:
				c = election.Command{Order: election.Transfer, Member: election.ID(1 + at%3)}
			}
			o.Commands = append(o.Commands, simulate.Command{Process: p, At: election.Units(at), Command: c})
		}
	}
	return o
}

// late lets the host of a leader report once more, after each renewal, that its work has stopped: the work of an earlier tenure. Before the
// renewal the lease may have ended, and then it is a report about the present work.
func late(a *algorithm, reports *int) {
	a.Timeout = func(p *quorumbully.Process, timer election.Timer, out *election.Out[quorumbully.Message]) {
		p.Timeout(timer, out)
		if timer == quorumbully.Renewal && p.Role == quorumbully.Leader {
			*reports++
			p.Command(election.Command{Order: election.Stopped}, out)
		}
	}
}

// restarting is a script in which renewals of different lengths reach members that wait after a restart.
func restarting(seed uint64) simulate.Options {
	const first = 129 // of those that do
	return quorumbully.Varied(first + seed)
}

// renewals counts the renewals of different lengths that reach a member while it waits after a restart.
func renewals(a *algorithm, heard *int) {
	receive := a.Receive
	a.Receive = func(p *quorumbully.Process, port election.Port, kind election.Kind, m quorumbully.Message, out *election.Out[quorumbully.Message]) {
		waits := p.Restarted && kind == quorumbully.Renew && m.Varies
		if receive(p, port, kind, m, out); waits && p.Given.Holder == election.From(port) {
			*heard++
		}
	}
}

// The same of runs of the simulator with all faults: of 3 to 7 members, with clocks that drift, and with changes of voters.
func TestRunsRefineTheModel(t *testing.T) {
	seeds, happened, reports, heard := uint64(3), map[string]int{}, 0, 0
	if quorumbully.Long() {
		seeds = 100
	}
	for name, runs := range map[string]func(seed uint64) simulate.Options{
		"harsh": quorumbully.Harsh, "lengths": quorumbully.Varied, "lengths after restarts": restarting, "changes": quorumbully.Changing, "commands": commanded, "late reports": quorumbully.Harsh,
		"5 members": func(seed uint64) simulate.Options { return quorumbully.Script(seed, 5) },
		"7 members": func(seed uint64) simulate.Options { return quorumbully.Script(seed, 7) },
	} {
		for seed := range seeds {
			a := quorumbully.Algorithm
			switch name {
			case "lengths", "lengths after restarts":
				quorumbully.Vary(&a)
				renewals(&a, &heard)
			case "late reports":
				late(&a, &reports)
			}
			c, err := refine.Run(a, runs(seed), 100)
			if err != nil {
				t.Fatalf("%s, seed %d: %v", name, seed, err)
			}
			for name, times := range c.Happened {
				happened[name] += times
			}
		}
	}
	mustAll(t, happened)
	if reports == 0 || heard == 0 {
		t.Errorf("%d late reports to a leader, %d renewals of different lengths to a member that waits", reports, heard)
	}
}

// showing are seeds of runs that show an error where those before are long. A search begins there.
var showing = map[string]uint64{
	"a Claim to older voters is granted":                          9,
	"a renewal of a lower term takes the place of a higher grant": 17,
	"work is released before it has stopped":                      21,
	"a lapse is not for good":                                     9,
	"a release voids every grant to its sender":                   3,
	"a new incarnation is proof that the old one's work is dead":  7,
	"a suspicion voids a grant":                                   1,
	"the voters do not survive a crash":                           1,
	"a Renew ends the wait after a restart whatever its length":   4,
}

// Each mutant of the other tests does something that the model does not allow, in a run like that in which the simulator finds it.
func TestMutantsDoNotRefineTheModel(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, m := range quorumbully.Mutants() {
		t.Run(m.Name, func(t *testing.T) {
			a := quorumbully.Algorithm
			m.Mutate(&a)
			for seed := range uint64(300) {
				if _, err := refine.Run(a, m.Runs(showing[m.Name]+seed), 1000); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			t.Error("not found")
		})
	}
}

// A member that begins with more than it had has made steps that are not in the run: neither they nor what follows is forbidden.
func TestALifeThatKnowsMoreThanTheOneBeforeHasStepsThatAreMissing(t *testing.T) {
	for name, more := range map[string]func(*quorumbully.Kept){
		"a promise": func(k *quorumbully.Kept) { k.Promise++ },
		"a lease":   func(k *quorumbully.Kept) { k.Longest++ },
		"voters":    func(k *quorumbully.Kept) { k.Voters.Version++ },
		"nothing":   func(*quorumbully.Kept) {},
	} {
		t.Run(name, func(t *testing.T) {
			d := led(t, quorumbully.Algorithm, 3, 0)
			d.log.Ended(1)
			more(&d.members[0].Kept)
			d.recover(1)
			_, err := d.log.Check(t.Context(), 1)
			failure := (*refine.Failure)(nil)
			if missing := errors.As(err, &failure) && failure.Unnamed && strings.Contains(failure.Text, "the last steps of an earlier life of member 1 are missing"); missing != (name != "nothing") {
				t.Errorf("%v", err)
			}
		})
	}
}

// A member that has lost its store is none of the model's, so a run with one is neither allowed nor forbidden.
func TestALifeWithoutItsStoreHasNoNameInTheModel(t *testing.T) {
	for _, first := range []func(d *directed){
		func(*directed) {},
		func(d *directed) { // its host tells it of a death before it starts
			d.command(1, election.Command{Order: election.Died, Member: 2, Number: 1})
		},
	} {
		d := led(t, quorumbully.Algorithm, 3, 0)
		d.log.Ended(1)
		*d.members[0] = d.algorithm.New(d.locals[0])
		clear(d.timers[0])
		first(d)
		d.start(1)
		_, err := d.log.Check(t.Context(), 1)
		failure := (*refine.Failure)(nil)
		if !errors.As(err, &failure) || !failure.Unnamed || !strings.Contains(failure.Text, "member 1 begins without its store, in which it had promised term 1") {
			t.Errorf("%v", err)
		}
	}
}

// guessed are right clocks of which the comparison does not know that.
type guessed struct{ refine.Right }

func (guessed) Unsure() bool { return true }

// Steps of two lives of a member that are in a wrong order are no violation if its clocks are guessed. If they are known, the steps are compared.
func TestLivesInAWrongOrderOfGuessedClocksHaveNoNameInTheModel(t *testing.T) {
	for unsure, clocks := range map[bool]refine.Clocks{true: guessed{}, false: refine.Right{}} {
		var last *refine.Step
		d := led(t, refine.Watched(quorumbully.Algorithm, func(s *refine.Step) { last = s }), 3, 0)
		d.log.Clocks = clocks
		d.delivers(3, 1, quorumbully.Renew)
		late := last
		d.recover(1)
		d.log.Add(late)
		_, err := d.log.Check(t.Context(), 1)
		failure := (*refine.Failure)(nil)
		if order := errors.As(err, &failure) && failure.Unnamed && strings.Contains(failure.Text, "an earlier life of member 1"); order != unsure {
			t.Errorf("clocks that are guessed %v: %v", unsure, err)
		}
	}
}
