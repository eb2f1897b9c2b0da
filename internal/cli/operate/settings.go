//go:build !js

package operate

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/storage"
)

// settings are the flags of a command that runs a member. Each is a key of the file that --config names, too, and a variable
// of the environment. A flag wins over a variable, and a variable over the file.
type settings struct {
	options memberOptions
	flags   *pflag.FlagSet
	given   map[string][]string // what the command line has set
	from    map[string]string   // where a setting is from, if it is not the default
	file    string              // empty: none
}

// memberOptions are the options of a command that runs a member.
type memberOptions interface {
	defineAll(*pflag.FlagSet)
	config(*pflag.FlagSet) (ringleader.Config, error)
	common() *joinOptions
	fresh() memberOptions // without values
}

// notSettings are the flags that are no settings.
var notSettings = []string{"config", "check", "help", "json"}

func isSetting(f *pflag.Flag) bool { return !f.Hidden && !slices.Contains(notSettings, f.Name) }

// newSettings defines the settings of some options, and --config and --check.
func newSettings(o memberOptions, flags *pflag.FlagSet) *settings {
	o.defineAll(flags)
	flags.String("config", "", "FILE with settings in TOML format: a key is the name of a flag; flags and RINGLEADER_ variables win over it")
	flags.Bool("check", false, "check the settings, print them and where they are from, and start nothing")
	return &settings{options: o, flags: flags}
}

// settings lets a command take its settings from a file and from the environment, too, before it looks for those that
// it needs.
func (p *program) settings(command *cobra.Command, o memberOptions) *settings {
	s := newSettings(o, command.Flags())
	option.Require(command, "id", "data")
	completeJoin(command)
	_ = command.MarkFlagFilename("config", "toml")
	needs := command.PreRunE
	command.PreRunE = func(command *cobra.Command, args []string) error {
		s.given = givenBy(s.flags)
		if err := p.load(command, s); err != nil {
			return err
		}
		if has := s.flags.Changed; has("id") && !has("member") && !has("join") {
			return fmt.Errorf("%s needs --member, or --join; try %[1]s --help", command.CommandPath())
		}
		return needs(command, args)
	}
	return s
}

// valid completes the options, and returns the configuration of the member.
func (s *settings) valid() (ringleader.Config, error) {
	c, err := s.options.config(s.flags)
	if err != nil {
		return c, s.located(err)
	}
	faults := inSettings(s.flags, s.options.common().preset, c.Check()) // a wrong call has no warden
	for i, fault := range faults {
		faults[i] = s.located(fault)
	}
	return c, errors.Join(append(faults, storage.CheckAccess(c.Data, s.options.common().key))...)
}

// located adds to an error about the value of a flag, whose text begins with that flag, where the value is from.
func (s *settings) located(err error) error {
	if err == nil {
		return nil
	}
	first, _, _ := strings.Cut(err.Error(), " ")
	flag, is := strings.CutPrefix(strings.TrimRight(first, ",:"), "--")
	if from := s.from[flag]; is && from != "" && from != "--"+flag {
		return fmt.Errorf("%s: %w", strings.Replace(from, ", line", ": line", 1), err)
	}
	return err
}

// checked returns the configuration of a member that may start. It completes the options, and prints them if the call is
// to check them only.
func (p *program) checked(s *settings) (c ringleader.Config, only bool, err error) {
	if c, err = s.valid(); err != nil {
		return c, false, err
	}
	if only, _ = s.flags.GetBool("check"); !only {
		return c, false, nil
	}
	if err := s.print(p.Out); err != nil {
		return c, true, err
	}
	user, _ := s.flags.GetString("user") // join has none
	wrong, notes := places(&c, user)
	for i, fault := range wrong {
		wrong[i] = s.located(fault)
	}
	for _, note := range notes {
		if _, err := fmt.Fprintf(p.Out, "# %v\n", note); err != nil {
			return c, true, err
		}
	}
	return c, true, errors.Join(append(wrong, p.explainVoters(c))...)
}

// explainVoters prints which members vote, if those whose state is kept have agreed on that: then the marks in --member do not count.
func (p *program) explainVoters(c ringleader.Config) error {
	v, err := c.KeptVoters()
	switch {
	case errors.Is(err, storage.ErrMissing):
		return nil // ringleader init has yet to make it
	case errors.Is(err, storage.ErrLocked):
		_, err = fmt.Fprintf(p.Out, "# a member runs with this directory: \"ringleader members --data %s\" shows which members vote\n", c.Data)
	case v != nil && err == nil:
		_, err = fmt.Fprintf(p.Out, "# the members have agreed on the voters %s; so ,standby in --member does not count\n", report.Voters(v))
	}
	return err
}

// givenBy returns the values of all flags that were set.
func givenBy(flags *pflag.FlagSet) map[string][]string {
	given := map[string][]string{}
	flags.Visit(func(f *pflag.Flag) { given[f.Name] = valuesOf(f) })
	return given
}

// valuesOf returns the values of a flag, one or a list.
func valuesOf(f *pflag.Flag) []string {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{f.Value.String()}
}

