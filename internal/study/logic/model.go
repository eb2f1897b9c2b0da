package logic

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Model is a transition system with an invariant. Its comments come from its text; the package comment has the forms.
type Model struct {
	Name, Title, Theorem, Source string
	Code                         string // the folder of the code that it speaks of
	Search                       bool   // solvers look for instances of quantified formulas

	Assumptions []Assumption
	Sorts       []Sort
	Constants   []*Symbol
	Axioms      []*Formula
	States      []*Symbol
	Definitions []*Symbol
	Initially   []*Assignment
	Actions     []*Action
	Invariants  []*Formula
	Lemmas      []*Formula
	Safety      []*Formula
	Steps       []*Formula
	Premises    []Premises
	Ties        []Tie
}

// Assumption is something that the theorem needs of the code or of its users.
type Assumption struct{ Name, Words, Holds, Breaks string }

// Tie is a test that compares the model with the code: a, its states and steps at small n; b, its runs; c, its step functions, for every n.
type Tie struct{ Kind, Folder, Test string }

// Tied returns the kinds of the ties, or "none".
func (m *Model) Tied() string {
	var kinds []string
	for _, t := range m.Ties {
		if !slices.Contains(kinds, t.Kind) {
			kinds = append(kinds, t.Kind)
		}
	}
	return cmp.Or(strings.Join(kinds, ", "), "none")
}

// Sort is a sort of things.
type Sort struct{ Name, Words string }

// Formula is a formula with its reason or meaning in words.
type Formula struct {
	At          Position
	Name, Words string
	Term        *Term
	Spare       string   // why it is there, although the proof does not need it
	By          []string // of a lemma: the invariants and lemmas from which it follows
	Action      string   // of a step
}

// Action is a step of the system.
type Action struct {
	At          Position
	Name, Words string
	Parameters  []Binding
	Guards      []*Formula
	Assignments []*Assignment
}

// Assignment is a change of a state function, or what it is at first.
type Assignment struct {
	At     Position
	Symbol *Symbol
	Where  []*Term   // of a put: the arguments for which it changes
	Vars   []Binding // else: its arguments in the value
	Value  *Term
}

// Premises are the invariants and lemmas that suffice to prove that an action keeps an invariant.
type Premises struct {
	At                Position
	Action, Invariant string
	By                []string
}

// Formula returns the invariant or lemma of a name, or nil.
func (m *Model) Formula(name string) *Formula {
	return named(slices.Concat(m.Invariants, m.Lemmas), name)
}

// Action returns the action of a name, or nil.
func (m *Model) Action(name string) *Action {
	if i := slices.IndexFunc(m.Actions, func(a *Action) bool { return a.Name == name }); i >= 0 {
		return m.Actions[i]
	}
	return nil
}

// State returns the state function of a name, or nil.
func (m *Model) State(name string) *Symbol {
	if i := slices.IndexFunc(m.States, func(s *Symbol) bool { return s.Name == name }); i >= 0 {
		return m.States[i]
	}
	return nil
}

