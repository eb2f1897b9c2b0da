package symbolic

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const module = "ringleader.example/ringleader/"

// unsure are changes of package outside, after which it has no handlers, and what is said of them.
var unsure = []struct{ old, now, says string }{
	{"var (", "func init() { Algorithm.Start = func(p *Process, _ *election.Out[Message]) { p.tens() } }; var (", ": Algorithm, which may change here, is outside"},
	{"var (", "func init() { a := &Algorithm; a.Start = func(p *Process, _ *election.Out[Message]) { p.tens() } }; var (", ": Algorithm, which may change here, is outside"},
	{"type Message struct{", "type Message struct{ port election.Port;", ": a second thing of the name m-port is outside"},
	{"type Process struct {", "type Process struct { _, _ bool;", ": a second thing of the name (go-_ me) is outside"},
}

// loading is the outcome for a package: its handlers, or an error.
type loading struct {
	*Handlers
	err error
}

// loaded are all packages of these tests, read at once: those with handlers, Bully, and package outside with each change, as a package beside
// it.
var loaded = sync.OnceValues(func() (all []loading, err error) {
	const outside = "testdata/outside"
	file, err := filepath.Abs(outside + "/outside.go")
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	paths := []string{module + "tests/symbolic/" + outside, module + "algorithms/afekgafni", module + "algorithms/lcr", module + "algorithms/bully"}
	beside := map[string][]byte{}
	for i, c := range unsure {
		name := fmt.Sprint(outside, i)
		file, err := filepath.Abs(name + "/outside.go")
		if err != nil {
			return nil, err
		}
		beside[file] = bytes.Replace(text, []byte(c.old), []byte(c.now), 1)
		paths = append(paths, module+"tests/symbolic/"+name)
	}
	found, built, err := read("..", beside, paths...)
	if err != nil {
		return nil, err
	}
	for i, p := range found {
		h, err := handlers(p, built[i])
		all = append(all, loading{h, err})
	}
	return all, nil
})

func load(t *testing.T) []loading {
	t.Helper()
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all[:3] {
		if l.err != nil {
			t.Fatal(l.err)
		}
	}
	return all
}

// A handler that has anything else than what is executed gives one error with its place.
func TestWhatIsNotExecutedIsAnErrorWithItsPlace(t *testing.T) {
	all := load(t)
	h := *all[0].Handlers
	for name, says := range map[string]string{
		"Loop":       "outside.go:47: a loop",
		"Map":        "outside.go:52: a map",
		"Routine":    "outside.go:55: a goroutine",
		"Deferred":   "outside.go:58: a deferred call",
		"Channel":    "outside.go:61: a channel",
		"Recursive":  "outside.go:66: a recursive call of Recursive",
		"Call":       "outside.go:71: an interface",
		"Timer":      "outside.go:74: a call of (*ringleader.example/ringleader/election.Out[Message]).Stop",
		"Global":     "outside.go:77: a pointer other than to the state of the process or to a local variable",
		"Index":      "outside.go:80: the operator &",
		"Literal":    "outside.go:84: a function literal",
		"Signed":     "outside.go:89: arithmetic in the type int",
		"Product":    "outside.go:92: the operator /",
		"Narrow":     "outside.go:95: a conversion from ringleader.example/ringleader/election.ID to uint8",
		"Goto":       "outside.go:105: a loop",
		"Long":       "outside.go:157: a path of more than 10000 blocks",
		"Parameters": "outside.go:161: a Choice that is no variable of the package, a word that is no constant, or parameters that New was not given",
	} {
		h.Start = h.New.Pkg.Func(name)
		paths, err := h.Execute("start")
		wrong := new(Error)
		if !errors.As(err, &wrong) || paths != nil || !strings.Contains(err.Error(), says+" is outside of what is executed symbolically") {
			t.Errorf("%s: %v, want %s", name, err, says)
		}
	}
	if _, err := all[1].Execute("start"); err == nil || !strings.Contains(err.Error(), filepath.FromSlash("afekgafni/afekgafni.go:")) || !strings.Contains(err.Error(), ": a loop is outside") {
		t.Errorf("Afek and Gafni: %v", err)
	}
	if err := all[3].err; err == nil || !strings.Contains(err.Error(), "the handler Timeout") {
		t.Errorf("Bully: %v", err)
	}
}

// What Algorithm names is what runs, and two things have two names; else there is one error with its place. A local variable of that name,
// which testdata has, changes nothing.
func TestAnAlgorithmWhoseHandlersAreNotSureIsRefused(t *testing.T) {
	all := load(t)
	for i, c := range unsure {
		if err := all[4+i].err; err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.now, err)
		}
	}
}

// Results of arithmetic are the same only if what was added is, whatever its name in Go.
func TestSumsOfTwoThingsOfOneNameAreTwo(t *testing.T) {
	h := *load(t)[0].Handlers
	h.Receive = h.New.Pkg.Func("Sums")
	paths, err := h.Execute("receive")
	if err != nil {
		t.Fatal(err)
	}
	if first, second := paths[0].Effects[0].Args[1], paths[0].Effects[1].Args[1]; first.String() != second.String() || first.SMT() == second.SMT() {
		t.Errorf("%v is %s, and %v is %s", first, first.SMT(), second, second.SMT())
	}
}

// The paths of a handler are those that one reads in it.
func TestThePathsOfLCR(t *testing.T) {
	h := load(t)[2].Handlers
	var told strings.Builder
	for _, handler := range []string{"new", "start", "receive"} {
		paths, err := h.Execute(handler)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			fmt.Fprintf(&told, "%s %v", p.Name, p.Conditions)
			for _, f := range p.Fields {
				if !strings.Contains(f.Value.String(), "p.") {
					fmt.Fprintf(&told, " %s=%v", f.Name, f.Value)
				}
			}
			for _, e := range p.Effects {
				fmt.Fprintf(&told, " %s%v", e.Name, e.Args)
				for _, f := range e.Fields {
					fmt.Fprintf(&told, "{%v}", f.Value)
				}
			}
			told.WriteString("\n")
		}
	}
	const want = `new-1 [] ID=l.ID Participant=false Decided=false Textbook=flag.Is
start-1 [p.Participant]
start-2 [!p.Participant p.Decided]
start-3 [!p.Participant !p.Decided] Participant=true Send[Right Election]{p.ID}
receive-1 [kind == Leader p.ID == m.ID] Decided=true Lead[0]
receive-2 [kind == Leader p.ID != m.ID] Decided=true Follow[m.ID 0] Send[Right Leader]{m.ID}
receive-3 [kind != Leader m.ID > p.ID p.Participant] Participant=true Send[Right Election]{m.ID}
receive-4 [kind != Leader m.ID > p.ID !p.Participant] Send[Right Election]{m.ID}
receive-5 [kind != Leader m.ID <= p.ID m.ID == p.ID] Send[Right Leader]{m.ID}
receive-6 [kind != Leader m.ID <= p.ID m.ID != p.ID p.Participant]
receive-7 [kind != Leader m.ID <= p.ID m.ID != p.ID !p.Participant] Participant=true Send[Right Election]{p.ID}
`
	if told.String() != want {
		t.Errorf("%s", told.String())
	}
}
