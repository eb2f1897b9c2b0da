package statushttp

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"ringleader.example/ringleader"
)

// sample is a value with its labels.
type sample struct {
	labels string // in braces, or empty
	value  float64
}

// metric is what Prometheus calls a family: samples with one name.
type metric struct {
	name, kind, help string
	samples          []sample
}

func one(value float64) []sample { return []sample{{value: value}} }

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// metrics writes the state and the counters of a member in the text format of Prometheus, version 0.0.4.
func metrics(w http.ResponseWriter, m *ringleader.Member) {
	var b bytes.Buffer
	for _, f := range metricsOf(m) {
		if f.kind != "" { // else of the summary before it
			fmt.Fprintf(&b, "# HELP ringleader_%s %s\n# TYPE ringleader_%[1]s %[3]s\n", f.name, f.help, f.kind)
		}
		for _, s := range f.samples {
			fmt.Fprintf(&b, "ringleader_%s%s %s\n", f.name, s.labels, strconv.FormatFloat(s.value, 'g', -1, 64))
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(b.Bytes()) // if the client is gone, the error has no receiver
}

// able reports whether the member of a status may lead.
func able(s *ringleader.Status) bool {
	i := slices.IndexFunc(s.Members, func(m ringleader.MemberStatus) bool { return m.ID == s.ID })
	return !s.Members[i].Witness && s.Members[i].Unable == ""
}

func metricsOf(m *ringleader.Member) []metric {
	s, c, lease := m.Status(), m.Counters(), 0.0
	if s.Lease != nil {
		lease = *s.Lease
	}
	var peers []sample
	reachable, voters, voting := 0, 0, 0
	for _, member := range s.Members {
		peers = append(peers, sample{fmt.Sprintf(`{member="%d"}`, member.ID), flag(member.Reachable)})
		reachable += int(flag(member.Reachable))
		voters += int(flag(!member.Standby))
		voting += int(flag(!member.Standby && member.Reachable))
	}
	known := s.Leader != nil
	leader := 0.0
	if known {
		leader = float64(*s.Leader)
	}
	health := cmp.Or(s.Health, &ringleader.HealthStatus{})
	const counter, gauge = "counter", "gauge"
	all := []metric{
		{"info", gauge, "The member and its algorithm; always 1.", []sample{{fmt.Sprintf(`{id="%d",algorithm="%s"}`, s.ID, s.Algorithm), 1}}},
		{"healthy", gauge, "1 while the member works, 0 when it has stopped or stalled.", one(flag(m.Health() == nil))},
		{"is_leader", gauge, "1 while this member leads.", one(flag(s.Role == ringleader.Leader))},
		{"leader_known", gauge, "1 while this member knows a leader.", one(flag(known))},
		{"leader_id", gauge, "Identifier of the leader that this member knows, 0 without one.", one(leader)},
		{"term", gauge, "Term of that leader, or the last one.", one(float64(s.Term))},
		{"lease_remaining_seconds", gauge, "Rest of the lease of this member, 0 if it does not lead.", one(lease)},
		{"able", gauge, "1 while this member may lead, as far as its health check and its work determine that.", one(flag(able(&s)))},
		{"health_checks_passed_total", counter, "Health checks of this member that have passed.", one(float64(health.Passed))},
		{"health_checks_failed_total", counter, "Health checks of this member that have failed.", one(float64(health.Failed))},
		{"preemption_paused", gauge, "1 while preemption is paused at this member.", one(flag(s.Preemption != nil && s.Preemption.Paused))},
		{"stopping", gauge, "1 while this member leads and its work is about to stop.", one(flag(s.Stopping))},
		{"quorum", gauge, "1 while a majority supports the known leader, as far as this member knows.", one(flag(s.Quorum))},
		{"unsafe_no_quorum", gauge, "1 if the algorithm has no quorum, so that each side of a partition has a leader.", one(flag(s.Algorithm == ringleader.Bully))},
		{"members", gauge, "Members in the list, those without a vote included.", one(float64(len(s.Members)))},
		{"members_reachable", gauge, "Those that are heard from, this one included.", one(float64(reachable))},
		{"voters", gauge, "Members that vote; a leader needs a majority of them.", one(float64(voters))},
		{"voters_reachable", gauge, "Those that are heard from, this one included if it votes.", one(float64(voting))},
		{"member_reachable", gauge, "1 while a member is heard from.", peers},
		{"tenures_total", counter, "Times that this member began to lead.", one(float64(c.Tenures))},
		{"lease_lapses_total", counter, "Tenures of this member that ended because its lease ran out.", one(float64(c.Lapses))},
		{"lease_renewals_total", counter, "Times that the lease of this member was prolonged.", one(float64(c.Renewals))},
		{"lease_renewals_late_total", counter, "Renewals when less than half of the lease was left.", one(float64(c.LateRenewals))},
		{"leader_changes_total", counter, "Times that another leader than before was known.", one(float64(c.LeaderChanges))},
		{"suspicions_total", counter, "Times that a member that was heard from fell silent.", one(float64(c.Suspicions))},
		{"election_seconds", "summary", "Time without a known leader, of elections that have ended.", nil},
		{"election_seconds_sum", "", "", one(c.ElectionTime.Seconds())},
		{"election_seconds_count", "", "", one(float64(c.Elections))},
		{"timer_lateness_seconds", "summary", "How late the member woke for its timers.", nil},
		{"timer_lateness_seconds_sum", "", "", one(c.Lateness.Seconds())},
		{"timer_lateness_seconds_count", "", "", one(float64(c.Timers))},
		{"save_seconds", "summary", "Time to flush votes to the disk.", nil},
		{"save_seconds_sum", "", "", one(c.SaveTime.Seconds())},
		{"save_seconds_count", "", "", one(float64(c.Saves))},
		{"save_failures_total", counter, "Times that votes could not be written.", one(float64(c.FailedSaves))},
	}
	if s.CertificateExpires != nil {
		all = append(all, metric{"certificate_expiry_timestamp_seconds", gauge, "When the certificate of this member expires, since 1970.", one(float64(s.CertificateExpires.Unix()))})
	}
	return all
}
