// Package catalogue is the table of all algorithms, each joined to the engines that can run it.
package catalogue

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/catalogue/runners/afekgafni"
	"ringleader.example/ringleader/catalogue/runners/afekgafnisynchronous"
	"ringleader.example/ringleader/catalogue/runners/bully"
	"ringleader.example/ringleader/catalogue/runners/dolevklawerodeh"
	"ringleader.example/ringleader/catalogue/runners/dolevklawerodehb"
	"ringleader.example/ringleader/catalogue/runners/franklin"
	"ringleader.example/ringleader/catalogue/runners/highamprzytycka"
	"ringleader.example/ringleader/catalogue/runners/hirschbergsinclair"
	"ringleader.example/ringleader/catalogue/runners/invitation"
	"ringleader.example/ringleader/catalogue/runners/itairodeh"
	"ringleader.example/ringleader/catalogue/runners/itairodehsynchronous"
	"ringleader.example/ringleader/catalogue/runners/knownsize"
	"ringleader.example/ringleader/catalogue/runners/lcr"
	"ringleader.example/ringleader/catalogue/runners/lcrsynchronous"
	"ringleader.example/ringleader/catalogue/runners/lelann"
	"ringleader.example/ringleader/catalogue/runners/logicalring"
	"ringleader.example/ringleader/catalogue/runners/minmax"
	"ringleader.example/ringleader/catalogue/runners/modifiedbully"
	"ringleader.example/ringleader/catalogue/runners/oddoneout"
	"ringleader.example/ringleader/catalogue/runners/oddpair"
	"ringleader.example/ringleader/catalogue/runners/peterson"
	"ringleader.example/ringleader/catalogue/runners/petersonalternating"
	"ringleader.example/ringleader/catalogue/runners/preference"
	"ringleader.example/ringleader/catalogue/runners/preferencering"
	"ringleader.example/ringleader/catalogue/runners/preferencetree"
	"ringleader.example/ringleader/catalogue/runners/quorumbully"
	"ringleader.example/ringleader/catalogue/runners/ringbully"
	"ringleader.example/ringleader/catalogue/runners/ringbullysimple"
	"ringleader.example/ringleader/catalogue/runners/stopandgo"
	"ringleader.example/ringleader/catalogue/runners/tree"
	"ringleader.example/ringleader/catalogue/runners/variablespeeds"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/claims"
	"ringleader.example/ringleader/internal/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
	"ringleader.example/ringleader/verify"
)

// Entry is an algorithm, joined to the engines.
type Entry struct {
	*election.Declaration
	Program  *process.Program
	Simulate func(simulate.Options) (*simulate.Result, error)   // [simulate.Run]
	Symmetry func(simulate.Options) (*simulate.Symmetry, error) // [simulate.Symmetric]
	Session  func(simulate.Options) (*simulate.Session, error)  // [simulate.NewSession]
	Verify   func(verify.Options) (*verify.Report, error)       // [verify.Run]
	Count    count.Func                                         // nil where there is no closed form yet
	Check    checks                                             // of the record of a run, what its source claims of every run; nil where nothing is
}

// All are the algorithms, in the order of their sources.
var All = []Entry{
	Of(ringbullysimple.Runner, count.RingBullySimple),
	Of(ringbully.Runner, count.RingBully),
	Of(lcr.Runner, count.LCR),
	Of(lcrsynchronous.Runner, count.LCRSynchronous),
	Of(lelann.Runner, count.LeLann),
	Of(oddoneout.Runner, nil),
	Of(oddpair.Runner, nil),
	Of(logicalring.Runner, nil),
	Of(preference.Runner, nil),
	Of(preferencering.Runner, nil),
	Of(preferencetree.Runner, nil),
	Of(tree.Runner, nil),
	Of(hirschbergsinclair.Runner, count.HirschbergSinclair),
	Of(bully.Runner, nil),
	Of(modifiedbully.Runner, nil),
	Of(invitation.Runner, nil),
	Of(quorumbully.Runner, nil),
	Of(franklin.Runner, count.Franklin),
	Of(peterson.Runner, count.Peterson),
	Of(petersonalternating.Runner, count.PetersonAlternating),
	Of(dolevklawerodeh.Runner, count.DolevKlaweRodeh),
	Of(dolevklawerodehb.Runner, count.DolevKlaweRodehB),
	Of(minmax.Runner, count.MinMax),
	Of(highamprzytycka.Runner, count.HighamPrzytycka),
	Of(itairodeh.Runner, nil),
	Of(itairodehsynchronous.Runner, nil),
	Of(afekgafni.Runner, nil),
	Of(afekgafnisynchronous.Runner, nil),
	Of(knownsize.Runner, count.KnownSize(knownsize.Runner.Program().Sequence)),
	stopAndGo(stopandgo.P1),
	stopAndGo(stopandgo.P2),
	stopAndGo(stopandgo.P3),
	stopAndGo(stopandgo.P4),
	Of(variablespeeds.Runner, count.VariableSpeeds),
}

// Of joins a runner to the other engines. Exact is the closed form of its algorithm, or nil.
func Of(runner *simulate.Runner, exact count.Func) Entry {
	program := runner.Program()
	return Entry{
		Declaration: program.Declaration, Program: program, Count: exact,
		Simulate: runner.Run, Symmetry: runner.Symmetric, Session: runner.Session,
		Verify: func(o verify.Options) (*verify.Report, error) { return verify.Program(program, o) },
	}
}

// Detects reports whether it has a failure detector.
func (e *Entry) Detects() bool { return e.Program.Functions.Suspect }

// Phased reports whether its election messages belong to phases.
func (e *Entry) Phased() bool { return e.Program.Functions.Phase }

type checks func(*trace.Record, *network.Instance) ([]claims.Claim, error)

func stopAndGo(runner *simulate.Runner) Entry {
	e := Of(runner, count.StopAndGo(runner.Program().Sequence))
	e.Check = func(r *trace.Record, p *network.Instance) ([]claims.Claim, error) {
		return claims.StopAndGo(r, p.Parameters.Sequence())
	}
	return e
}

// families are algorithms that do the same on different networks. The first lends the others its name.
var families = [][]string{{"preference", "preference-ring", "preference-tree"}}

// Family are the names of all that do the same as an algorithm on other networks, its own among them; nil
// if it is alone.
func (e *Entry) Family() []string {
	for _, family := range families {
		if slices.Contains(family, e.Name) {
			return family
		}
	}
	return nil
}

// On is the form of an algorithm for a topology: of those that bear its name the one that runs there;
// otherwise the algorithm itself.
func (e *Entry) On(topology election.Topology) *Entry {
	if family := e.Family(); family == nil || family[0] != e.Name {
		return e
	}
	for _, name := range e.Family() {
		if form, err := Find(name); err == nil && form.Topology == topology {
			return form
		}
	}
	return e
}

// ErrUnknown says that there is no algorithm of that name; the text names those that there are.
var ErrUnknown = errors.New("unknown algorithm")

// Names are the names of all algorithms, in order.
func Names() []string {
	names := make([]string, len(All))
	for i := range All {
		names[i] = All[i].Name
	}
	return names
}

// Find is the algorithm of that name.
func Find(name string) (*Entry, error) {
	i := slices.IndexFunc(All, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w %q; there are %s", ErrUnknown, name, strings.Join(Names(), ", "))
	}
	return &All[i], nil
}

// Program is the algorithm of that name, for engines on sockets.
func Program(name string) (*process.Program, error) {
	e, err := Find(name)
	if err != nil {
		return nil, err
	}
	return e.Program, nil
}
