package statushttp

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/metrics"
)

// serve writes the state and the counters of a member in the text format of Prometheus.
func serve(w http.ResponseWriter, m *ringleader.Member) {
	w.Header().Set("Content-Type", metrics.ContentType)
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(metricsOf(m).Bytes()) // if the client is gone, the error has no receiver
}

// able reports whether the member of a status may lead.
func able(s *ringleader.Status) bool {
	i := slices.IndexFunc(s.Members, func(m ringleader.MemberStatus) bool { return m.ID == s.ID })
	return !s.Members[i].Witness && s.Members[i].Unable == ""
}

// histogram writes a histogram of lengths of time.
func histogram(t *metrics.Text, name, help string, h *ringleader.Histogram) {
	var buckets []metrics.Bucket
	for _, b := range h.Buckets {
		buckets = append(buckets, metrics.Bucket{Most: b.Most.Seconds(), Count: b.Count})
	}
	t.Histogram(name, help, buckets, h.Sum.Seconds(), h.Count)
}

// byCause returns the changes of the leader by cause, in the order of the words.
func byCause(m *ringleader.Member) (samples []metrics.Sample) {
	changes := m.ChangesByCause()
	for _, cause := range slices.Sorted(maps.Keys(changes)) {
		samples = append(samples, metrics.Sample{Labels: fmt.Sprintf(`{cause="%s"}`, cause), Value: float64(changes[cause])})
	}
	return samples
}

