package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// storyFlags are the flags for a run's story, and for its steps.
type storyFlags struct {
	story, state bool
	processes    string
}

// storyNames are its flags.
var storyNames = []string{"story", "state", "process"}

func (s *storyFlags) flags(command *cobra.Command) {
	f := command.Flags()
	f.BoolVar(&s.story, "story", false, "print the steps first, one per line; with --json, add them; --from and --to select a part")
	f.StringVar(&s.processes, "process", "", "story of the steps of ID,… only")
	f.BoolVar(&s.state, "state", false, "story with the state of the process after each step")
}

// told reports whether the run is told.
func (s *storyFlags) told() bool { return s.story || s.state || s.processes != "" }

// telling returns how the run is told, or nil.
func (s *storyFlags) telling(i network.Setup, window trace.Window) (*trace.Telling, error) {
	if !s.told() {
		return nil, nil
	}
	how := &trace.Telling{Window: window, State: s.state}
	if s.processes != "" {
		var err error
		if how.Processes, err = positions(i, s.processes); err != nil {
			return nil, fmt.Errorf("--process: %w", err)
		}
		slices.Sort(how.Processes)
	}
	return how, nil
}
