//go:build !js

package operate

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/control"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/transport"
)

// clientOptions tell where a member is.
type clientOptions struct {
	data, http, https string
	cert, key, ca     string
}

// define defines the flags of a client. Looks reports whether HTTP in clear text will do.
func (o *clientOptions) define(command *cobra.Command, looks bool) {
	flags := command.Flags()
	flags.StringVar(&o.data, "data", "", "directory of the member, with its control socket")
	if looks {
		flags.StringVar(&o.http, "http", "", "HOST:PORT of --http of the member")
	}
	flags.StringVar(&o.https, "https", "", "HOST:PORT of --https of the member")
	flags.StringVar(&o.cert, "cert", "", "FILE with a certificate for --https, in PEM format")
	flags.StringVar(&o.key, "key", "", "FILE with the key of the certificate")
	flags.StringVar(&o.ca, "ca", "", "FILE with the certificates of the authorities that sign those of members")
	command.MarkFlagDirname("data")
}

// client returns a client of the member.
func (o *clientOptions) client(command *cobra.Command) (*control.Client, error) {
	given, files := 0, 0
	for _, place := range []string{o.data, o.http, o.https} {
		if place != "" {
			given++
		}
	}
	for _, file := range []string{o.cert, o.key, o.ca} {
		if file != "" {
			files++
		}
	}
	switch {
	case given != 1 && command.Flags().Lookup("http") == nil:
		return nil, fmt.Errorf("%s needs --data or --https, one of them; try %[1]s --help", command.CommandPath())
	case given != 1:
		return nil, fmt.Errorf("%s needs --data, --http or --https, one of them; try %[1]s --help", command.CommandPath())
	case o.https != "" && files != 3:
		return nil, errors.New("--https needs --cert, --key and --ca")
	case o.https == "" && files != 0:
		return nil, errors.New("--cert, --key and --ca are for --https")
	case o.data != "":
		return control.NewClient(control.Socket(o.data)), nil
	case o.http != "":
		address, err := option.Address("--http", o.http)
		return control.NewHTTPClient(address, nil), err
	}
	address, err := option.Address("--https", o.https)
	if err != nil {
		return nil, err
	}
	security, err := transport.LoadTLS(o.cert, o.key, o.ca)
	if err != nil {
		return nil, fmt.Errorf("--cert, --key, --ca: %w", err)
	}
	return control.NewHTTPClient(address, security), nil
}

// unanswered returns the error of a call that a member did not answer, or that it refused.
func unanswered(err error) error {
	if errors.Is(err, control.ErrRefused) {
		return report.Failed("%w", err)
	}
	return report.Stopped("%w", err)
}

func (p *program) status() *cobra.Command {
	var (
		o               clientOptions
		asJSON, watches bool
	)
	command := &cobra.Command{
		Use:     "status --data DIR",
		GroupID: option.GroupElect,
		Short:   "Show the state of a member that runs",
		Long: `Status shows what a member knows: its role, its leader and term, the rest of its lease, and
which members it can communicate with. If it knows no leader, it lists the reasons: which
members are missing, how long a wait lasts, which certificate is refused.

Exit status: 0 the member leads; 1 it does not; 3 no member answers; 64 the call was wrong.`,
		Example: `  ringleader status --data /var/lib/ringleader/1
  ringleader status --http 127.0.0.1:8001 --watch
  ringleader status --https 10.0.0.1:8443 --cert operator.pem --key operator.key --ca ca.pem --json`,
		Args:              option.FlagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			client, err := o.client(command)
			if err != nil {
				return err
			}
			if watches {
				return p.follow(command.Context(), client, func(s ringleader.Status, first bool) error {
					if !first && !asJSON {
						fmt.Fprintln(p.Out)
					}
					return p.Print(report.Status{Status: s}, asJSON)
				})
			}
			s, err := client.Status(command.Context())
			if err != nil {
				return unanswered(err)
			}
			if err := p.Print(report.Status{Status: s}, asJSON); err != nil {
				return err
			}
			if s.Role != ringleader.Leader {
				return report.ErrNo
			}
			return nil
		},
	}
	o.define(command, true)
	command.Flags().BoolVar(&watches, "watch", false, "show the state again after each change of the leader, until Ctrl-C; exit status 0 then")
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func (p *program) watchLeader() *cobra.Command {
	var (
		o      clientOptions
		asJSON bool
	)
	command := &cobra.Command{
		Use:     "watch --data DIR",
		GroupID: option.GroupElect,
		Short:   "Print a line for each change of a member's leader",
		Long: `Watch prints the role, leader and term of a member now and after each change, until Ctrl-C.
A slow reader misses changes, and never the last one.

Exit status: 0 after Ctrl-C; 3 no member answers, or it has stopped; 64 the call was wrong.`,
		Example:           "  ringleader watch --data /var/lib/ringleader/1\n  ringleader watch --http 127.0.0.1:8001 --json",
		Args:              option.FlagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			client, err := o.client(command)
			if err != nil {
				return err
			}
			return p.follow(command.Context(), client, func(s ringleader.Status, first bool) error {
				if first && asJSON {
					if err := p.JSON(p.Header()); err != nil {
						return err
					}
				}
				report.Change(p.Out, asJSON, s)
				return nil
			})
		},
	}
	o.define(command, true)
	command.Flags().BoolVar(&asJSON, "json", false, "write JSON lines, like those of join --json")
	return command
}

