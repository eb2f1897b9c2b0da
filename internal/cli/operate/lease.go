//go:build !js

package operate

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/leasefile"
)

// looks is how often lease --wait looks at a file.
const looks = 10 * time.Millisecond

func (p *program) lease() *cobra.Command {
	var (
		file         string
		asJSON, wait bool
	)
	command := &cobra.Command{
		Use:     "lease [--file FILE]",
		GroupID: option.GroupElect,
		Short:   "Tell from a lease file whether the member on this machine leads",
		Long: `Lease reads the file that "ringleader join --lease-file" or "exec --lease-file" keeps, and
prints whether the member leads at this moment, its term, and how long its lease still
runs. It asks no member and no network, and its answer is right if the member was killed or
is stopped.

The answer may be out of date when it is printed. A resource that is written to must refuse
a lower term than it has seen, so write the term with each change.

Exit status: 0 the member leads; 1 it does not; 2 the file cannot be read; 64 the call was
wrong.`,
		Example: `  ringleader lease --file /run/jobs.lease
  ringleader lease --file /run/jobs.lease --wait
  ringleader lease --json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			path := cmp.Or(file, p.Getenv("RINGLEADER_LEASE"))
			if path == "" {
				return errors.New("--file, or the variable RINGLEADER_LEASE, names a lease file")
			}
			r, err := leasefile.Open(path)
			if err != nil {
				return report.ExitError{Code: 2, Err: err}
			}
			defer r.Close()
			tick := time.NewTicker(looks)
			defer tick.Stop()
			for {
				term, left, valid := r.Valid()
				if valid || !wait {
					return p.leaseIs(r, term, left, valid, asJSON)
				}
				select {
				case <-tick.C:
				case <-command.Context().Done():
					return p.leaseIs(r, term, left, valid, asJSON)
				}
			}
		},
	}
	command.Flags().StringVar(&file, "file", "", "FILE of a member; without it, RINGLEADER_LEASE names one")
	command.Flags().BoolVar(&wait, "wait", false, "wait until the member leads")
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	command.MarkFlagFilename("file")
	return command
}

// leaseIs prints what a lease file says.
func (p *program) leaseIs(r *leasefile.Reader, term uint64, left time.Duration, valid, asJSON bool) error {
	s, err := r.Read()
	if err != nil {
		return report.ExitError{Code: 2, Err: err}
	}
	if err := p.Print(leaseView{s, term, left, valid}, asJSON); err != nil {
		return err
	}
	if !valid {
		return report.ErrNo
	}
	return nil
}

// leaseView is what lease prints.
type leaseView struct {
	leasefile.State
	term  uint64
	left  time.Duration
	valid bool
}

// JSON returns it for programs.
func (v leaseView) JSON() any {
	return report.Object{
		{"group", v.Group}, {"member", v.Member}, {"leads", v.valid}, {"term", v.term}, {"left", v.left.Seconds()}, {"value", v.Value}, {"closed", v.Closed},
	}
}

// Text prints it for people.
func (v leaseView) Text(p *report.Printer) error {
	_, err := fmt.Fprintf(p.Out, "member %d of group %q ", v.Member, v.Group)
	switch {
	case err != nil:
	case v.valid:
		_, err = fmt.Fprintf(p.Out, "leads in term %d for %d ms more\n", v.term, v.left.Milliseconds())
	case v.Closed:
		_, err = fmt.Fprintln(p.Out, "has ended")
	case v.Leads:
		_, err = fmt.Fprintf(p.Out, "does not lead: its lease in term %d is over\n", v.Term)
	default:
		_, err = fmt.Fprintln(p.Out, "does not lead")
	}
	return err
}
