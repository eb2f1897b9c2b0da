//go:build !js

package operate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/leasefile"
)

// looks is how often lease --wait and --watch look at a file.
const looks = 10 * time.Millisecond

// leaseOptions are the options of lease.
type leaseOptions struct {
	file                         string
	asJSON, check, wait, watches bool
}

func (p *program) lease() *cobra.Command {
	var o leaseOptions
	command := &cobra.Command{
		Use:     "lease [--file FILE]",
		GroupID: option.GroupElect,
		Short:   "Tell from a lease file whether the member on this machine leads",
		Long: `Lease reads the file that "ringleader join --lease-file" or "exec --lease-file" keeps, and
prints whether the member leads at this moment, its term, and how long its lease still
runs. It asks no member and no network, and its answer is right if the member was killed or
is stopped.

--check is for scripts: it prints the term and nothing else, and prints nothing if the
member does not lead. --watch prints a line now, and for each change of the lead, the term
or the value, until Ctrl-C; it may miss what lasts for less than 10 ms. --wait and --watch
also wait for a file that no member has made yet: they say so, and start before the member.

The answer may be out of date when it is printed. A resource that is written to must refuse
a lower term than it has seen, so write the term with each change.

Exit status: 0 the member leads, or --watch was ended; 1 it does not; 2 the file cannot be
read; 64 the call was wrong.`,
		Example: `  ringleader lease --file /run/jobs.lease
  ringleader lease --file /run/jobs.lease --wait
  ringleader lease --file /run/jobs.lease --check
  ringleader lease --json --watch`,
		Args:              option.FlagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			path := cmp.Or(o.file, p.Getenv("RINGLEADER_LEASE"))
			switch {
			case path == "":
				return fmt.Errorf("%s needs --file, or the variable RINGLEADER_LEASE; try %[1]s --help", command.CommandPath())
			case o.check && (o.asJSON || o.watches):
				return errors.New("--check prints a term only; it is without --json and --watch")
			case o.wait && o.watches:
				return errors.New("--wait ends when the member leads, and --watch goes on: give one of them")
			}
			r, err := p.openLease(command.Context(), path, o.wait || o.watches)
			switch {
			case err != nil && o.watches && command.Context().Err() != nil:
				return nil
			case err != nil:
				return report.ExitError{Code: 2, Err: err}
			}
			defer r.Close()
			if o.watches {
				return p.watchLease(command.Context(), r, o.asJSON)
			}
			var v leaseView
			err = look(command.Context(), r, func(now leaseView) (enough bool, err error) {
				v = now
				return v.valid || !o.wait, nil
			})
			if err != nil {
				return err
			}
			return p.leaseIs(v, &o)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.file, "file", "", "FILE of a member; without it, RINGLEADER_LEASE names one")
	flags.BoolVar(&o.check, "check", false, "print the term, and nothing if the member does not lead")
	flags.BoolVar(&o.wait, "wait", false, "wait until the member leads")
	flags.BoolVar(&o.watches, "watch", false, "print a line for each change, until Ctrl-C")
	flags.BoolVar(&o.asJSON, "json", false, "print one JSON object, with --watch one for each change")
	command.MarkFlagFilename("file")
	return command
}

// openLease opens a lease file. If it is to wait, it waits for a file that no member has made yet, as the clients in other languages do.
func (p *program) openLease(ctx context.Context, path string, wait bool) (*leasefile.Reader, error) {
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for told := false; ; told = true {
		r, err := leasefile.Open(path)
		if !wait || !errors.Is(err, fs.ErrNotExist) {
			return r, err
		}
		if !told {
			p.Complain(err.Error() + "; waiting for it")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// look calls see with what a lease file says, again and again, until see has enough or ctx is done.
func look(ctx context.Context, r *leasefile.Reader, see func(leaseView) (enough bool, err error)) error {
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for {
		var v leaseView
		var err error
		v.term, v.left, v.valid = r.Valid()
		if v.State, err = r.Read(); err != nil {
			return report.ExitError{Code: 2, Err: err}
		}
		if enough, err := see(v); enough || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// watchLease prints what a lease file says, and each change of it.
func (p *program) watchLease(ctx context.Context, r *leasefile.Reader, asJSON bool) error {
	var last *leaseView
	return look(ctx, r, func(v leaseView) (enough bool, err error) {
		if last == nil || !v.same(*last) {
			last, err = &v, p.Print(v, asJSON)
		}
		return false, err
	})
}

// leaseIs prints what a lease file says.
func (p *program) leaseIs(v leaseView, o *leaseOptions) (err error) {
	switch {
	case !o.check:
		err = p.Print(v, o.asJSON)
	case v.valid:
		_, err = fmt.Fprintln(p.Out, v.term)
	}
	if err == nil && !v.valid {
		return report.ErrNo
	}
	return err
}

// leaseView is what lease prints.
type leaseView struct {
	leasefile.State
	term  uint64
	left  time.Duration
	valid bool
}

// same reports whether two views differ at most in how long the lease still runs.
func (v leaseView) same(w leaseView) bool {
	return v.valid == w.valid && v.term == w.term && v.Term == w.Term && v.Value == w.Value && v.Closed == w.Closed && v.Leads == w.Leads
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