// variableOf returns the variable of the environment for a setting. That for --member is RINGLEADER_MEMBERS, with spaces between
// members: RINGLEADER_MEMBER tells a command which member runs it.
func variableOf(name string) string {
	if name == "member" {
		name = "members"
	}
	return "RINGLEADER_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// load takes what the command line has not set from the environment, and then from the file.
func (p *program) load(command *cobra.Command, s *settings) (err error) {
	explain := func(err error) error { return option.Explain(command, err) }
	s.from = map[string]string{}
	for name := range s.given {
		s.from[name] = "--" + name
	}
	s.flags.VisitAll(func(f *pflag.Flag) {
		variable := variableOf(f.Name)
		value := p.Getenv(variable)
		if f.Name == "lease" && filepath.IsAbs(value) {
			return // exec tells its command so where the lease file of its member is
		}
		if value == "" || s.from[f.Name] != "" || !isSetting(f) && f.Name != "config" || err != nil {
			return
		}
		values := []string{value}
		if _, list := f.Value.(pflag.SliceValue); list {
			values = strings.Fields(value)
		}
		s.from[f.Name] = variable
		if e := s.set(f.Name, values); e != nil {
			err = fmt.Errorf("%s: %w", variable, explain(e))
		}
	})
	if s.file = s.flags.Lookup("config").Value.String(); err != nil || s.file == "" {
		return err
	}
	text, err := readSettings(s.file)
	if err != nil {
		return err
	}
	all, err := agent.ParseSettings(text)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	for _, setting := range all {
		if err := s.take(setting, explain); err != nil {
			return fmt.Errorf("%s: line %d: %w", s.file, setting.Line, err)
		}
	}
	return nil
}

// mostSettings is the largest size of a file of settings: another file may have no end.
const mostSettings = 1 << 20

func readSettings(name string) ([]byte, error) {
	text, err := option.ReadFile(name, mostSettings)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", name, report.Reason(err))
	}
	return text, nil
}

// take takes a setting of the file, unless another source wins.
func (s *settings) take(setting agent.Setting, explain func(error) error) error {
	f := s.flags.Lookup(setting.Name)
	if f == nil || !isSetting(f) {
		var names []string
		s.flags.VisitAll(func(f *pflag.Flag) {
			if isSetting(f) {
				names = append(names, f.Name)
			}
		})
		return fmt.Errorf("there is no setting %s; %s", setting.Name, option.Instead(setting.Name, names))
	}
	if s.from[f.Name] != "" {
		return nil
	}
	if _, list := f.Value.(pflag.SliceValue); !list && len(setting.Values) != 1 {
		return fmt.Errorf("%s has one value, not a list", f.Name)
	}
	s.from[f.Name] = fmt.Sprintf("%s, line %d", s.file, setting.Line)
	if err := s.set(f.Name, setting.Values); err != nil {
		return explain(err)
	}
	return nil
}

func (s *settings) set(name string, values []string) error {
	for _, value := range values {
		if value == "" {
			return fmt.Errorf("%s is empty; give it a value, or leave it out", name)
		}
		if err := s.flags.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// again reads all sources again.
func (p *program) again(command *cobra.Command, s *settings) (*settings, error) {
	next := newSettings(s.options.fresh(), pflag.NewFlagSet(command.Name(), pflag.ContinueOnError))
	next.given = s.given
	for name, values := range s.given {
		if err := next.set(name, values); err != nil {
			return nil, err
		}
	}
	return next, p.load(command, next)
}

// changed returns the names of the settings that differ.
func (s *settings) changed(next *settings) (names []string) {
	s.flags.VisitAll(func(f *pflag.Flag) {
		if other := next.flags.Lookup(f.Name); isSetting(f) && !slices.Equal(valuesOf(f), valuesOf(other)) {
			names = append(names, f.Name)
		}
	})
	return names
}

// print prints the settings as a file, with where they are from. Defaults are comments.
func (s *settings) print(out io.Writer) (err error) {
	s.flags.VisitAll(func(f *pflag.Flag) {
		from, line := s.from[f.Name], f.Name+" = "+tomlOf(f)
		switch {
		case !isSetting(f) || from == "" && f.Value.String() == "" || err != nil:
			return
		case from == "":
			from, line = "default", "# "+line
		}
		_, err = fmt.Fprintf(out, "%-34s # %s\n", line, from)
	})
	return err
}

// tomlOf returns the value of a flag in TOML.
func tomlOf(f *pflag.Flag) string {
	list, isList := f.Value.(pflag.SliceValue)
	switch kind := f.Value.Type(); {
	case isList:
		var words []string
		for _, word := range list.GetSlice() {
			words = append(words, quoted(word))
		}
		return "[" + strings.Join(words, ", ") + "]"
	case kind == "bool", kind == "int", kind == "uint64" && len(f.Value.String()) < len("9223372036854775807"): // a larger number is none in TOML
		return f.Value.String()
	}
	return quoted(f.Value.String())
}

// quoted returns a text in TOML.
func quoted(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteRune('\\')
			b.WriteRune(c)
		case strconv.IsPrint(c):
			b.WriteRune(c)
		case c == '\n', c == '\r', c == '\t':
			b.WriteString(strings.Trim(strconv.QuoteRune(c), "'"))
		default:
			fmt.Fprintf(&b, `\U%08X`, c)
		}
	}
	return `"` + b.String() + `"`
}
