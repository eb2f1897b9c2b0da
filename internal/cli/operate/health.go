//go:build !js

package operate

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/spf13/pflag"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/agent"
)

// standOptions determine how a member stands for election.
type standOptions struct {
	weight       uint64
	preempt      bool
	preemptDelay time.Duration

	check ringleader.HealthCheck // its times
	agent.Health
}

// standFlags are the flags of a health check besides the check itself.
var standFlags = []string{"health-interval", "health-timeout", "health-rise", "health-fall"}

func (o *standOptions) define(flags *pflag.FlagSet) {
	option.Number(flags, &o.weight, "weight", "", 0, "priority of this member, from 1 to 65535, in place of that in --member; the others need not know it")
	flags.BoolVar(&o.preempt, "preempt", false, "a leader hands over to an able member of higher rank")
	flags.DurationVar(&o.preemptDelay, "preempt-delay", 0, fmt.Sprintf("with --preempt: how long a leader leads before that (default: of the preset; lan: %v)", ringleader.LAN().Preempt))
	flags.StringVar(&o.Command, "health-command", "", "check: command of a shell, a script if other users are not to read it in the list of processes; while its exit status is not 0, this member may not lead")
	flags.StringVar(&o.URL, "health-http", "", "check: URL; while GET does not answer with a status from 200 to 299, this member may not lead")
	flags.DurationVar(&o.check.Interval, "health-interval", time.Second, "time between the beginnings of two checks")
	flags.DurationVar(&o.check.Timeout, "health-timeout", 0, "a check that takes longer has failed, and is killed with all its processes (default: --health-interval)")
	option.Number(flags, &o.check.Rise, "health-rise", "", 2, "how many checks in a row have to pass before this member may lead")
	option.Number(flags, &o.check.Fall, "health-fall", "", 3, "how many in a row have to fail before it may lead no more")
}

// valid returns an error if flags do not go together, and completes the times.
func (o *standOptions) valid(flags *pflag.FlagSet) error {
	switch {
	case flags.Changed("weight") && (o.weight == 0 || o.weight > math.MaxUint16):
		return fmt.Errorf("--weight is a number from 1 to 65535, not %d", o.weight)
	case flags.Changed("preempt-delay") && !o.preempt:
		return errors.New("--preempt-delay is for --preempt")
	case o.Command != "" && o.URL != "":
		return errors.New("--health-command and --health-http are both given; a member has one check")
	case o.check.Rise < 1 || o.check.Fall < 1:
		return fmt.Errorf("--health-rise (%d) and --health-fall (%d) are at least 1", o.check.Rise, o.check.Fall)
	}
	for _, name := range standFlags {
		if flags.Changed(name) && o.Command == "" && o.URL == "" {
			return fmt.Errorf("--%s is for --health-command or --health-http", name)
		}
	}
	if o.check.Timeout == 0 {
		o.check.Timeout = o.check.Interval
	}
	if o.URL == "" {
		return nil
	}
	if _, err := agent.ParseURL(o.URL); err != nil {
		return fmt.Errorf("--health-http: %w", err)
	}
	return nil
}
