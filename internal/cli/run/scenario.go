package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/report"
)

// scenario is an instructive run, as its command line.
type scenario struct {
	Name      string
	Source    string
	About     string
	algorithm string
	flags     []string // --name, value, …
}

// RunScenarios are in the order of their sources.
var RunScenarios = []scenario{
	{
		Name: "s2-example-2.1", Source: "S2 example 2.1, figures 2.2 to 2.6",
		About:     "Identifiers decrease clockwise, so each message goes as far as it can: stages of 5, 4, 3, 2 and 1 messages. Then the leader announces itself.",
		algorithm: "lcr", flags: []string{"--ids", "5,4,3,2,1"},
	},
	{
		Name: "s2-logical-ring", Source: "S2 section 2.4",
		About:     "A list of the live processes circulates. 3 is crashed, so its predecessor receives no acknowledgement and skips it, twice.",
		algorithm: "logical-ring", flags: []string{"--n", "5", "--dead", "3", "--start", "1"},
	},
	{
		Name: "s2-figures-2.7-2.8", Source: "S2 figures 2.7 and 2.8",
		About: "7 was leader and has crashed. 4 detects this and asks 5, 6 and 7 (a). 5 and 6 answer it (b), and each starts an election (c). " +
			"6 answers 5 (d), receives no answer from 7, wins and announces itself to all (e).",
		algorithm: "bully", flags: []string{"--ids", "1,2,3,4,5,6,7", "--dead", "7", "--start", "4", "--param", "victory=lower"},
	},
	{
		Name: "s4-rule-1", Source: "S4 rule 1",
		About:     "The coordinator 5 crashes, and the failure detector reports it: the others ask all higher processes. 5 recovers, is the highest, and announces itself to all.",
		algorithm: "bully", flags: []string{"--n", "5", "--start", "5", "--fault", "crash 5 at 10", "--fault", "recover 5 at 40"},
	},
	{
		Name: "s4-rule-2", Source: "S4 rule 2",
		About:     "5 is crashed. 4 asks it, receives no answer, and announces itself to all others.",
		algorithm: "bully", flags: []string{"--n", "5", "--dead", "5", "--start", "4"},
	},
	{
		Name: "s4-rule-3", Source: "S4 rule 3",
		About:     "4 is crashed. 3 answers 1 and 2 and crashes before its victory. 1 and 2 wait for the victory until their timers expire, and start again.",
		algorithm: "bully", flags: []string{"--n", "4", "--dead", "4", "--start", "1", "--fault", "crash 3 at 3"},
	},
	{
		Name: "s4-rule-4", Source: "S4 rule 4",
		About:     "1 asks all higher processes. Each answers, and starts an election of its own unless it is already electing.",
		algorithm: "bully", flags: []string{"--n", "4", "--start", "1"},
	},
	{
		Name: "s4-rule-5", Source: "S4 rule 5",
		About:     "The highest process announces itself, and all others accept it as the coordinator.",
		algorithm: "bully", flags: []string{"--n", "4", "--start", "4"},
	},
	{
		Name: "s4-not-synchronous", Source: "S4's assumption of synchrony, dropped, and its rule 5 as printed",
		About: "3 is crashed, and messages take up to 2 units. But 1 waits only 3 units for an answer, and wins too early, at the same time " +
			"as 2. Each then accepts the other as leader, for ever. --param bullying=yes, as in older statements, prevents this.",
		algorithm: "bully", flags: []string{"--n", "3", "--dead", "3", "--start", "1,2", "--param", "bullying=no,delay=2,answer-timeout=3"},
	},
	{
		Name: "leader-dies-announcing", Source: "S4: processes may fail at any time, also during a broadcast",
		About:     "5 wins and crashes after 2 of its 4 announcements. The failure detector reports to its followers; the others are still electing.",
		algorithm: "bully", flags: []string{"--n", "5", "--fault", "crash 5 at 0 after 2 sends"},
	},
	{
		Name: "s4-partition", Source: "S4's assumption of reliable delivery, dropped",
		About:     "Bully has no quorum: each side of the partition elects a coordinator. When the partition heals, one of them gives way.",
		algorithm: "bully", flags: []string{"--n", "5", "--start", "5", "--fault", "partition 1,2,3 | 4,5 from 10 until 60"},
	},
	{
		Name: "partition-and-merge", Source: "Garcia-Molina 1982, the invitation algorithm",
		About:     "One group; then the network is partitioned, and each part has a group with a coordinator, which is allowed; then it heals, and the groups merge.",
		algorithm: "invitation", flags: []string{"--n", "5", "--fault", "partition 1,2,3 | 4,5 from 30 until 150", "--until", "250"},
	},
	{
		Name: "invitation-livelock", Source: "Garcia-Molina 1982, the invitation algorithm without rule C",
		About:     "Two coordinators invite each other at about the same time, each ignores the other's invitation, and so on for ever.",
		algorithm: "invitation", flags: []string{"--n", "2", "--param", "rule-c=no,stagger=3", "--until", "400"},
	},
}

