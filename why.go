package ringleader

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// why returns the reasons for which a member knows no leader.
func (m *Member) why(s *Status) (reasons []string) {
	because := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	select {
	case <-m.Done():
		because("this member has stopped: %v", cmp.Or(m.Err(), ErrClosed))
		return reasons
	default:
	}
	if err := m.Health(); err != nil {
		because("this member is not healthy: %v", err)
	}
	if e := s.CertificateExpires; e != nil && time.Now().After(*e) {
		because("the certificate of this member has expired on %s, and the others refuse it: renew it", e.UTC().Format(time.DateTime))
	}
	first := len(reasons)
	for _, member := range s.Members {
		if member.mayNot() {
			because("member %d may not lead: %s", member.ID, member.Unable)
		}
		switch {
		case member.ID == s.ID && member.Problem != "":
			because("this member takes no part: %s", member.Problem)
		case !member.Reachable:
			because("member %d at %s is missing: %s", member.ID, cmp.Or(member.Address, "an unknown address"), cmp.Or(member.Problem, "it is not heard from"))
		case member.Problem != "":
			because("member %d at %s is heard from, but: %s", member.ID, cmp.Or(member.Address, "an unknown address"), member.Problem)
		}
	}
	if m.config.Algorithm == QuorumBully {
		votes, leads := whyNoVotes(s)
		reasons = slices.Insert(reasons, first, votes...)
		reasons = append(append(append(reasons, leads...), m.waits()...), m.group.Waits()...)
	}
	if len(reasons) == 0 {
		because("an election is under way; if it lasts, the other members know more")
	}
	return reasons
}

// waits returns what this member waits for.
func (m *Member) waits() (reasons []string) {
	if left := m.group.Timer("wait"); left > 0 {
		reasons = append(reasons, fmt.Sprintf("this member has restarted, and takes part in %s, when the promises of its life before have run out", seconds(left)))
	}
	if left := m.group.Timer("bound"); left > 0 {
		reasons = append(reasons, fmt.Sprintf("this member has promised its vote to another member for %s more", seconds(left)))
	}
	return reasons
}

// whyNoVotes returns the reasons for which there is no majority of votes, and those for which none that has a vote may lead.
func whyNoVotes(s *Status) (votes, leads []string) {
	voters, reachable, candidates, unable, included := 0, 0, 0, 0, "itself included"
	for _, member := range s.Members {
		if member.Standby {
			if member.ID == s.ID {
				included = "which has no vote"
				votes = append(votes, "this member has no vote, and never leads: it is on standby, or was removed")
			}
			continue
		}
		voters++
		if member.Reachable {
			reachable++
		}
		if member.Reachable && !member.Witness {
			candidates++
		}
		if member.mayNot() {
			unable++
		}
	}
	kind := "members"
	if voters < len(s.Members) {
		kind = "members with a vote"
	}
	switch majority := voters/2 + 1; {
	case voters == 0:
		votes = append(votes, "this member does not know who votes: no member has told it yet, or taken it")
	case reachable < majority:
		votes = append(votes, fmt.Sprintf("%d of %d %s can communicate with this one, %s, and a leader needs the votes of %d: start the others, or repair the way to them", reachable, voters, kind, included, majority))
	case candidates == 0:
		leads = append(leads, fmt.Sprintf("all %s that can communicate with this one are witnesses, which never lead: start another one", kind))
	case unable == candidates:
		leads = append(leads, fmt.Sprintf("none of the %s that can communicate with this one may lead", kind))
	}
	return votes, leads
}

// seconds returns a length of time for people.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// mayNot reports whether a member that is heard from, and is no witness, may not lead at present.
func (s *MemberStatus) mayNot() bool { return s.Reachable && !s.Witness && s.Unable != "" }
