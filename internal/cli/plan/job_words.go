package plan

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
	return LabFlags[kind]
}

// JobKinds are the commands whose work can be a job.
var JobKinds = []string{"compare", "count", "reproduce", "verify", "worst"}

// shownNames are flags that choose how results are shown or computed, and not which.
var shownNames = slices.Concat(ResultNames, labour.Names, []string{"cores", "csv", "keep", "markdown", "save"})

// JobWords returns the words of a job: the arguments of a command and its flags, except those for results.
func JobWords(kind string, args []string, flags *pflag.FlagSet) ([]string, error) {
	err := Passable(kind, flags, shownNames)
	return append(slices.Clone(args), Words(flags, shownNames)...), err
}

// Passable returns an error for a flag that a job cannot have, except for some.
func Passable(kind string, flags *pflag.FlagSet, except []string) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && !slices.Contains(except, f.Name) && !slices.Contains(jobFlags(kind), f.Name) {
			err = fmt.Errorf("--%s cannot be part of work that is kept; leave it out, or leave out --out, --shard and --nats", f.Name)
		}
	})
	if err == nil {
		err = Harmless(flags)
	}
	return err
}

// labInput are the flags of a network. None names a file: votes and scores are checked.
var labInput = []string{"ids", "n", "order", "first", "seed", "param", "topology", "edges", "orientation", "ports", "votes", "scores"}

// LabFlags are the commands that the lab calls, and the flags that it passes on. A flag that is not here is refused, so that a new one
// that reads or writes a file is, too.
var LabFlags = map[string][]string{
	"count": append([]string{"wake", "unwilling"}, labInput...),
	"run": append([]string{
		"allow-duplicate-ids", "start", "wake", "unwilling", "check", "timing", "schedule", "delay", "fault", "dead", "leader-dead", "crash",
		"recover", "lose", "duplicate", "non-fifo", "priorities", "command", "stop-time", "wardens", "anonymous", "story", "process", "state",
		"from", "to", "until", "limit",
	}, labInput...),
	"compare": {"n", "order", "orders", "until", "seed"},
	"verify": append([]string{
		"priorities", "unwilling", "random", "shrink", "extremes", "start", "crash", "recover", "lose", "duplicate", "cut", "suspect-falsely", "resign",
		"wardens", "reorder", "non-fifo", "delay", "lazy", "clock-error", "pace", "memory", "max-states", "max-depth", "reduce", "exact", "rotations",
		"probabilities",
	}, labInput...),
	"worst": {"n", "of", "tries", "seed", "param"},
}

// Harmless returns an error for values of flags that name files.
func Harmless(flags *pflag.FlagSet) error {
	text := func(name string) string {
		if f := flags.Lookup(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	if votes := text("votes"); votes != "" {
		if _, err := numbers(votes); err != nil {
			return fmt.Errorf("--votes: %w", err)
		}
	}
	if scores := text("scores"); scores != "" && scores != locality {
		return fmt.Errorf("the lab takes no file of scores, only --scores %s", locality)
	}
	return nil
}
