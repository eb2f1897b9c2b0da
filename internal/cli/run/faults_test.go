package run

import (
	"testing"

	"github.com/spf13/pflag"

	"ringleader.example/ringleader/simulate"
)

// Some elections never end. The simulator has a limit for them, which --limit replaces or takes away.
func TestARunHasTheLimitThatIsGivenOrElseThatOfTheSimulator(t *testing.T) {
	for flag, want := range map[string]uint64{"--limit=7": 7, "--limit=0": simulate.NoLimit, "": 0} {
		var o Options
		o.Of = pflag.NewFlagSet("run", pflag.ContinueOnError)
		o.Of.Uint64Var(&o.limit, "limit", 0, "")
		if flag != "" {
			if err := o.Of.Parse([]string{flag}); err != nil {
				t.Fatal(err)
			}
		}
		if got := o.most(); got != want {
			t.Errorf("%q: %d, want %d", flag, got, want)
		}
	}
}
