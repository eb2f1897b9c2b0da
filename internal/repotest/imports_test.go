package repotest

import (
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// importRule limits the imports of code that is not a test.
type importRule struct {
	in      []string // the packages that it binds
	except  []string // but not these
	closure bool     // binds also what they import of this module
	only    []string // what may be imported; nil is anything
	never   []string // what may not
	because string
	broken  [2]string // a package and an import that break it
}

var (
	anywhere = []string{"./..."}
	engines  = []string{"./simulate", "./verify", "./internal/serve/live", "./internal/study/tcprun"}
	theory   = []string{"errors", "fmt", "cmp", "iter", "math", "math/bits", "math/big", "slices", "strconv", "strings"}
)

var importRules = []importRule{
	{
		in: []string{"./election"}, only: theory,
		because: "the contract stands on nothing: its text is all that an algorithm can see",
		broken:  [2]string{"./election", "./trace"},
	},
	{
		in: []string{"./algorithms/..."}, except: []string{"./algorithms"}, only: append([]string{"./election", "./internal/core/mean"}, theory...),
		because: "an algorithm knows the contract, and one sum that it shares with another: no engine, no other algorithm, nothing that tells time, place or chance apart",
		broken:  [2]string{"./algorithms/a", "./algorithms/b"},
	},
	{
		in: []string{"./algorithms"}, only: []string{"embed", "io/fs", "path", "slices", "strings"},
		because: "it has the texts of the algorithms, and compiles none",
		broken:  [2]string{"./algorithms", "./algorithms/a"},
	},
	{
		in: []string{"./internal/core/mean"}, only: append([]string{"./election"}, theory...),
		because: "algorithms import it, so it may import no more than they",
		broken:  [2]string{"./internal/core/mean", "./order"},
	},
	{
		in: []string{"./network"}, only: append([]string{"./election"}, theory...),
		because: "what an algorithm is run on is the same for all engines, and stands on the contract alone",
		broken:  [2]string{"./network", "./trace"},
	},
	{
		in: []string{"./faults"}, only: []string{"std", "./election", "./network", "./internal/core/random"},
		because: "a script of faults is data that any engine could take, so it knows none",
		broken:  [2]string{"./faults", "./simulate"},
	},
	{
		in: []string{"./outcome"}, only: []string{"std", "./election", "./network"},
		because: "what comes of an election is told in the same way by all engines, so it knows none",
		broken:  [2]string{"./outcome", "./simulate"},
	},
	{
		in: []string{"./trace"}, only: []string{"std", "./election", "./network"},
		because: "the record of an execution is the same for all engines, so it knows none, and no drawing",
		broken:  [2]string{"./trace", "./drawing"},
	},
	{
		in: []string{"./drawing"}, only: []string{"std", "./election", "./network", "./trace"},
		because: "it draws records, whichever engine made them, and brings no library for fonts, pictures and pages",
		broken:  [2]string{"./drawing", "git.sr.ht/~sbinet/gg"},
	},
	{
		in: engines, never: []string{"./algorithms/...", "./catalogue/...", "./internal/runners/..."},
		because: "an engine runs any algorithm; it gets better at none by knowing it",
		broken:  [2]string{"./verify", "./algorithms/a"},
	},
	{
		in: engines, never: engines,
		because: "engines are witnesses for each other, so they share nothing but the contract and the processes that keep to it",
		broken:  [2]string{"./verify", "./simulate"},
	},
	{
		in: []string{"./verify/internal/model"}, only: []string{"std", "./election", "./network", "./faults", "./trace", "./internal/core/process", "./internal/core/codec"},
		because: "the transitions of an election are the same, whatever explores them",
		broken:  [2]string{"./verify/internal/model", "./verify/internal/search"},
	},
	{
		in: []string{"./verify/internal/reductions"}, only: []string{"std", "./election", "./network", "./internal/core/process", "./verify/internal/model"},
		because: "what need not be explored follows from the model, whatever searches it",
		broken:  [2]string{"./verify/internal/reductions", "./verify/internal/search"},
	},
	{
		in: []string{"./verify/internal/search"}, only: []string{"std", "./election", "./network", "./trace", "./internal/core/...", "./verify/internal/..."},
		because: "a part of the checker knows no algorithm and no other engine",
		broken:  [2]string{"./verify/internal/search", "./simulate"},
	},
	{
		in: []string{"./internal/core/process"}, only: []string{"std", "./election", "./network", "./internal/core/codec", "./internal/core/framing"},
		because: "it holds processes for all engines, whatever they do about the effects of a step",
		broken:  [2]string{"./internal/core/process", "./internal/serve/live"},
	},
	{
		in: []string{"./program"}, only: []string{"std", "./election", "./internal/core/process"},
		because: "all engines take programs, so it knows none",
		broken:  [2]string{"./program", "./simulate"},
	},
	{
		in: []string{"./transport/..."}, only: []string{"std", "./internal/core/framing", "./internal/serve/kernel", "./transport"},
		because: "it carries frames, whatever they say: it knows neither the algorithm nor what the loop makes of them",
		broken:  [2]string{"./transport", "./internal/serve/live"},
	},
	{
		in: []string{"./storage"}, only: []string{"std"},
		because: "it keeps records, whatever they hold, and programs may replace it: it knows neither the algorithm nor the loop",
		broken:  [2]string{"./storage", "./election"},
	},
	{
		in:      []string{"./internal/serve/disk", "./internal/serve/view", "./internal/serve/delays", "./internal/serve/kept", "./internal/serve/recorder"},
		only:    []string{"std", "./election", "./network", "./storage", "./clock", "./transport", "./internal/serve/record", "./internal/serve/view"},
		because: "they are leaves of the loop, which tells them what they need to know",
		broken:  [2]string{"./internal/serve/disk", "./internal/serve/live"},
	},
	{
		in: []string{"./internal/serve/live"}, never: []string{"net/..."},
		because: "the loop owns state, clock and disk; what dials, listens, reads and writes is a transport, which can be replaced",
		broken:  [2]string{"./internal/serve/live", "net"},
	},
	{
		in: anywhere, except: []string{"./transport/...", "./ringleadertest"}, never: []string{"./transport/transporttest"},
		because: "networks in memory are for tests",
		broken:  [2]string{"./internal/serve/live", "./transport/transporttest"},
	},
	{
		in: []string{"./internal/study/reproduce"}, never: []string{"./algorithms/...", "./internal/study/reproduce/..."},
		because: "a change in one algorithm compiles the rows of the sources that look into it, and not those of all",
		broken:  [2]string{"./internal/study/reproduce", "./algorithms/a"},
	},
	{
		in: []string{"./internal/core/loops"}, only: []string{"std", "./election", "./network", "./outcome", "./internal/core/process", "./internal/core/random"},
		because: "it is compiled for each algorithm, so a change of anything that it imports compiles all of them",
		broken:  [2]string{"./internal/core/loops", "./simulate"},
	},
	{
		in: []string{"./internal/runners/..."}, only: []string{"./algorithms/...", "./internal/core/loops"},
		because: "what compiles an algorithm waits for changes of the loops, and for no other change of an engine",
		broken:  [2]string{"./internal/runners/a", "./simulate"},
	},
	{
		in: []string{"./internal/study/claims"}, only: []string{"std", "./election", "./network", "./trace"},
		because: "what is claimed of every run is checked on its record, whichever engine made it",
		broken:  [2]string{"./internal/study/claims", "./simulate"},
	},
	{
		in: []string{"./count", "./order"}, only: []string{"std", "./election", "./network", "./outcome", "./order", "./internal/core/random"},
		because: "a closed form that asks an engine counts nothing by itself",
		broken:  [2]string{"./count", "./simulate"},
	},
	{
		in: []string{"./election/electiontest"}, never: []string{"./algorithms/...", "./catalogue/...", "./internal/runners/..."},
		because: "the conformance suite is for all algorithms, not for those of this module",
		broken:  [2]string{"./election/electiontest", "./catalogue"},
	},
	{
		in: []string{"."}, closure: true, only: []string{"std", "./..."},
		because: "a program that imports the library takes no other module with it",
		broken:  [2]string{"./internal/serve/live", "github.com/x/y"},
	},
	{
		in: []string{"."}, closure: true, never: []string{"./catalogue/...", "./internal/runners/...", "./simulate", "./verify", "./count"},
		because: "a member of a group runs one algorithm; it does not carry a laboratory",
		broken:  [2]string{".", "./catalogue"},
	},
	{
		in: anywhere, except: []string{"./statushttp", "./internal/serve/control", "./internal/show/lab", "./internal/cli/jobs", "./examples/standby"}, never: []string{"net/http/..."},
		because: "HTTP takes more room than all else that a member links",
		broken:  [2]string{"./transport", "net/http"},
	},
	{
		in: anywhere, except: []string{"./transport"}, never: []string{"crypto/tls"},
		because: "one package keeps what makes a connection secure",
		broken:  [2]string{"./internal/serve/live", "crypto/tls"},
	},
	{
		in:      []string{"./catalogue", "./internal/cli/...", "./internal/show/report/...", "./internal/show/demo", "./internal/study/reproduce/...", "./internal/study/experiment", "./internal/study/worstcase", "./internal/study/claims"},
		except:  []string{"./internal/cli/clitest"},
		never:   []string{"./catalogue/all", "./internal/runners/..."},
		because: "tools take the list of algorithms as an argument, so that other programs can add theirs, and a change in one algorithm compiles no tool",
		broken:  [2]string{"./internal/cli", "./catalogue/all"},
	},
	{
		in: []string{"./internal/show/chart"}, only: []string{"std", "./drawing", "./internal/show/render"},
		because: "it draws numbers, and knows neither elections nor where the numbers come from",
		broken:  [2]string{"./internal/show/chart", "./internal/study/experiment"},
	},
	{
		in: []string{"./internal/study/logic"}, only: []string{"std"}, never: []string{"os/...", "net/..."},
		because: "it reads a text, and knows neither solvers nor engines",
		broken:  [2]string{"./internal/study/logic", "./internal/study/prove"},
	},
	{
		in: []string{"./internal/study/finite"}, only: []string{"std", "./internal/study/logic"}, never: []string{"os/...", "net/..."},
		because: "it evaluates models, so that it has nothing in common with a solver, and runs in a browser",
		broken:  [2]string{"./internal/study/finite", "./internal/study/prove"},
	},
	{
		in:      []string{"./internal/show/render"},
		only:    []string{"std", "./drawing", "git.sr.ht/~sbinet/gg", "codeberg.org/go-pdf/fpdf", "golang.org/x/image/..."},
		because: "it writes drawings, whatever these show",
		broken:  [2]string{"./internal/show/render", "./internal/show/chart"},
	},
	{
		in: []string{"./internal/study/work"}, only: []string{"std"}, never: []string{"net/...", "os/exec"},
		because: "it splits computations, whatever they compute, and a runner elsewhere brings its own network",
		broken:  [2]string{"./internal/study/work", "./verify"},
	},
	{
		in: anywhere, never: []string{"./internal/study/worktest", "./internal/study/brokertest"},
		because: "they cut jobs and build the server in tests",
		broken:  [2]string{"./internal/study/work", "./internal/study/worktest"},
	},
	{
		in: anywhere, never: []string{"./internal/study/tracetest", "./internal/serve/kernel/kerneltest", "./internal/study/prove/provetest"},
		because: "it helps tests",
		broken:  [2]string{"./trace", "./internal/study/tracetest"},
	},
	{
		in: anywhere, never: []string{"github.com/nats-io/nats-server/...", "github.com/nats-io/jwt/..."},
		because: "a server takes a fifth of the time of a first build, and few commands start one",
		broken:  [2]string{"./internal/study/cluster", "github.com/nats-io/nats-server/v2/server"},
	},
	{
		in: []string{"./internal/study/broker"}, only: []string{"std"},
		because: "the server's program imports it, so its module needs none of the others here",
		broken:  [2]string{"./internal/study/broker", "./internal/study/cluster"},
	},
	{
		in: []string{"./internal/study/secret"}, only: []string{"std", "github.com/nats-io/nkeys"},
		because: "the server's program imports it, so its module needs none of the others here",
		broken:  [2]string{"./internal/study/secret", "./internal/study/cluster"},
	},
	{
		in: []string{"./internal/study/cluster"}, only: []string{"std", "./internal/study/work", "./internal/study/secret", "github.com/nats-io/..."}, never: []string{"os/exec"},
		because: "it carries pieces and results, whatever they compute, and other programs choose what it runs",
		broken:  [2]string{"./internal/study/cluster", "./internal/cli"},
	},
	{
		in: anywhere, except: []string{"./internal/study/cluster", "./internal/study/secret"}, never: []string{"github.com/nats-io/..."},
		because: "one package knows the server, and one its keys, so that a build without them carries none of that",
		broken:  [2]string{"./internal/cli", "github.com/nats-io/nats.go"},
	},
	{
		in: []string{"./internal/study/experiment"}, only: []string{"std", "./catalogue", "./election", "./network", "./order", "./simulate", "./internal/study/work"},
		because: "it measures what the catalogue lists, and leaves to others how that is shown",
		broken:  [2]string{"./internal/study/experiment", "./internal/show/chart"},
	},
	{
		in: anywhere, except: []string{"./internal/cli/...", "./workbench"}, never: []string{"./internal/cli/...", "github.com/spf13/..."},
		because: "the command line is the outermost layer",
		broken:  [2]string{"./catalogue", "github.com/spf13/cobra"},
	},
	{
		in:      []string{"./internal/cli/option", "./internal/cli/labour", "./internal/cli/operate"},
		never:   []string{"./internal/cli/plan", "./internal/cli/run", "./internal/cli/study", "./internal/cli/jobs", "./internal/cli/lab"},
		because: "they know no study",
		broken:  [2]string{"./internal/cli/labour", "./internal/cli/plan"},
	},
	{
		in: []string{"./internal/cli/plan"}, never: []string{"./internal/cli/run", "./internal/cli/study", "./internal/cli/jobs", "./internal/cli/lab"},
		because: "the rooms of studies stand on it",
		broken:  [2]string{"./internal/cli/plan", "./internal/cli/run"},
	},
	{
		in: []string{"./internal/cli/run", "./internal/cli/study"}, never: []string{"./internal/cli/run", "./internal/cli/study", "./internal/cli/jobs", "./internal/cli/lab", "./internal/cli/operate"},
		because: "one election and many stand beside each other, below jobs and the lab",
		broken:  [2]string{"./internal/cli/study", "./internal/cli/run"},
	},
	{
		in: []string{"./internal/cli/jobs", "./internal/cli/lab"}, never: []string{"./internal/cli/jobs", "./internal/cli/lab", "./internal/cli/operate"},
		because: "the root joins them",
		broken:  [2]string{"./internal/cli/jobs", "./internal/cli/lab"},
	},
	{
		in: []string{"./internal/show/report"}, never: []string{"./internal/show/demo", "./internal/study/cluster", "./internal/serve/live", "os/exec", "net/..."},
		because: "it prints what others have found, and starts nothing",
		broken:  [2]string{"./internal/show/report", "os/exec"},
	},
	{
		in: []string{"./internal/show/demo"}, only: []string{"std", ".", "./internal/show/report", "./internal/show/report/fit", "./internal/serve/rig", "./internal/serve/observe", "./internal/serve/kernel"},
		because: "it knows its members by what they print, and no algorithm",
		broken:  [2]string{"./internal/show/demo", "./catalogue"},
	},
	{
		in: []string{"./internal/serve/observe"}, only: []string{"std", "."}, never: []string{"net/...", "os/exec"},
		because: "it keeps what is seen of a group, whichever way members are asked and shown",
		broken:  [2]string{"./internal/serve/observe", "./internal/serve/control"},
	},
	{
		in: []string{"./internal/serve/rig"}, only: []string{"std"},
		because: "it starts and links processes, whatever they run, so that tests of real members stay small programs",
		broken:  [2]string{"./internal/serve/rig", "./internal/show/report"},
	},
	{
		in:      []string{"./internal/study/reproduce/..."},
		only:    []string{"std", "./election", "./algorithms/...", "./catalogue", "./network", "./faults", "./outcome", "./simulate", "./verify", "./count", "./order", "./trace", "./internal/study/claims", "./internal/core/random", "./internal/study/work", "./internal/study/worstcase", "./internal/study/reproduce/..."},
		because: "it judges statements about algorithms, so it may know all of them, by name and with an error put in, and every engine that works in memory; it draws inputs from seeds, and searches for costly ones",
		broken:  [2]string{"./internal/study/reproduce", "./internal/study/tcprun"},
	},
	{
		in: anywhere, except: []string{"./internal/core/codec", "./clock", "./internal/serve/kernel"}, never: []string{"unsafe"},
		because: "few packages that are read with care are enough",
		broken:  [2]string{"./simulate", "unsafe"},
	},
	{
		in: anywhere, never: []string{"C"},
		because: "it builds with Go alone, for every system, from any other",
		broken:  [2]string{"./internal/serve/live", "C"},
	},
	{
		in: anywhere, except: []string{"./internal/core/random"}, never: []string{"math/rand", "math/rand/v2"},
		because: "a seed means the same run for ever, which one generator of our own choice guarantees; live choices are crypto/rand's",
		broken:  [2]string{"./internal/serve/live", "math/rand/v2"},
	},
	{
		in: pure, never: []string{"time", "os/...", "net/...", "syscall", "runtime/...", "crypto/rand", "hash/maphash"},
		because: "what is pure gives the same answer everywhere and always",
		broken:  [2]string{"./simulate", "time"},
	},
	{
		in: pure, except: []string{"./verify", "./verify/internal/search", "./count"}, never: []string{"sync/..."},
		because: "what is pure gives the same answer everywhere and always; the checker's workers do, whichever of them is first, as its tests compare, " +
			"and so do counts that share what one of them has computed",
		broken: [2]string{"./simulate", "sync"},
	},
	{
		in: []string{"./internal/core/..."}, only: []string{"std", "./election", "./network", "./outcome", "./internal/core/..."},
		because: "every engine stands on this wing, so it stands on the contract alone",
		broken:  [2]string{"./internal/core/memory", "./internal/study/work"},
	},
	{
		in: []string{"./internal/serve/..."}, never: []string{"./internal/study/...", "./internal/show/...", "./internal/cli/...", "./internal/runners/...", "./catalogue/...", "./simulate", "./verify", "./count"},
		because: "a host that runs a member carries no laboratory",
		broken:  [2]string{"./internal/serve/agent", "./internal/show/report"},
	},
	{
		in: []string{"./internal/study/..."}, never: []string{".", "./internal/serve/...", "./internal/show/...", "./internal/cli/..."},
		because: "a study computes values, and others print and draw them",
		broken:  [2]string{"./internal/study/work", "./internal/show/report"},
	},
	{
		in: anywhere, except: []string{"./internal/show/...", "./internal/cli/...", "./workbench"}, never: []string{"./internal/show/...", "./drawing"},
		because: "what people look at is made last, so no arrow runs back from there, and no engine compiles drawings",
		broken:  [2]string{"./simulate", "./drawing"},
	},
}

// check complains about the imports of a module that break the rule.
func (r importRule) check(m *module) (complaints []string) {
	for _, p := range r.bound(m) {
		for _, f := range p.files {
			for _, s := range f.Imports {
				path := m.imported(s)
				if r.only != nil && !matchesAny(r.only, path) || matchesAny(r.never, path) {
					complaints = append(complaints, m.at(s, "%s may not import %s: %s", p.path, path, r.because))
				}
			}
		}
	}
	return complaints
}

// bound are the packages that the rule binds.
func (r importRule) bound(m *module) (bound []*pkg) {
	var add func(p *pkg)
	add = func(p *pkg) {
		if slices.Contains(bound, p) {
			return
		}
		bound = append(bound, p)
		if !r.closure {
			return
		}
		for _, f := range p.files {
			for _, s := range f.Imports {
				if i := slices.IndexFunc(m.packages, func(q *pkg) bool { return q.path == m.imported(s) }); i >= 0 {
					add(m.packages[i])
				}
			}
		}
	}
	for _, p := range m.packages {
		if matchesAny(r.in, p.path) && !matchesAny(r.except, p.path) {
			add(p)
		}
	}
	return bound
}

func TestThisModuleKeepsTheImportRules(t *testing.T) {
	for _, r := range importRules {
		for _, complaint := range r.check(tree(t)) {
			t.Error(complaint)
		}
	}
}

func TestEveryImportRuleCanBeBroken(t *testing.T) {
	for _, r := range importRules {
		importer, imported := r.broken[0], r.broken[1]
		imports := map[string]string{".": importer}
		imports[importer] = imported
		complaints := r.check(loaded(t, importing(imports)))
		if len(complaints) != 1 || !strings.Contains(complaints[0], importer+" may not import "+imported) {
			t.Errorf("%s imports %s, and the rule %q says %q", importer, imported, r.because, complaints)
		}
	}
}

// A rule about packages that do not exist would always hold.
func TestEveryImportRuleBindsPackages(t *testing.T) {
	for _, r := range importRules {
		for _, pattern := range r.in {
			if !slices.ContainsFunc(tree(t).packages, func(p *pkg) bool { return matches(pattern, p.path) }) {
				t.Errorf("no package is %s, of which a rule says: %s", pattern, r.because)
			}
		}
	}
}

func TestPatternsMatchWholeNames(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"./trace", "./trace", true},
		{"./trace", "./tracer", false},
		{"./trace", "./trace/draw", false},
		{"./algorithms/...", "./algorithms/lcr", true},
		{"./algorithms/...", "./algorithmic", false},
		{"./...", ".", true},
		{"./...", "./x/y", true},
		{"./...", "x", false},
		{"std", "math/rand/v2", true},
		{"std", "github.com/x/y", false},
		{"std", "./election", false},
		{"std", ".", false},
	} {
		if matches(c.pattern, c.path) != c.want {
			t.Errorf("%s matches %s: %v", c.pattern, c.path, !c.want)
		}
	}
}

// importing is a module of packages that import one thing each.
func importing(imports map[string]string) fstest.MapFS {
	const name = "m.example/m"
	files := fstest.MapFS{"go.mod": {Data: []byte("module " + name + "\n")}}
	for p, imported := range imports {
		if imported[0] == '.' {
			imported = name + imported[1:]
		}
		files[path.Join(p, "p.go")] = &fstest.MapFile{Data: []byte("package p\n\nimport \"" + imported + "\"\n")}
	}
	return files
}