// runScenarioNames are the names of the scenarios.
func runScenarioNames() []string {
	names := make([]string, len(RunScenarios))
	for i := range RunScenarios {
		names[i] = RunScenarios[i].Name
	}
	return names
}

// findScenario returns the scenario of that name, ignoring case.
func findScenario(name string) (*scenario, error) {
	i := slices.IndexFunc(RunScenarios, func(s scenario) bool { return strings.EqualFold(s.Name, name) })
	if i < 0 {
		return nil, fmt.Errorf("unknown scenario %q; %s", name, option.Instead(name, runScenarioNames()))
	}
	return &RunScenarios[i], nil
}

// set gives flags the scenario's values, unless the call sets them.
func (s *scenario) set(flags *pflag.FlagSet) error {
	given := map[string]bool{}
	flags.Visit(func(f *pflag.Flag) { given[f.Name] = true })
	for pair := range slices.Chunk(s.flags, 2) {
		if name := strings.TrimPrefix(pair[0], "--"); !given[name] {
			if err := flags.Set(name, pair[1]); err != nil {
				return fmt.Errorf("scenario %s: %w", s.Name, err)
			}
		}
	}
	return nil
}

// Run is the scenario as a saved run has it.
func (s *scenario) Run() []string {
	words := []string{s.algorithm}
	for pair := range slices.Chunk(s.flags, 2) {
		words = append(words, pair[0]+"="+pair[1])
	}
	return words
}

// call is the scenario as a call of the program without it.
func (s *scenario) call(program string) string {
	words := []string{program, "run", s.algorithm}
	for _, word := range s.flags {
		words = append(words, report.ShellWord(word))
	}
	return strings.Join(words, " ")
}

// Scenarios returns the command that lists the named runs.
func Scenarios(p *plan.Program) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "scenarios",
		GroupID: option.GroupStudy,
		Short:   "List the named runs, each with a story",
		Long: `List the named runs: examples, figures and rules of the sources, and failures where an assumption
does not hold. A scenario is a call of run; flags given with it take precedence.`,
		Example: `  ringleader scenarios
  ringleader run --scenario s2-figures-2.7-2.8
  ringleader run --scenario partition-and-merge --draw merge.svg`,
		Args: option.FlagsOnly,
		RunE: func(*cobra.Command, []string) error {
			list := make(report.Scenarios, len(RunScenarios))
			for i := range RunScenarios {
				list[i] = *RunScenarios[i].introduction(p.Name)
			}
			return p.Print(list, asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// introduction returns what a scenario of the program shows.
func (s *scenario) introduction(program string) *report.Scenario {
	return &report.Scenario{Name: s.Name, Source: s.Source, About: s.About, Call: s.call(program)}
}

// scenarioRun is a named run, with an introduction.
type scenarioRun struct {
	*report.Run
	name string
}

// Text introduces the run and prints it.
func (r scenarioRun) Text(p *report.Printer) error {
	s, err := findScenario(r.name)
	if err != nil {
		return err
	}
	s.introduction(p.Name).Introduce(p)
	fmt.Fprintln(p.Out)
	return r.Run.Text(p)
}

// played is the arguments of a run, those of its scenario if it has one, whose flags it sets then.
func (o *Options) played(command *cobra.Command, args []string) ([]string, error) {
	if o.scenario == "" {
		return args, nil
	}
	s, err := findScenario(o.scenario)
	switch {
	case err != nil:
		return nil, err
	case len(args) > 0:
		return nil, fmt.Errorf("scenario %s runs %s; leave out %s", s.Name, s.algorithm, args[0])
	}
	o.Story = true
	return []string{s.algorithm}, s.set(command.Flags())
}
