package live

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/book"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// votersChanged notes the voters, and reports whether they have changed, or more members keep them.
func (g *group) votersChanged() bool {
	before, now := g.voters, g.machine.Membership()
	g.voters = now
	g.agree()
	g.handle.lastsFor(process.Moment(0, now.Entitled, g.member.config.Unit))
	g.loop.revoted = g.loop.revoted || now.Version != before.Version || now.Term != before.Term
	if now.Version != before.Version {
		g.member.recorder.Voters(g.handle.name, g.votersNow())
		g.handle.log.Info("voters changed", "version", now.Version, "term", now.Term, "voters", g.ids(now.Voters))
	}
	return now.Term != before.Term || now.Version != before.Version || now.Kept != before.Kept
}

// ids returns the identifiers of members.
func (g *group) ids(members []election.ID) (ids []uint64) {
	for _, rank := range members {
		ids = append(ids, g.Name(rank))
	}
	slices.Sort(ids)
	return ids
}

// votersNow returns the voters to show.
func (g *group) votersNow() view.Voters {
	v := view.Voters{Term: g.voters.Term, Version: g.voters.Version, Kept: g.voters.Kept, Members: g.ids(g.voters.Voters)}
	if len(v.Members) == 0 {
		v.Members = g.member.record.Founders
	}
	return v
}

// knowsVoters returns an error if the list lacks a voter, or has other first voters than the store, and these count.
func (g *group) knowsVoters() error {
	if len(g.member.config.Seeds) > 0 || len(g.member.book.Lines()) > 0 { // it learns where the others are
		return nil
	}
	configured := book.Founders(g.member.config.Members)
	if len(g.voters.Voters) == 0 && !slices.Equal(configured, g.member.record.Founders) {
		return fmt.Errorf("%w: by the list of members, those that vote at first are %v, and this directory is that of a group with %v", storage.ErrData, configured, g.member.record.Founders)
	}
	if id, lacks := g.lacks(g.member.members); lacks {
		return fmt.Errorf("%w: %w: %w; its vote is removed first", storage.ErrData, ErrList, &Lacking{id})
	}
	return nil
}

// KeptVoters returns the voters that a storage has for a member that does not run. It leaves the storage open.
func KeptVoters(a *process.Program, c Config) (view.Voters, error) {
	_, l, err := prepare(a, c)
	if err != nil {
		return view.Voters{}, err
	}
	return l.groups[0].votersNow(), nil
}

// logVoters logs the voters that count in place of the configured ones.
func (g *group) logVoters() {
	if g.voters.Version > 0 {
		g.handle.log.Info("the voters are those that the group has agreed on, not those of the configuration", "version", g.voters.Version, "voters", g.ids(g.voters.Voters))
	}
}

// schema is what a group's record must agree with.
func (g *group) schema() transport.Digest {
	a := g.member.program
	if a.Functions.Membership {
		return transport.DigestOf("%s %s", a.Name, a.Plans.Durable.Schema())
	}
	return transport.DigestOf("%s %s %v", a.Name, a.Plans.Durable.Schema(), g.member.record.Founders)
}
