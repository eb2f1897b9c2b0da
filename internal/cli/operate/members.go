//go:build !js

package operate

import (
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/option"
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
votes of a majority of these. Members add gives a vote to a member that has none, and members
remove takes it. Both ask the leader.

A member at a new address joins without a stop. It gets an identifier that was never used, and a
store. All members get its line in their file of --config, marked with ,standby, and SIGHUP. Then
it follows, and members add gives it a vote. A member that is to leave loses its vote first, and
then its line in all files.

Exit status: 0 the member answers; 3 no member answers; 64 the call was wrong.`,
		Example: `  ringleader members --data /var/lib/ringleader/1
  ringleader members add 4 --data /var/lib/ringleader/1
  ringleader members remove 2 --data /var/lib/ringleader/1`,
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
		p.vote("add", true, "Give a vote to a member, while the group runs", `Add asks the leader to give a vote to the member ID, which runs, is in the list of all members,
and has no vote: it is marked with ,standby, or was removed. "ringleader members --help" shows
how a member at a new address gets into the lists.`),
		p.vote("remove", false, "Take the vote of a member, while the group runs", `Remove asks the leader to take the vote of the member ID, which may be dead. A member without a
vote follows the leader, and never leads. The leader does not remove itself: transfer first.`),
	)
	return command
}

// vote is the command that gives a vote, or takes it.
func (p *program) vote(verb string, votes bool, short, long string) *cobra.Command {
	var (
		o      clientOptions
		asJSON bool
		id     uint64
	)
	command := &cobra.Command{
		Use:   verb + " ID --data DIR",
		Short: short,
		Long: long + ` One vote changes at a time. The command waits until a majority of the
voters keeps the change durably, for at most five seconds. A change waits while the voters
after it that answer are no majority; it is withdrawn after that time.

Exit status: 0 the change has happened; 1 the member does not lead; 3 no
member answers, or it is not known yet whether the change happens: look again; 64 the call was wrong.`,
		Example:           "  ringleader members " + verb + " 4 --data /var/lib/ringleader/1",
		Args:              oneMember("a member", &id),
		ValidArgsFunction: o.members(func(m *ringleader.MemberStatus) bool { return m.Standby == votes }),
		RunE: func(command *cobra.Command, _ []string) error {
			client, err := o.client(command)
			if err != nil {
				return err
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
	return command
}

// changed reports whether a majority keeps that a member votes, or does not.
func changed(s *ringleader.Status, id uint64, votes bool) bool {
	v := s.Voters
	return v != nil && slices.Contains(v.Members, id) == votes && v.Kept > len(v.Members)/2
}