func named(all []*Formula, name string) *Formula {
	if i := slices.IndexFunc(all, func(f *Formula) bool { return f.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// Changes reports whether an action changes a state function.
func (a *Action) Changes(s *Symbol) bool {
	return slices.ContainsFunc(a.Assignments, func(set *Assignment) bool { return set.Symbol == s })
}

// reader reads a model.
type reader struct {
	*Model
	files    fs.FS
	included map[string]bool
	symbols  map[string]*Symbol
	names    map[string]bool // of axioms, invariants, lemmas, safety and steps
	bytes    int             // of all texts
}

// Load reads a model from a file. Files that it includes are in its folder, or in that of common. An error about the text is an [*Error].
func Load(files, common fs.FS, name string) (m *Model, err error) {
	text, err := read(files, name)
	if err != nil {
		return nil, err
	}
	r := &reader{Model: &Model{}, files: both{files, common}, included: map[string]bool{}, symbols: map[string]*Symbol{}, names: map[string]bool{}}
	defer func() {
		if bad := recover(); bad != nil {
			wrong, is := bad.(*Error)
			if !is {
				panic(bad)
			}
			m, err = nil, wrong
		}
	}()
	r.text(name, text)
	r.complete(Position{name, 1, 1})
	return r.Model, nil
}

// read returns the text of a file, or its beginning if it is too long. What is no regular file may have no end.
func read(files fs.FS, name string) (string, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%q is no regular file", name)
	}
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	return string(text), err
}

// text reads the forms of a text.
func (r *reader) text(name, text string) {
	r.bytes += len(text)
	for _, e := range expressions(name, text) {
		r.form(&e)
	}
}

// both are the files of two folders.
type both [2]fs.FS

// Open opens a file of the first folder that has it.
func (b both) Open(name string) (fs.File, error) {
	f, err := b[0].Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return b[1].Open(name)
	}
	return f, err
}

// Stat tells about that file, without opening it.
func (b both) Stat(name string) (fs.FileInfo, error) {
	info, err := fs.Stat(b[0], name)
	if errors.Is(err, fs.ErrNotExist) {
		return fs.Stat(b[1], name)
	}
	return info, err
}

// complete checks what no single form shows.
func (r *reader) complete(at Position) {
	switch {
	case r.Name == "":
		at.fail("the model has no head: (model NAME …)")
	case len(r.Actions) == 0 || len(r.Invariants) == 0:
		at.fail("a model needs an action and an invariant")
	}
	most := mostProving / (r.bytes + 1) // an obligation has most of the text
	if len(r.Actions)+1 > most/len(r.Invariants) || len(r.Lemmas)+len(r.Steps)+len(r.Safety) > most {
		at.fail("%d actions and %d invariants are too many for a text of %d bytes", len(r.Actions), len(r.Invariants), r.bytes)
	}
}

// form reads one form.
func (r *reader) form(e *expression) {
	items := e.items("a form")
	if len(items) == 0 {
		e.at.fail("a form is expected here, not ()")
	}
	name := items[0].atom("the name of a form")
	f, known := forms()[name]
	if !known {
		items[0].at.fail("there is no form %s", name)
	}
	if n := len(items) - 1; n < f.least || f.most > 0 && n > f.most {
		e.at.fail("a form %s has the parts %s", name, f.parts)
	}
	f.read(r, e, items[1:])
}

// Without returns a model without some invariants, lemmas and axioms, and without some guards, each as ACTION:NUMBER from 1.
func (m *Model) Without(formulas, guards []string) (*Model, error) {
	less := *m
	for _, name := range formulas {
		if named(slices.Concat(m.Invariants, m.Lemmas, m.Axioms), name) == nil {
			return nil, fmt.Errorf("%s has no invariant %q; it has %s", m.Name, name, Names(m.Invariants))
		}
		others := func(all []*Formula) []*Formula {
			return slices.DeleteFunc(slices.Clone(all), func(f *Formula) bool { return f.Name == name })
		}
		less.Invariants, less.Lemmas, less.Axioms = others(less.Invariants), others(less.Lemmas), others(less.Axioms)
	}
	less.Actions = slices.Clone(m.Actions)
	for _, guard := range guards {
		name, text, _ := strings.Cut(guard, ":")
		at := slices.IndexFunc(m.Actions, func(a *Action) bool { return a.Name == name })
		number, err := strconv.Atoi(text)
		switch {
		case at < 0:
			return nil, fmt.Errorf("%s has no action %q in %q; a guard is ACTION:NUMBER", m.Name, name, guard)
		case err != nil || number < 1 || number > len(m.Actions[at].Guards):
			return nil, fmt.Errorf("the action %s has the guards 1 to %d, not %q", name, len(m.Actions[at].Guards), text)
		}
		weaker := *less.Actions[at]
		gone := m.Actions[at].Guards[number-1]
		weaker.Guards = slices.DeleteFunc(slices.Clone(weaker.Guards), func(g *Formula) bool { return g == gone })
		less.Actions[at] = &weaker
	}
	return &less, nil
}

// Names returns the names of formulas with commas between them.
func Names(all []*Formula) string {
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = f.Name
	}
	return strings.Join(names, ", ")
}
