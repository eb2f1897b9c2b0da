//go:build !js

package operate

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/kept"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/storage"
)

func (p *program) init() *cobra.Command {
	var (
		directory string
		owner     storage.Owner
		groups    int
		missing   bool
		asJSON    bool
	)
	command := &cobra.Command{
		Use:     "init --data DIR --group NAME --id ID",
		GroupID: option.GroupElect,
		Short:   "Make the durable state of a member",
		Long: `Init makes the store in which a member keeps what it has promised to the others: its
terms and votes. It allocates all that they need, so a disk that is full later does not
stop the member. Missing parent directories are made, too.

Run it once in the life of a member. A member never makes a store by itself: an empty
store in place of a lost one would break promises without notice. For the same reason
init never overwrites a store. Each store has a random ID, by which the other members
recognise a store that replaces another one.

--if-missing is for starts without an operator, as in a container: if the directory has a
store of this member, init succeeds without a word. If the directory has been lost, the
others refuse the member with its new store.`,
		Example: `  ringleader init --data /var/lib/ringleader/1 --group payments --id 1
  ringleader init --data data/1 --group shards --id 1 --groups 1000 --json`,
		Args:              option.FlagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if groups < 1 || groups >= storage.MaxRecords {
				return fmt.Errorf("--groups is from 1 to %d, not %d", storage.MaxRecords-1, groups)
			}
			if len(owner.Group) > kept.MaxGroup { // join refuses it
				return fmt.Errorf("--group has %d bytes, and at most %d are kept", len(owner.Group), kept.MaxGroup)
			}
			exists, id, err := makeStore(directory, owner, groups, missing)
			switch {
			case errors.Is(err, storage.ErrWrite), passes(err): // another call would not help
				return report.Failed("%w", err)
			case err != nil || exists:
				return err
			}
			return p.Print(report.Store{Path: filepath.Join(directory, "state"), Owner: owner, Groups: groups, ID: id}, asJSON)
		},
	}
	flags := command.Flags()
	flags.StringVar(&directory, "data", "", "directory for the durable state of this member alone; created if missing")
	flags.StringVar(&owner.Group, "group", "", "name of the group that the member belongs to")
	option.Positive(flags, &owner.Member, "id", "identifier of this member, at least 1")
	option.Number(flags, &groups, "groups", "", 1, "number of groups to allocate room for; the store grows if there are more")
	flags.BoolVar(&missing, "if-missing", false, "succeed, and change nothing, if the directory has a store of this member already")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	option.Require(command, "data", "group", "id")
	command.MarkFlagDirname("data")
	return command
}

// makeStore makes a store and returns its ID. With missing it reports a store of that owner that exists already.
func makeStore(directory string, owner storage.Owner, groups int, missing bool) (exists bool, id [16]byte, err error) {
	options := storage.InitOptions{Records: 1 + groups}
	if missing {
		exists, err = storage.InitIfMissing(directory, owner, options)
	} else {
		err = storage.Init(directory, owner, options)
	}
	if err != nil {
		return exists, id, err
	}
	id, err = storeID(directory, owner)
	return exists, id, err
}

// storeID returns the ID of a store. It opens the store, so it can be read, and is that of its owner.
func storeID(directory string, owner storage.Owner) (id [16]byte, err error) {
	s, err := storage.Open(directory, owner)
	if err != nil {
		return id, err
	}
	return s.ID(), s.Close()
}
