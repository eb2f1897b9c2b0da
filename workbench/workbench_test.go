package workbench

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/report"
)

// call runs a command line of the program mine with own algorithms.
func call(own []Entry, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(context.Background(), own, append([]string{"/bin/mine"}, args...), strings.NewReader(""), &out, &err, func(string) string { return "" })
	return code, out.String(), err.String()
}

// named is LCR under another name.
func named(name string) *election.Algorithm[lcr.Process, lcr.Message] {
	a := lcr.Algorithm
	a.Name = name
	return &a
}

func TestAnAlgorithmThatCannotBeIsOneLineAndAWrongCall(t *testing.T) {
	type none = election.Algorithm[lcr.Process, lcr.Message]
	kinds, functions, far := named("mine"), named("mine"), named("mine")
	kinds.Kinds = nil
	functions.New = nil
	far.Topology = 99
	for says, own := range map[string][]Entry{
		"an algorithm is nil":                        {Of((*none)(nil))},
		"an entry is empty; workbench.Of makes one":  {{}},
		"declares 1 to 16 Kinds of message":          {Of(kinds)},
		"New, Start and Receive are obligatory":      {Of(functions)},
		`algorithm "": the Name`:                     {Of(named(""))},
		`algorithm "My Own": the Name`:               {Of(named("My Own"))},
		`algorithm "mine": Topology`:                 {Of(far)},
		"map":                                        {Of(mapped())},
		`two algorithms are called "lcr"; give one`:  {Of(named("lcr"))},
		`two algorithms are called "mine"; give one`: {Of(named("mine")), Of(named("mine"))},
	} {
		code, stdout, stderr := call(own, "algorithms")
		if code != report.ExitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "mine: ") || !strings.Contains(stderr, says) {
			t.Errorf("exit status %d, stdout %q, stderr %q; want one line with %q", code, stdout, stderr, says)
		}
	}
}

// mapped is an algorithm whose state is no plain value.
func mapped() *election.Algorithm[map[string]int, lcr.Message] {
	type state = map[string]int
	return &election.Algorithm[state, lcr.Message]{
		Declaration: named("mine").Declaration,
		New:         func(election.Local) state { return nil },
		Start:       func(*state, *election.Out[lcr.Message]) {},
		Receive:     func(*state, election.Port, election.Kind, lcr.Message, *election.Out[lcr.Message]) {},
	}
}
