//go:build !js

package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/core/amount"
)

// Status is the state of a member, as it reports it.
type Status struct{ ringleader.Status }

// JSON returns the state for programs.
func (s Status) JSON() any {
	o := Object{
		{"id", s.ID},
		{"algorithm", s.Algorithm},
		{"role", s.Role},
		{"leader", s.Leader},
		{"term", s.Term},
		{"quorum", s.Quorum},
		{"lease", s.Lease},
	}
	if s.LeaseLength != 0 {
		o = append(o, Field{"lease_length", s.LeaseLength})
	}
	o = append(o, Field{"stopping", s.Stopping})
	if s.NotReady {
		o = append(o, Field{"not_ready", s.NotReady})
	}
	if s.LastChange != nil {
		o = append(o, Field{"last_change", s.LastChange})
	}
	if s.CertificateExpires != nil {
		o = append(o, Field{"certificate_expires", s.CertificateExpires})
	}
	if s.CertificateProblem != "" {
		o = append(o, Field{"certificate_problem", s.CertificateProblem})
	}
	if s.WorkProblem != "" {
		o = append(o, Field{"work_problem", s.WorkProblem})
	}
	if len(s.ProgressPaths) > 0 {
		o = append(o, Field{"progress_paths", s.ProgressPaths})
	}
	if s.StorageProblem != "" {
		o = append(o, Field{"storage_problem", s.StorageProblem}, Field{"storage_failing", s.StorageFailing})
	}
	o = append(o, Field{"members", s.Members})
	if s.ListLacks != 0 {
		o = append(o, Field{"list_lacks", s.ListLacks})
	}
	if s.Value != "" {
		o = append(o, Field{"value", s.Value})
	}
	if s.Voters != nil {
		o = append(o, Field{"voters", s.Voters})
	}
	if s.Health != nil {
		o = append(o, Field{"health", s.Health})
	}
	if s.Preemption != nil {
		o = append(o, Field{"preemption", s.Preemption})
	}
	if s.Confinement != "" {
		o = append(o, Field{"confinement", s.Confinement})
	}
	if len(s.Why) > 0 {
		o = append(o, Field{"why", s.Why})
	}
	return o
}

// soon is how long before its end an operator has to be reminded of a certificate.
const soon = 14 * 24 * time.Hour

