// Package catalogue is the table of all algorithms, each joined to the engines that can run it.
package catalogue

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/algorithms/afekgafni"
	"ringleader.example/ringleader/algorithms/afekgafnisynchronous"
	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/dolevklawerodeh"
	"ringleader.example/ringleader/algorithms/dolevklawerodehb"
	"ringleader.example/ringleader/algorithms/franklin"
	"ringleader.example/ringleader/algorithms/highamprzytycka"
	"ringleader.example/ringleader/algorithms/hirschbergsinclair"
	"ringleader.example/ringleader/algorithms/invitation"
	"ringleader.example/ringleader/algorithms/itairodeh"
	"ringleader.example/ringleader/algorithms/itairodehsynchronous"
	"ringleader.example/ringleader/algorithms/knownsize"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/lcrsynchronous"
	"ringleader.example/ringleader/algorithms/lelann"
	"ringleader.example/ringleader/algorithms/logicalring"
	"ringleader.example/ringleader/algorithms/minmax"
	"ringleader.example/ringleader/algorithms/modifiedbully"
	"ringleader.example/ringleader/algorithms/oddoneout"
	"ringleader.example/ringleader/algorithms/oddpair"
	"ringleader.example/ringleader/algorithms/peterson"
	"ringleader.example/ringleader/algorithms/petersonalternating"
	"ringleader.example/ringleader/algorithms/preference"
	"ringleader.example/ringleader/algorithms/preferencering"
	"ringleader.example/ringleader/algorithms/preferencetree"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/algorithms/ringbullysimple"
	"ringleader.example/ringleader/algorithms/stopandgo"
	"ringleader.example/ringleader/algorithms/tree"
	"ringleader.example/ringleader/algorithms/variablespeeds"
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
	entry(&ringbullysimple.Algorithm, count.RingBullySimple),
	entry(&ringbully.Algorithm, count.RingBully),
	entry(&lcr.Algorithm, count.LCR),
	entry(&lcrsynchronous.Algorithm, count.LCRSynchronous),
	entry(&lelann.Algorithm, count.LeLann),
	entry(&oddoneout.Algorithm, nil),
	entry(&oddpair.Algorithm, nil),
	entry(&logicalring.Algorithm, nil),
	entry(&preference.Algorithm, nil),
	entry(&preferencering.Algorithm, nil),
	entry(&preferencetree.Algorithm, nil),
	entry(&tree.Algorithm, nil),
	entry(&hirschbergsinclair.Algorithm, count.HirschbergSinclair),
	entry(&bully.Algorithm, nil),
	entry(&modifiedbully.Algorithm, nil),
	entry(&invitation.Algorithm, nil),
	entry(&franklin.Algorithm, count.Franklin),
	entry(&peterson.Algorithm, count.Peterson),
	entry(&petersonalternating.Algorithm, count.PetersonAlternating),
	entry(&dolevklawerodeh.Algorithm, count.DolevKlaweRodeh),
	entry(&dolevklawerodehb.Algorithm, count.DolevKlaweRodehB),
	entry(&minmax.Algorithm, count.MinMax),
	entry(&highamprzytycka.Algorithm, count.HighamPrzytycka),
	entry(&itairodeh.Algorithm, nil),
	entry(&itairodehsynchronous.Algorithm, nil),
	entry(&afekgafni.Algorithm, nil),
	entry(&afekgafnisynchronous.Algorithm, nil),
	entry(&knownsize.Algorithm, count.KnownSize(knownsize.Algorithm.Sequence)),
	stopAndGo(&stopandgo.P1),
	stopAndGo(&stopandgo.P2),
	stopAndGo(&stopandgo.P3),
	stopAndGo(&stopandgo.P4),
	entry(&variablespeeds.Algorithm, count.VariableSpeeds),
}

// Of joins an algorithm to the engines. Exact is its closed form, or nil. The error is that of [simulate.Of].
func Of[S, M any](a *election.Algorithm[S, M], exact count.Func) (Entry, error) {
	runner, err := simulate.Of(a)
	return joined(runner, err, exact)
}

func joined(runner *simulate.Runner, err error, exact count.Func) (Entry, error) {
	if err != nil {
		return Entry{}, err
	}
	program := runner.Program()
	return Entry{
		Declaration: program.Declaration, Program: program, Count: exact,
		Simulate: runner.Run, Symmetry: runner.Symmetric, Session: runner.Session,
		Verify: func(o verify.Options) (*verify.Report, error) { return verify.Program(program, o) },
	}, nil
}

// entry is Of an algorithm that any engine takes; the tests of each package that uses the catalogue see to it.
func entry[S, M any](a *election.Algorithm[S, M], exact count.Func) Entry {
	runner, err := simulate.Of(a)
	return must(joined(runner, err, exact))
}

func must(e Entry, err error) Entry {
	if err != nil {
		panic(err)
	}
	return e
}

// Detects reports whether it has a failure detector.
func (e *Entry) Detects() bool { return e.Program.Functions.Suspect }

// Phased reports whether its election messages belong to phases.
func (e *Entry) Phased() bool { return e.Program.Functions.Phase }

type checks func(*trace.Record, *network.Instance) ([]claims.Claim, error)

func stopAndGo(a *election.Algorithm[stopandgo.Process, stopandgo.Message]) Entry {
	e := entry(a, count.StopAndGo(a.Sequence))
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
