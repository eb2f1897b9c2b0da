package sources_test

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// algorithms are all algorithms, with a memory. Rows ask for the same runs and checks as other rows, and tests judge a row
// again after a change of one algorithm, or of what is measured.
var algorithms = func() catalogue.List {
	var entries []catalogue.Entry
	for _, e := range all.Algorithms {
		entries = append(entries, remembering(*e))
	}
	return catalogue.New(entries...)
}()

// remembering returns an entry that runs and checks an election once, and has the answer in memory then.
func remembering(e catalogue.Entry) catalogue.Entry {
	simulated, verified := e.Simulate, e.Verify
	known.entries++
	number := known.entries
	e.Simulate = func(o simulate.Options) (*simulate.Result, error) {
		a := known.ask(simulation(number, o), func() (a answer) {
			a.result, a.err = simulated(o)
			return a
		})
		return copyOfResult(a.result), a.err
	}
	e.Verify = func(o verify.Options) (*verify.Report, error) {
		a := known.ask(check(number, o), func() (a answer) {
			a.report, a.err = verified(o)
			return a
		})
		return copyOfReport(a.report), a.err
	}
	return e
}

// known has the answers of simulator and checker.
var known = memory{small: map[key]answer{}}

// memory is asked by the checks of several rows at once.
type memory struct {
	mutex    sync.Mutex
	entries  int
	small    map[key]answer
	recorded map[key]answer
	steps    int // of records
}

type (
	key    [sha256.Size]byte
	answer struct {
		result *simulate.Result
		report *verify.Report
		err    error
	}
)

// mostSteps limits the records in memory; those of one source have fewer steps. A step takes about 700 bytes, with texts and values.
const mostSteps = 350_000

// ask returns the answer to a question, from memory if it is there. Two checks that ask the same at once may both look for it.
func (m *memory) ask(question string, find func() answer) answer {
	k := sha256.Sum256([]byte(question))
	if a, there := m.recall(k); there {
		return a
	}
	a := find()
	m.keep(k, a)
	return a
}

func (m *memory) recall(k key) (a answer, there bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if a, there = m.small[k]; there {
		return a, true
	}
	a, there = m.recorded[k]
	return a, there
}

func (m *memory) keep(k key, a answer) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if a.result == nil || a.result.Record == nil {
		m.small[k] = a
		return
	}
	if m.recorded == nil || m.steps > mostSteps {
		m.recorded, m.steps = map[key]answer{}, 0
	}
	m.recorded[k] = a
	m.steps += len(a.result.Record.Steps)
}

// simulation returns a text that differs for runs that differ.
func simulation(entry int, o simulate.Options) string {
	setup := asked(o.Setup)
	o.Setup, o.Progress = network.Setup{}, nil
	return fmt.Sprint("run ", entry, setup, set(o))
}

// check returns a text that differs for checks that differ.
func check(entry int, o verify.Options) string {
	setup := asked(o.Setup)
	o.Setup, o.Progress = network.Setup{}, nil
	return fmt.Sprint("check ", entry, setup, set(o))
}

// asked returns a text that differs for setups that differ.
func asked(s network.Setup) string {
	ids := listed(s.IDs)
	s.IDs = nil
	return fmt.Sprint(ids, set(s))
}

// set returns the fields of a struct that are not zero, with their numbers.
func set(options any) string {
	var text strings.Builder
	all := reflect.ValueOf(options)
	for i := range all.NumField() {
		if field := all.Field(i); !field.IsZero() {
			fmt.Fprintf(&text, " %d: %+v", i, field)
		}
	}
	return text.String()
}

// listed returns the identifiers; nil without an arrangement.
func listed(ids election.Arrangement) (list election.List) {
	for p := 0; ids != nil && p < ids.Len(); p++ {
		list = append(list, ids.At(p))
	}
	return list
}

// copyOfResult has its own copies of all that a test changes.
func copyOfResult(r *simulate.Result) *simulate.Result {
	if r == nil {
		return nil
	}
	result := *r
	result.ByPhase = slices.Clone(r.ByPhase)
	result.Open, result.Time, result.Record = copied(r.Open), copied(r.Time), copied(r.Record)
	return &result
}

// copyOfReport has its own copies of all that a test changes.
func copyOfReport(r *verify.Report) *verify.Report {
	if r == nil {
		return nil
	}
	report := *r
	report.MaxMessages = copied(r.MaxMessages)
	return &report
}

func copied[T any](original *T) *T {
	if original == nil {
		return nil
	}
	value := *original
	return &value
}