// Text prints the state for people.
func (s Status) Text(p *Printer) error {
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	role := roleText(s.Role, s.leader(), s.Term)
	if s.NotReady {
		role += ": leading, not ready"
	}
	if s.Stopping {
		role += ", and its work stops"
	}
	fmt.Fprintf(w, "member %d\t%s\n", s.ID, role)
	if s.LastChange != nil {
		fmt.Fprintf(w, "last change\t%s\n", changeText(s.LastChange))
	}
	if s.Lease != nil {
		fmt.Fprintf(w, "lease\t%.0f of %.0f ms, unless it is renewed\n", *s.Lease*1000, s.LeaseLength*1000)
	} else if s.LeaseLength != 0 {
		fmt.Fprintf(w, "lease\tof the leader: %.0f ms\n", s.LeaseLength*1000)
	}
	if s.Value != "" {
		fmt.Fprintf(w, "value\t%s\n", s.Value)
	}
	s.problems(w)
	if s.Health != nil {
		fmt.Fprintf(w, "health\t%s\n", healthText(s.Health))
	}
	if s.Preemption != nil && s.Preemption.Paused {
		fmt.Fprintf(w, "preemption\t%s\n", pauseText(s.Preemption))
	}
	if s.Confinement != "" {
		fmt.Fprintf(w, "command\tends by %s\n", s.Confinement)
	}
	if s.Algorithm == ringleader.Bully {
		fmt.Fprintf(w, "algorithm\t%s, without a quorum\n", s.Algorithm)
	}
	if s.Voters != nil && len(s.Voters.Members) > 0 {
		fmt.Fprintf(w, "voters\t%s\n", Voters(s.Voters))
	}
	if s.ListLacks != 0 {
		fmt.Fprintf(w, "list\tthe new one waits: it lacks member %d, which votes, as far as this member knows\n", s.ListLacks)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(p.Out)
	fmt.Fprintln(w, "id\taddress\tweight\tstate\tproblem")
	for _, m := range s.Members {
		fmt.Fprintf(w, "%d\t%s\t%d\t%s\t%s\n", m.ID, cmp.Or(m.Address, "–"), m.Weight, s.stateOf(m), cmp.Or(m.Problem, m.Unable, m.WhyCold, "–"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(s.Why) > 0 {
		fmt.Fprintln(p.Out, "\nNo leader is known, because")
	}
	for _, reason := range s.Why {
		fmt.Fprintf(p.Out, "  %s\n", reason)
	}
	return nil
}

// problems prints what is wrong with the certificate and the storage of the member, or soon will be.
func (s Status) problems(w io.Writer) {
	e := s.CertificateExpires
	if e != nil && time.Until(*e) < soon {
		verb := "expires"
		if time.Until(*e) < 0 {
			verb = "has expired"
		}
		fmt.Fprintf(w, "certificate\t%s on %s: renew it\n", verb, e.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if s.CertificateProblem != "" && (e == nil || time.Until(*e) > 0) {
		fmt.Fprintf(w, "certificate\tthe latest one cannot be used: %s\n", s.CertificateProblem)
	}
	if s.WorkProblem != "" {
		fmt.Fprintf(w, "work\tmay not run on this member: %s\n", s.WorkProblem)
	}
	if s.StorageProblem != "" {
		fmt.Fprintf(w, "storage\tfails, so this member keeps no promise: %s\n", s.StorageProblem)
	}
}

// changeText returns a change of the leader, for people.
func changeText(c *ringleader.LeaderChange) string {
	who := func(id *uint64) string {
		if id == nil {
			return "none"
		}
		return fmt.Sprint(*id)
	}
	text := fmt.Sprintf("%s, from %s to %s: %s", c.Time.UTC().Format("2006-01-02 15:04:05 UTC"), who(c.From), who(c.To), c.Cause)
	if c.Detail != "" {
		text += ": " + c.Detail
	}
	return text
}

// healthText returns the result of a health check, for people.
func healthText(h *ringleader.HealthStatus) string {
	switch {
	case h.Able && h.Reason == "":
		return "the check passes"
	case h.Able:
		return fmt.Sprintf("the check begins to fail: %s (%d in a row)", h.Reason, h.Row)
	}
	return fmt.Sprintf("this member may not lead: %s (%s passed, %d failed)", h.Reason, amount.Of(h.Passed, "check"), h.Failed)
}

// pauseText returns the state of preemption that is paused, for people.
func pauseText(p *ringleader.PreemptionStatus) string {
	if p.Left == nil {
		return "paused, until ringleader resume-preemption"
	}
	return fmt.Sprintf("paused for %v more", (time.Duration(*p.Left) * time.Second))
}

// leader returns the known leader, or 0.
func (s Status) leader() uint64 {
	if s.Leader == nil {
		return 0
	}
	return *s.Leader
}

// stateOf returns what is known about a member, for people.
func (s Status) stateOf(m ringleader.MemberStatus) string {
	state := "missing"
	switch {
	case m.ID == s.ID:
		state = "this member"
	case m.Reachable:
		state = "reachable"
	}
	if m.ID == s.leader() {
		state += ", leader"
	}
	if m.Witness {
		state += ", witness"
	}
	if m.Standby {
		state += ", no vote"
	}
	if m.Removed {
		state += ", removed"
	}
	if m.Unable != "" {
		state += ", may not lead"
	}
	if m.Warmth != "" {
		state += ", " + string(m.Warmth)
	}
	return state
}

// Voters returns which members vote, for people.
func Voters(v *ringleader.Voters) string {
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(v.Members), " ", ", "), "[]")
	if v.Version == 0 {
		return text + ", as configured"
	}
	text += fmt.Sprintf(", version %d of term %d", v.Version, v.Term)
	if v.Kept > 0 {
		text += fmt.Sprintf(", kept by %d", v.Kept)
	}
	return text
}

// Change prints the state of a member after a change, as join prints it.
func Change(out io.Writer, json bool, s ringleader.Status) {
	leader := Status{s}.leader()
	member := Member{out: out, json: json, id: s.ID}
	member.event(JoinEvent{Event: "role", Role: s.Role, Leader: leader, Term: &s.Term, Time: time.Now()}, roleText(s.Role, leader, s.Term))
}
