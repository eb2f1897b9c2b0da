package plan

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/trace"
)

// StoryFlags are the flags for a run's story, and for its steps.
type StoryFlags struct {
	Story, State bool
	processes    string
}

// StoryNames are its flags.
var StoryNames = []string{"story", "state", "process"}

// Flags adds the flags.
func (s *StoryFlags) Flags(command *cobra.Command) {
	f := command.Flags()
	f.BoolVar(&s.Story, "story", false, "print the steps first, one per line; with --json, add them; --from and --to select a part")
	f.StringVar(&s.processes, "process", "", "story of the steps of ID,… only")
	f.BoolVar(&s.State, "state", false, "story with the state of the process after each step")
}

// Told reports whether the run is told.
func (s *StoryFlags) Told() bool { return s.Story || s.State || s.processes != "" }

// Telling returns how the run is told, or nil.
func (s *StoryFlags) Telling(i network.Setup, window trace.Window) (*trace.Telling, error) {
	if !s.Told() {
		return nil, nil
	}
	how := &trace.Telling{Window: window, State: s.State}
	if s.processes != "" {
		var err error
		if how.Processes, err = positions(i, s.processes); err != nil {
			return nil, fmt.Errorf("--process: %w", err)
		}
		slices.Sort(how.Processes)
	}
	return how, nil
}
