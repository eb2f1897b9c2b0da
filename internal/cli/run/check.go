package run

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/simulate"
)

// checking holds whether to check the claims of sources about every run, and the results.
type checking struct {
	report bool
	claims []catalogue.Claim // what was found
}

// checkedRuns is the number of processes up to which elections are checked without a flag.
const checkedRuns = 256

func (c *checking) flags(command *cobra.Command) {
	command.Flags().BoolVar(&c.report, "check", false,
		fmt.Sprintf("report the source's claims about every run with what was measured; by default, up to %d processes, only failures", checkedRuns))
}

// records reports whether a run is to be recorded for that.
func (c *checking) records(e *catalogue.Entry, n int) (bool, error) {
	if c.report && e.Check == nil {
		known := e.List().Where(func(other *catalogue.Entry) bool { return other.Check != nil })
		return false, fmt.Errorf("%s has no claims about every run that --check can check; these have: %s", e.Name, strings.Join(known, ", "))
	}
	return e.Check != nil && (c.report || n <= checkedRuns), nil
}

// run checks a complete run. The claims are about runs without faults.
func (c *checking) run(e *catalogue.Entry, s *simulate.Options, r *simulate.Result) error {
	switch sound := !r.Disturbed && r.Live == len(r.Decisions) && !s.Setup.Duplicates && s.Until.IsZero(); {
	case e.Check == nil || r.Record == nil || !r.Complete || !sound && !c.report:
		return nil
	case !sound:
		return errors.New("--check needs a whole run without faults and with distinct identifiers; leave out --fault, --until and --allow-duplicate-ids")
	}
	claims, err := e.Check(r.Record, r.Prepared)
	if err != nil {
		return err
	}
	for _, claim := range claims {
		if c.report || !claim.Holds {
			c.claims = append(c.claims, claim)
		}
	}
	return nil
}

// failed reports whether a claim does not hold.
func (c *checking) failed() bool {
	for _, claim := range c.claims {
		if !claim.Holds {
			return true
		}
	}
	return false
}