// follow shows each change of a member until ctx is done, or until what it shows cannot be written.
func (p *program) follow(ctx context.Context, client *control.Client, show func(s ringleader.Status, first bool) error) error {
	first := true
	for s, err := range client.Watch(ctx) {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return unanswered(err)
		}
		if err := show(s, first); err != nil {
			return err
		}
		if out, is := p.Out.(*report.Output); is && out.Err != nil {
			return out.Err
		}
		first = false
	}
	return nil
}

func (p *program) resign() *cobra.Command {
	var (
		o      clientOptions
		asJSON bool
	)
	command := &cobra.Command{
		Use:     "resign --data DIR",
		GroupID: option.GroupElect,
		Short:   "Let a leader hand over to an able member",
		Long: `Resign asks a member that leads to stop its work and to hand over to an able member, even one
of lower rank. It waits until another member leads, for at most five seconds.

Exit status: 0 another member leads; 1 the member does not lead; 3 no
member answers, or no other one leads yet; 64 the call was wrong.`,
		Example:           "  ringleader resign --data /var/lib/ringleader/1",
		Args:              option.FlagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			return p.handOver(command, &o, asJSON, 0)
		},
	}
	o.defineOrder(command, &asJSON)
	return command
}

func (p *program) transfer() *cobra.Command {
	var (
		o      clientOptions
		asJSON bool
		id     uint64
	)
	command := &cobra.Command{
		Use:     "transfer ID --data DIR",
		GroupID: option.GroupElect,
		Short:   "Let a leader hand over to another member",
		Long: `Transfer asks a member that leads to stop its work and to hand over to the member ID. It waits
until another member leads, for at most five seconds.

Exit status: 0 member ID leads; 1 the member does not lead, or another one than ID leads
now; 3 no member answers, or no other one leads yet; 64 the call was wrong.`,
		Example:           "  ringleader transfer 3 --data /var/lib/ringleader/1",
		Args:              oneMember("the next leader", &id),
		ValidArgsFunction: o.members(func(m *ringleader.MemberStatus) bool { return !m.Witness && !m.Standby }),
		RunE: func(command *cobra.Command, _ []string) error {
			return p.handOver(command, &o, asJSON, id)
		},
	}
	o.defineOrder(command, &asJSON)
	return command
}

// oneMember takes one argument, the identifier of a member.
func oneMember(name string, id *uint64) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) (err error) {
		if len(args) != 1 {
			return fmt.Errorf("%s takes one argument, the identifier of %s; try %[1]s --help", command.CommandPath(), name)
		}
		if *id, err = option.ID(args[0]); err != nil {
			return fmt.Errorf("%s is an identifier from 1 to 2⁶⁴ - 1, not %q", name, args[0])
		}
		return nil
	}
}

// defineOrder defines the flags of a command that changes something at a member.
func (o *clientOptions) defineOrder(command *cobra.Command, asJSON *bool) {
	o.define(command, false)
	command.Flags().BoolVar(asJSON, "json", false, "print the state of the member afterwards as one JSON object")
}

// members returns a function that completes the identifier of another member that fits, if the member that is named answers.
func (o *clientOptions) members(fits func(*ringleader.MemberStatus) bool) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, _ string) (ids []string, _ cobra.ShellCompDirective) {
		if client, err := o.client(command); err == nil && len(args) == 0 {
			if s, err := client.Status(command.Context()); err == nil {
				for i := range s.Members {
					if m := &s.Members[i]; m.ID != s.ID && fits(m) {
						ids = append(ids, strconv.FormatUint(m.ID, 10))
					}
				}
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

// handOver lets the member hand over, to a given one unless that is 0, and shows its state then.
func (p *program) handOver(command *cobra.Command, o *clientOptions, asJSON bool, to uint64) error {
	client, err := o.client(command)
	if err != nil {
		return err
	}
	var s ringleader.Status
	if to == 0 {
		s, err = client.Resign(command.Context())
	} else {
		s, err = client.Transfer(command.Context(), to)
	}
	if err != nil {
		return unanswered(err)
	}
	if err := p.Print(report.Status{Status: s}, asJSON); err != nil {
		return err
	}
	switch {
	case s.Leader == nil:
		return report.Stopped("no other member leads yet")
	case *s.Leader == s.ID && s.Stopping:
		return report.Stopped("member %d leads until its work has stopped, which it has been told; that takes long", s.ID)
	case *s.Leader == s.ID:
		return report.Stopped("member %d leads again: no other member has taken over in time", s.ID)
	case to != 0 && *s.Leader != to:
		return report.Failed("member %d leads, and not %d", *s.Leader, to)
	}
	return nil
}
