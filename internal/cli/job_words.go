package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"ringleader.example/ringleader/internal/cli/labour"
)

// jobFlags are the flags of a kind of job. None names a file, so a job that came from elsewhere reads and writes none.
func jobFlags(kind string) []string {
	if kind == "reproduce" {
		return []string{"thorough"}
	}
	return labCalls[kind]
}

// jobKinds are the commands whose work can be a job.
var jobKinds = []string{"compare", "count", "reproduce", "verify", "worst"}

// shownNames are flags that choose how results are shown or computed, and not which.
var shownNames = slices.Concat(resultNames, labour.Names, []string{"cores", "csv", "keep", "markdown", "save"})

// jobWords returns the words of a job: the arguments of a command and its flags, except those for results.
func jobWords(kind string, args []string, flags *pflag.FlagSet) ([]string, error) {
	err := passable(kind, flags, shownNames)
	return append(slices.Clone(args), words(flags, shownNames)...), err
}

// passable returns an error for a flag that a job cannot have, except for some.
func passable(kind string, flags *pflag.FlagSet, except []string) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(except, f.Name) && !slices.Contains(jobFlags(kind), f.Name) {
			err = fmt.Errorf("--%s cannot be part of work that is kept; leave it out, or leave out --out, --shard and --nats", f.Name)
		}
	})
	if err == nil {
		err = harmless(flags)
	}
	return err
}
