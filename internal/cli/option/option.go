// Package option is what the flags and arguments of all commands have in common: the words that a flag takes, numbers and addresses, and
// errors that name what would work.
package option

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups under which the help lists the commands.
const (
	GroupElect = "elect"
	GroupStudy = "study"
)

// Named is a command that is made when it is needed.
type Named struct {
	Name string
	Make func() *cobra.Command
}

// offered is the annotation of a flag with the words that it takes.
const offered = "words"

// Offer sets the words that a flag takes, for completion and spelling.
func Offer(command *cobra.Command, name string, words ...string) {
	_ = command.Flags().SetAnnotation(name, offered, words) // there is such a flag
}

// Offered returns the words that a flag takes; nil: any value.
func Offered(f *pflag.Flag) []string { return f.Annotations[offered] }

// Spell gives words of flags the spelling that completion offers, so that --schedule FIFO is --schedule fifo. A flag may take
// several, with commas between.
func Spell(command *cobra.Command) (wrong error) {
	command.Flags().Visit(func(f *pflag.Flag) {
		known := f.Annotations[offered]
		if known == nil || f.Value.Type() != "string" {
			return
		}
		given := strings.Split(f.Value.String(), ",")
		for i, word := range given {
			if at := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, word) }); at >= 0 {
				given[i] = known[at]
			}
		}
		if canonical := strings.Join(given, ","); canonical != f.Value.String() {
			wrong = errors.Join(wrong, f.Value.Set(canonical))
		}
	})
	return wrong
}

// Explain returns an error of the flags of a command with the values that a flag accepts.
func Explain(command *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		var names []string
		command.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, "--"+f.Name)
			}
		})
		given := strings.TrimLeft(unknown.GetSpecifiedName(), "-")
		if unknown.GetSpecifiedShortnames() != "" && given != "" && given[0] >= '0' && given[0] <= '9' {
			return fmt.Errorf("%s takes no negative number as an argument", command.CommandPath())
		}
		if best := Near("--"+given, names); best != "" {
			return fmt.Errorf("%s has no flag --%s; did you mean %s?", command.CommandPath(), given, best)
		}
		return fmt.Errorf("%s has no flag --%s; %s --help all lists them", command.CommandPath(), given, command.CommandPath())
	case errors.Is(err, errSmall) && errors.As(err, &invalid):
		return fmt.Errorf("--%s is at least 1, not %s", invalid.GetFlag().Name, invalid.GetValue())
	case errors.Is(err, errTwice) && errors.As(err, &invalid):
		return fmt.Errorf("--%s is given twice, and takes one number", invalid.GetFlag().Name)
	case errors.As(err, &invalid):
		wants, known := map[string]string{
			"bool":     "true or false",
			"duration": "a duration such as 250ms or 20s",
			"int":      "a whole number",
			"size":     "a whole number or a range such as 2..8",
			"int64":    "a whole number",
			"uint64":   "a whole number from 0 to 2⁶⁴ - 1",
			"uint32":   "a whole number from 0 to 2³² - 1",
		}[invalid.GetFlag().Value.Type()]
		if known {
			return fmt.Errorf("--%s wants %s, not %q", invalid.GetFlag().Name, wants, invalid.GetValue())
		}
		return fmt.Errorf("--%s: %q: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	}
	return fmt.Errorf("%w; try %s --help", err, command.CommandPath())
}

// NoneEmpty returns an error for a flag with an empty value: a script may have misspelt its variable.
func NoneEmpty(command *cobra.Command) (err error) {
	command.Flags().Visit(func(f *pflag.Flag) {
		all, several := f.Value.(pflag.SliceValue)
		if several && slices.Contains(all.GetSlice(), "") || f.Value.Type() == "string" && f.Value.String() == "" {
			err = fmt.Errorf("--%s is empty; give it a value, or leave it out", f.Name)
		}
	})
	return err
}

// written are the flags that name files which commands write.
var written = []string{"draw", "draw-topology", "emit", "export", "keep", "out", "save", "trace"}

// Apart returns an error for two flags that name one file: what the second writes would replace what the first has written. Devices take
// several results.
func Apart(command *cobra.Command) (err error) {
	var before []*pflag.Flag
	command.Flags().Visit(func(f *pflag.Flag) {
		info, failed := os.Stat(f.Value.String())
		if f.Value.String() == "-" || !slices.Contains(written, f.Name) || failed == nil && !info.Mode().IsRegular() {
			return
		}
		for _, other := range before {
			if sameFile(other.Value.String(), f.Value.String()) {
				err = fmt.Errorf("--%s and --%s write %s both; give each a file of its own", other.Name, f.Name, f.Value)
			}
		}
		before = append(before, f)
	})
	return err
}

// sameFile reports whether two names are those of one file.
func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	first, err := os.Stat(a)
	second, missing := os.Stat(b)
	return err == nil && missing == nil && os.SameFile(first, second)
}

// Require makes flags required.
func Require(command *cobra.Command, names ...string) {
	for _, name := range names {
		command.MarkFlagRequired(name) // completion offers them first
	}
	command.PreRunE = func(command *cobra.Command, _ []string) error {
		for _, name := range names {
			if !command.Flags().Changed(name) {
				return fmt.Errorf("%s needs --%s; try %[1]s --help", command.CommandPath(), name)
			}
		}
		return nil
	}
}

// FlagsOnly is for commands that take no arguments.
func FlagsOnly(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes flags only, not %q; try %s --help", command.CommandPath(), args[0], command.CommandPath())
	}
	return nil
}
