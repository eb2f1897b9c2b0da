package run

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/simulate"
)

// LazyFlags put a walk into lazy time.
type LazyFlags struct {
	lazy       bool
	clockError string
	pace       uint64
	begins     string // as [plan.MomentText] writes it; empty: at the beginning
}

func (l *LazyFlags) flags(command *cobra.Command) {
	f := command.Flags()
	f.BoolVar(&l.lazy, "lazy", false, "with --step, of algorithms with leases: messages and timers take any time")
	f.StringVar(&l.clockError, "clock-error", "0", "with --lazy: by which part clocks are fast or slow, such as 1/10; time passes in steps of 10 units then")
	f.StringVar(&l.begins, "begins", "", "with --lazy: the states in which the run begins, as explain --export writes them")
	option.Positive(f, &l.pace, "pace", "with --lazy: number of units that pass at once (default 1)")
}

// Unused returns an error if the flags are given for a run that is not walked.
func (l *LazyFlags) Unused(command *cobra.Command) error {
	if l.lazy || command.Flags().Changed("clock-error") || l.pace > 0 || l.begins != "" {
		return errors.New("--lazy, --clock-error, --pace and --begins are for --step, where you choose when an event happens")
	}
	return nil
}

// apply puts a session into lazy time, if the flags ask for it.
func (l *LazyFlags) apply(s *simulate.Session) error {
	rate, err := faults.ParseChance(l.clockError)
	switch {
	case err != nil:
		return fmt.Errorf("--clock-error: %w", err)
	case l.lazy:
		return s.BeLazy(rate)
	case l.pace > 0:
		return errors.New("--pace is for --lazy")
	case rate.Times > 0:
		return errors.New("--clock-error is for --lazy")
	}
	return nil
}
