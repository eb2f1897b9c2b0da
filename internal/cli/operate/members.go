//go:build !js

package operate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/control"
	"ringleader.example/ringleader/internal/show/report"
)

func (p *program) members() *cobra.Command {
	var (
		o      clientOptions
		asJSON bool
	)
	command := &cobra.Command{
		Use:     "members --data DIR",
		GroupID: option.GroupElect,
		Short:   "Show which members vote, and change that while the group runs",
		Long: `Members shows the members and which of them vote, as the member knows it. A leader needs the
votes of a majority of these.

A new member gets an identifier that was never used, and a store: see "ringleader init". Then
"members add --id ID --address HOST:PORT", at any member, puts it into the address book of the
group. The book travels to all members, and each keeps it. The new member is started by
"ringleader join --join HOST:PORT", with the address of any other one, and the leader gives it a
vote. "members remove --id ID" takes vote and line again. No other member is changed or restarted.

A member that is started at another address tells the others. What the address book has of a
member counts before its line in --member. Such a line of a new member, in the file of --config of
each member, and SIGHUP, also let it in. Then it has no vote: at the leader, "members add ID" gives
a vote to a member of the lists that has none, and "members remove ID" takes it.

Exit status: 0 the member answers; 3 no member answers; 64 the call was wrong.`,
		Example: `  ringleader members --data /var/lib/ringleader/1
  ringleader members add --id 4 --address 10.0.0.4:7001 --data /var/lib/ringleader/1
  ringleader members remove --id 2 --data /var/lib/ringleader/1`,
		Args:              option.FlagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			client, err := o.client(command)
			if err != nil {
				return err
			}
			s, err := client.Status(command.Context())
			if err != nil {
				return unanswered(err)
			}
			return p.Print(report.Status{Status: s}, asJSON)
		},
	}
	o.define(command, true)
	command.Flags().BoolVar(&asJSON, "json", false, "print the state of the member as one JSON object")
	command.AddCommand(
		p.vote("add", true, "Add a member, or give a vote to one, while the group runs", `Add --id ID --address HOST:PORT puts a member into the address book of the group, or gives it
another address there. Any member takes that, keeps it, and passes it on to all others, which need
not run. The leader gives the member a vote as soon as it runs, unless --standby is given, which
is for members that have none: "members remove" takes one.
--priority and --witness are as in "ringleader join --member". The same command twice is no error.

Add ID asks the leader to give a vote to the member ID, which runs, is in the list of all
members, and has no vote: it is marked with ,standby, or was removed.`),
		p.vote("remove", false, "Remove a member, or take its vote, while the group runs", `Remove --id ID removes a member, which may be dead, from the group. Any member takes that, keeps
it, and passes it on. The leader takes its vote, and then all refuse it. A leader that is removed
hands over first. Its identifier remains known: "members add --id" lets it in again, with its store.

Remove ID asks the leader to take the vote of the member ID, which may be dead. A member without a
vote follows the leader, and never leads. The leader does not remove itself: transfer first.`),
	)
	return command
}

