package report

import "fmt"

// Scenario is a named run.
type Scenario struct {
	Name, Source string
	About        string // what it shows
	Call         string // of the program, in a shell
}

// Introduce prints what a scenario shows.
func (s *Scenario) Introduce(p *Printer) {
	fmt.Fprintf(p.Out, "%s · %s\n%s\n$ %s\n", p.Paint().Text(Bold, s.Name), s.Source, Wrap(s.About, p.ProseWidth()), s.Call)
}

// Scenarios is a list of named runs.
type Scenarios []Scenario

// JSON returns all scenarios for programs.
func (list Scenarios) JSON() any {
	all := make([]Object, len(list))
	for i, s := range list {
		all[i] = Object{{"name", s.Name}, {"source", s.Source}, {"about", s.About}, {"call", s.Call}}
	}
	return Object{{"scenarios", all}}
}

// Text prints the scenarios for people.
func (list Scenarios) Text(p *Printer) error {
	for i := range list {
		if i > 0 {
			fmt.Fprintln(p.Out)
		}
		list[i].Introduce(p)
	}
	return nil
}