func metricsOf(m *ringleader.Member) *metrics.Text {
	s, c, lease := m.Status(), m.Counters(), 0.0
	if s.Lease != nil {
		lease = *s.Lease
	}
	var peers []metrics.Sample
	reachable, warm, voters, voting, prepares := 0, 0, 0, 0, false
	for _, member := range s.Members {
		peers = append(peers, metrics.Sample{Labels: fmt.Sprintf(`{member="%d"}`, member.ID), Value: metrics.Flag(member.Reachable)})
		reachable += int(metrics.Flag(member.Reachable))
		warm += int(metrics.Flag(member.Reachable && member.Warmth == ringleader.Warm))
		prepares = prepares || member.Warmth != ""
		voters += int(metrics.Flag(!member.Standby))
		voting += int(metrics.Flag(!member.Standby && member.Reachable))
	}
	known := s.Leader != nil
	leader := 0.0
	if known {
		leader = float64(*s.Leader)
	}
	health := cmp.Or(s.Health, &ringleader.HealthStatus{})
	t := new(metrics.Text)
	t.Gauges("info", "The member and its algorithm; always 1.", metrics.Sample{Labels: fmt.Sprintf(`{id="%d",algorithm="%s"}`, s.ID, s.Algorithm), Value: 1})
	if s.Confinement != "" {
		t.Gauges("confinement_info", "By what the processes of the command end, from namespace, the surest, to first-process; always 1.", metrics.Sample{Labels: fmt.Sprintf(`{means=%q}`, s.Confinement), Value: 1})
	}
	t.Flag("healthy", "1 while the member works, 0 when it has stopped or stalled, or its storage fails.", m.Health() == nil)
	t.Flag("is_leader", "1 while this member leads.", s.Role == ringleader.Leader)
	t.Flag("leader_known", "1 while this member knows a leader.", known)
	t.Gauge("leader_id", "Identifier of the leader that this member knows, 0 without one.", leader)
	t.Gauge("term", "Term of that leader, or the last one.", float64(s.Term))
	t.Gauge("lease_remaining_seconds", "Rest of the lease of this member, 0 if it does not lead.", lease)
	t.Gauge("lease_length_seconds", "Length of the lease that the leader asks for, as this member knows it, 0 without a leader.", s.LeaseLength)
	t.Flag("able", "1 while this member may lead, as far as its health check and its work determine that.", able(&s))
	t.Counter("health_checks_passed_total", "Health checks of this member that have passed.", float64(health.Passed))
	t.Counter("health_checks_failed_total", "Health checks of this member that have failed.", float64(health.Failed))
	t.Flag("preemption_paused", "1 while preemption is paused at this member.", s.Preemption != nil && s.Preemption.Paused)
	t.Flag("stopping", "1 while this member leads and its work is about to stop.", s.Stopping)
	t.Flag("quorum", "1 while a majority supports the known leader, as far as this member knows.", s.Quorum)
	t.Flag("unsafe_no_quorum", "1 if the algorithm has no quorum, so that each side of a partition has a leader.", s.Algorithm == ringleader.Bully)
	t.Gauge("members", "Members in the list, those without a vote included.", float64(len(s.Members)))
	t.Gauge("members_reachable", "Those that are heard from, this one included.", float64(reachable))
	t.Gauge("voters", "Members that vote; a leader needs a majority of them.", float64(voters))
	t.Gauge("voters_reachable", "Those that are heard from, this one included if it votes.", float64(voting))
	t.Gauges("member_reachable", "1 while a member is heard from.", peers...)
	if prepares {
		t.Gauge("members_warm", "Those that are heard from and prepared for the lead, the leader included.", float64(warm))
	}
	t.Flag("ready", "1 while GET /readyz is 200: this member knows the leader, is prepared, and its work is ready if it leads.", ready(m) == nil)
	t.Counter("tenures_total", "Times that this member began to lead.", float64(c.Tenures))
	t.Counter("lease_lapses_total", "Tenures of this member that ended because its lease ran out.", float64(c.Lapses))
	t.Counter("lease_renewals_total", "Times that the lease of this member was prolonged.", float64(c.Renewals))
	t.Counter("lease_renewals_late_total", "Renewals when less than half of the lease was left.", float64(c.LateRenewals))
	t.Counter("leader_changes_total", "Times that another leader than before was known.", float64(c.LeaderChanges))
	t.Counters("leader_changes_by_cause_total", "Ends of a lead that this member knew, and leaders without one before, by the cause as far as it knows that.", byCause(m)...)
	t.Counter("suspicions_total", "Times that a member that was heard from fell silent.", float64(c.Suspicions))
	t.Summary("election_seconds", "Time without a known leader, of elections that have ended.", c.ElectionTime.Seconds(), c.Elections)
	h := m.Histograms()
	histogram(t, "timer_lateness_seconds", "How late the member woke for its timers.", &h.Lateness)
	histogram(t, "save_seconds", "Time to flush votes to the disk.", &h.Saves)
	histogram(t, "round_trip_seconds", "Time that the others took to answer when this member, as the leader, renewed its lease.", &h.RoundTrips)
	t.Counter("save_failures_total", "Times that votes could not be written.", float64(c.FailedSaves))
	t.Flag("storage_failing", "1 while the disk gives no answer, or the data directory is gone.", s.StorageProblem != "")
	t.Flag("work_stalled", "1 while the work of this member makes no progress, or a directory that it needs fails.", s.WorkProblem != "")
	if len(s.ProgressPaths) > 0 {
		var paths []metrics.Sample
		for _, p := range s.ProgressPaths {
			paths = append(paths, metrics.Sample{Labels: fmt.Sprintf(`{path=%q}`, p.Path), Value: p.Failing})
		}
		t.Gauges("progress_path_failing_seconds", "For how long a directory that the work needs has failed, 0 if it has not.", paths...)
	}
	t.Gauge("storage_failing_seconds", "For how long that has been so, 0 if it is not.", s.StorageFailing)
	if s.CertificateExpires != nil {
		t.Gauge("certificate_expiry_timestamp_seconds", "When the certificate of this member expires, since 1970.", float64(s.CertificateExpires.Unix()))
		t.Flag("certificate_wrong", "1 while the latest certificate of this member cannot be used.", s.CertificateProblem != "")
	}
	return t
}