// vote is the command that gives a vote, or takes it.
func (p *program) vote(verb string, votes bool, short, long string) *cobra.Command {
	var (
		o        clientOptions
		asJSON   bool
		id       uint64
		place    ringleader.MemberAddress
		priority uint64
	)
	command := &cobra.Command{
		Use:   verb + " [ID] --data DIR",
		Short: short,
		Long: long + ` One vote changes at a time. This
waits until a majority of the voters keeps the change durably, for at most five seconds. A change
waits while the voters after it that answer are no majority; it is withdrawn after that time.

Exit status: 0 the change has happened, with --id at this member; 1 the member does not lead, or
refuses; 3 no member answers, or it is not known yet whether a change of a vote happens: look
again; 64 the call was wrong.`,
		Example: "  ringleader members " + verb + " --id 4" + map[bool]string{true: " --address 10.0.0.4:7001"}[votes] + " --data /var/lib/ringleader/1\n  ringleader members " + verb + " 4 --data /var/lib/ringleader/1",
		Args: func(command *cobra.Command, args []string) error {
			if command.Flags().Changed("id") {
				return option.FlagsOnly(command, args)
			}
			return oneMember("a member", &id)(command, args)
		},
		ValidArgsFunction: o.members(func(m *ringleader.MemberStatus) bool { return m.Standby == votes }),
		RunE: func(command *cobra.Command, _ []string) error {
			client, err := o.client(command)
			if err != nil {
				return err
			}
			if command.Flags().Changed("id") {
				return p.place(command, client, place, priority, votes, asJSON)
			}
			for _, name := range []string{"address", "priority", "witness", "standby"} {
				if command.Flags().Changed(name) {
					return fmt.Errorf("--%s goes with --id", name)
				}
			}
			s, err := client.Vote(command.Context(), id, votes)
			if err != nil {
				return unanswered(err)
			}
			if err := p.Print(report.Status{Status: s}, asJSON); err != nil {
				return err
			}
			if !changed(&s, id, votes) {
				return report.Stopped("it is not known whether the vote of member %s changes; look again with %q", strconv.FormatUint(id, 10), "members")
			}
			return nil
		},
	}
	o.defineOrder(command, &asJSON)
	flags := command.Flags()
	option.Positive(flags, &place.ID, "id", "identifier of the member that is added to the address book, or removed from it")
	option.Once(flags, "id")
	if votes {
		flags.StringVar(&place.Address, "address", "", "HOST:PORT of the member, by which the others reach it; with --srv at the members, a name")
		option.Number(flags, &priority, "priority", "", 0, "priority of the member, from 1 to 65535 (default: that which it has, or 1)")
		flags.BoolVar(&place.Witness, "witness", false, "the member votes, and never leads")
		flags.BoolVar(&place.Standby, "standby", false, "the member gets no vote")
	}
	return command
}

// place changes the address book.
func (p *program) place(command *cobra.Command, client *control.Client, a ringleader.MemberAddress, priority uint64, adds, asJSON bool) (err error) {
	switch {
	case adds && a.Address == "":
		return errors.New("--id needs --address")
	case strings.HasPrefix(a.Address, ":") && !strings.Contains(a.Address[1:], ":"):
		return fmt.Errorf("--address is where the others reach the member: it needs a host, as in 10.0.0.4%s", a.Address)
	case command.Flags().Changed("priority") && priority == 0, priority > math.MaxUint16 || priority != 0 && a.Witness:
		return errors.New("--priority is from 1 to 65535, and not for a --witness")
	}
	a.Priority = uint16(priority)
	if adds && strings.Contains(a.Address, ":") {
		if a.Address, err = option.Address("--address", a.Address); err != nil {
			return err
		}
	}
	var s ringleader.Status
	if adds {
		s, err = client.AddAddress(command.Context(), a)
	} else {
		s, err = client.RemoveAddress(command.Context(), a.ID)
	}
	if err != nil {
		return unanswered(err)
	}
	if err := p.Print(report.Status{Status: s}, asJSON); err != nil || adds || asJSON {
		return err
	}
	_, err = fmt.Fprint(p.Out, lingers(&s, a.ID))
	return err
}

// lingers returns a line about a member that was removed, and that the list still has.
func lingers(s *ringleader.Status, id uint64) string {
	if id == s.ID || !slices.ContainsFunc(s.Members, func(m ringleader.MemberStatus) bool { return m.ID == id }) {
		return ""
	}
	return fmt.Sprintf("\nMember %d is removed. It is in the list until the leader has taken its vote.\n", id)
}

// changed reports whether a majority keeps that a member votes, or does not, or the voters of the configuration are as wanted.
func changed(s *ringleader.Status, id uint64, votes bool) bool {
	v := s.Voters
	if v == nil { // all members vote
		return votes
	}
	return slices.Contains(v.Members, id) == votes && (v.Version == 0 || v.Kept > len(v.Members)/2)
}
