package live

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// Voters is what a member knows about the members that vote.
type Voters struct {
	Term    election.Term // of the leader that made the last change; 0: there was none
	Version uint64        // the number of changes
	Vote    []bool        // in the order of Config.Members
	Kept    int           // how many voters are known to keep this; 0 if this member does not lead
}

// Keeps reports whether a majority of the voters is known to keep them, so that the change has happened for good.
func (v *Voters) Keeps() bool {
	votes := 0
	for _, vote := range v.Vote {
		if vote {
			votes++
		}
	}
	return v.Kept > votes/2
}

// votersChanged notes the voters, and reports whether they have changed, or more members keep them.
func (g *group) votersChanged() bool {
	before, now := g.voters, g.machine.Membership()
	g.voters = now
	if now.Version != before.Version {
		g.Group.log.Info("voters changed", "version", now.Version, "term", now.Term, "voters", g.ids(now.Voters))
	}
	return now.Term != before.Term || now.Version != before.Version || now.Kept != before.Kept
}

// ids returns the identifiers of members.
func (g *group) ids(members []election.ID) (ids []uint64) {
	for _, rank := range members {
		if i := int(rank) - 1; i >= 0 && i < len(g.sorted) { // a peer has sent it
			ids = append(ids, g.sorted[i].ID)
		}
	}
	return ids
}

// votersNow returns the voters to show.
func (g *group) votersNow() Voters {
	v := Voters{Term: g.voters.Term, Version: g.voters.Version, Kept: g.voters.Kept}
	for _, member := range g.config.Members {
		vote := !member.Standby
		if rank, _ := g.Rank(member.ID); len(g.voters.Voters) > 0 {
			vote = slices.Contains(g.voters.Voters, rank)
		}
		v.Vote = append(v.Vote, vote)
	}
	return v
}

// knowsVoters returns an error if the list of members lacks a voter. All members that communicate have the same list.
func (g *group) knowsVoters() error {
	if voters := g.machine.Membership().Voters; len(voters) > 0 && int(voters[len(voters)-1]) > len(g.sorted) {
		return fmt.Errorf("%w: the list of members is too short: the group has agreed on a voter that it lacks", storage.ErrData)
	}
	return nil
}

// logVoters logs the voters that count in place of the configured ones.
func (g *group) logVoters() {
	if g.voters.Version > 0 {
		g.Group.log.Info("the voters are those that the group has agreed on, not those of the configuration", "version", g.voters.Version, "voters", g.ids(g.voters.Voters))
	}
}

// schema is what a group's record must agree with. The members on standby have the largest identifiers, so what is kept stays
// valid when there are more of them.
func (g *group) schema() transport.Digest {
	a := g.program
	first := slices.DeleteFunc(slices.Clone(g.sorted), func(m transport.Member) bool { return m.Standby })
	return transport.DigestOf("%s %s %v", a.Name, a.Plans.Durable.Schema(), identifiers(first))
}
