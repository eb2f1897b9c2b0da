package ringleader

import (
	"fmt"
	"time"
)

// Timing holds the lengths of time that an election depends on. Safety needs two of them: the clocks of members must not
// differ by more than Drift, and work must stop within the time that Margin and Grace leave. All others decide only how
// fast an election is, and how long a silence it takes for a failure. [LAN], [WAN] and [Test] return values that fit
// together; the zero Timing is LAN.
type Timing struct {
	// Lease is how long a member promises its vote. A leader that can reach no majority leads for at most that long, and
	// without a proof of its death the others wait as long for its successor. All members should have the same.
	Lease time.Duration

	// ShortestLease is how short a lease may be that the leader asks for. It chooses a length for each renewal, from ShortestLease, while all
	// answers are quick, to Lease: so long that its renewals are three times as far apart as answers were late at worst in the last minutes. A
	// member that is cut off is replaced so much sooner. The default is Lease: all leases are for that. A shorter one than Renewal, Drift, Margin and
	// Grace allow, or than a third of Lease, counts as the shortest that they allow, and a longer one than Lease as Lease: see [Timing.WithDefaults].
	ShortestLease time.Duration

	// LongestLease is the longest lease that this member grants, and so how long it may have to wait after a restart.
	// The default is Lease. Raise it at all members before a longer Lease is used at any.
	LongestLease time.Duration

	// Drift is the fraction of Lease by which the leader stops earlier than the others' promises end. It is at least
	// 2ε/(1+ε) where each clock is within ±ε of the true rate. The default is 0.05.
	Drift float64

	// Renewal is the interval at which a leader renews a lease of the length Lease. It renews a shorter one more often, in proportion. The default
	// is a sixth of Lease, or less if ShortestLease needs that.
	Renewal time.Duration

	// Answers is how long a member waits for answers before it claims; about twice the time of a round trip. It is the
	// unit of pauses, too.
	Answers time.Duration

	// Defer is how long a member lets one of higher rank go first.
	Defer time.Duration

	// Claim is how long a claim waits for votes, which are flushed to disks, all at the same time.
	Claim time.Duration

	// Grace is how long work has to end by itself, after its context is cancelled.
	Grace time.Duration

	// Margin is how long before the end of the lease work must have ended. The default is a tenth of Lease.
	Margin time.Duration

	// Hang is how long a leader may do nothing, under [Warden]: one that is stopped, blocks for ever or spins in a loop. Then the warden kills
	// this process, and proves its death, so that another one leads at once and not after the end of a lease. It does not kill a process that
	// waits for a processor or a disk, or that a debugger holds. Only the member is watched, not the work of the program. 0: the warden
	// does not do that.
	Hang time.Duration

	// Stall is how long the storage, or a directory of Config.ProgressPaths, may give no answer before the member may lead no more. A leader
	// then stops its work, and hands over. Its lease runs out meanwhile, as the work may hang: see Progress. The member may lead again when
	// several uses in a row have succeeded. The default is a second.
	Stall time.Duration

	// Progress is how long work may give no sign of progress, by [Leadership.Alive]. Longer: the member leads no more, as if nothing renewed its
	// lease any more: the work must have returned by Margin before the end of the lease, or Config.Overrun applies. The member may lead
	// again when the work has returned, after a pause of Progress, but at least Lease, that doubles each time, up to a minute. The first sign
	// counts from the beginning of the work. 0, the default: the work promises nothing.
	Progress time.Duration

	// Preempt is how long a leader leads before it offers the lead to an able member of higher rank, if Config.Preempt
	// is set. After an offer without success it waits twice as long, up to eight times.
	Preempt time.Duration

	// Handover is how long a leader that is to hand over goes on if no other member is warm, and one may become so: see Config.Prepare. The
	// default is ten seconds: with as long again for its work to stop it fits into the 30 seconds that Kubernetes leaves a pod.
	Handover time.Duration

	// MessageDelay is, with [Bully], the longest time that a message takes, and its handling: a slower one may cause
	// another election. The default is 25 ms.
	MessageDelay time.Duration

	// Heartbeat is the interval at which a connection shows that the member is live.
	Heartbeat time.Duration

	// Suspicion is the silence after which a member is suspected to have crashed. A suspicion starts an election, and
	// ends no lease. It is at least three times Heartbeat. Between two members that do not lead, heartbeats come only at this interval, and
	// the silence is three times as long: no election depends on that.
	Suspicion time.Duration
}

// LAN returns timing for members in one data centre: round trips below 2 ms, flushes below 20 ms.
func LAN() Timing {
	return Timing{
		Lease: 500 * time.Millisecond, ShortestLease: 250 * time.Millisecond, LongestLease: 500 * time.Millisecond, Drift: 0.05, Renewal: 85 * time.Millisecond,
		Answers: 5 * time.Millisecond, Defer: 15 * time.Millisecond, Claim: 40 * time.Millisecond,
		Grace: 50 * time.Millisecond, Margin: 50 * time.Millisecond, Stall: time.Second, Preempt: 10 * time.Second, Handover: 10 * time.Second,
		MessageDelay: 25 * time.Millisecond, Heartbeat: 100 * time.Millisecond, Suspicion: 400 * time.Millisecond,
	}
}

// WAN returns timing for members in different regions: round trips below 300 ms.
func WAN() Timing {
	return Timing{
		Lease: 5 * time.Second, ShortestLease: 5 * time.Second, LongestLease: 5 * time.Second, Drift: 0.05, Renewal: 800 * time.Millisecond,
		Answers: 600 * time.Millisecond, Defer: time.Second, Claim: time.Second,
		Grace: 500 * time.Millisecond, Margin: 500 * time.Millisecond, Stall: time.Second, Preempt: 30 * time.Second, Handover: 10 * time.Second,
		MessageDelay: 300 * time.Millisecond, Heartbeat: 500 * time.Millisecond, Suspicion: 2 * time.Second,
	}
}

// Fast returns timing for members in one data centre whose machines are never busy, where each millisecond without a leader counts: work has 15 ms
// to end.
func Fast() Timing {
	return Timing{
		Lease: 250 * time.Millisecond, ShortestLease: 100 * time.Millisecond, LongestLease: 250 * time.Millisecond, Drift: 0.05, Renewal: 50 * time.Millisecond,
		Answers: 5 * time.Millisecond, Defer: 15 * time.Millisecond, Claim: 40 * time.Millisecond,
		Grace: 15 * time.Millisecond, Margin: 15 * time.Millisecond, Stall: time.Second, Preempt: 10 * time.Second, Handover: 10 * time.Second,
		MessageDelay: 25 * time.Millisecond, Heartbeat: 100 * time.Millisecond, Suspicion: 400 * time.Millisecond,
	}
}

// Shared returns timing for members on machines that share their processors and disks with much else: timers that are late, and flushes that
// take, half a second.
func Shared() Timing {
	return Timing{
		Lease: 5 * time.Second, ShortestLease: 2500 * time.Millisecond, LongestLease: 5 * time.Second, Drift: 0.05, Renewal: 650 * time.Millisecond,
		Answers: 50 * time.Millisecond, Defer: 150 * time.Millisecond, Claim: 2 * time.Second,
		Grace: 500 * time.Millisecond, Margin: 500 * time.Millisecond, Stall: 5 * time.Second, Preempt: 30 * time.Second, Handover: 10 * time.Second,
		MessageDelay: 300 * time.Millisecond, Heartbeat: 500 * time.Millisecond, Suspicion: 3 * time.Second,
	}
}

// Test returns timing for tests on one machine: short waits, and a lease that a loaded machine can keep.
func Test() Timing {
	t := LAN()
	t.Lease, t.ShortestLease, t.LongestLease = 300*time.Millisecond, 300*time.Millisecond, 300*time.Millisecond
	t.Renewal = 40 * time.Millisecond
	t.Grace, t.Margin, t.Preempt = 40*time.Millisecond, 30*time.Millisecond, 300*time.Millisecond
	return t
}

// The limits of the lengths; the upper ones keep sums far from overflow.
const (
	least = time.Millisecond
	most  = time.Hour
)

// shortestHang is the shortest Timing.Hang. The warden looks six times within it.
const shortestHang = 12 * time.Millisecond

// shortestProgress is the shortest Timing.Progress. The member looks four times within it.
const shortestProgress = 10 * time.Millisecond

// WithDefaults returns the timing with the defaults in place of zeros, as a member uses it.
func (t Timing) WithDefaults() Timing { return t.complete() }

// complete sets the defaults.
func (t Timing) complete() Timing {
	if t == (Timing{}) {
		return LAN()
	}
	preset := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	lan := LAN()
	preset(&t.Lease, lan.Lease)
	preset(&t.LongestLease, t.Lease)
	preset(&t.Answers, lan.Answers)
	preset(&t.Defer, 3*t.Answers)
	preset(&t.Claim, lan.Claim)
	preset(&t.Grace, t.Lease/10)
	preset(&t.Margin, t.Lease/10)
	preset(&t.Stall, lan.Stall)
	preset(&t.Preempt, lan.Preempt)
	preset(&t.Handover, lan.Handover)
	preset(&t.MessageDelay, lan.MessageDelay)
	preset(&t.Heartbeat, lan.Heartbeat)
	preset(&t.Suspicion, max(4*t.Heartbeat, lan.Suspicion))
	if t.Drift == 0 {
		t.Drift = lan.Drift
	}
	preset(&t.Renewal, t.usualRenewal())
	t.ShortestLease = t.shortest()
	return t
}

// millionths returns Drift as the algorithm gets it, rounded up.
func (t *Timing) millionths() int64 { return int64(t.Drift*1e6) + 1 }

// entitled returns how long a leader's own lease is, as the algorithm calculates it: the deadline after a request of the length Lease that a
// majority has answered.
func (t *Timing) entitled() time.Duration {
	lease := int64((t.Lease + time.Microsecond - 1) / time.Microsecond)
	return time.Duration(lease-(lease*t.millionths()+1e6-1)/1e6) * time.Microsecond
}

// mostParts is how many times a lease may be as long as the shortest one. Those have so many more renewals.
const mostParts = 3

// tries is how many renewals begin before the end of a lease, or rather before the end of its work: so it survives the loss of all but one.
const tries = 3

// shortest returns the ShortestLease that counts. Renewals are the same part of each lease, and Margin and Grace are not: so even the shortest survives
// two lost renewals, if 3·Renewal·ShortestLease/Lease is at most ShortestLease·(1 - Drift) - Margin - Grace.
func (t *Timing) shortest() time.Duration {
	left := 1 - float64(t.millionths())/1e6 - tries*float64(t.Renewal)/float64(t.Lease) // what is left of a lease for margin and grace, as a fraction
	switch {
	case t.ShortestLease < 0:
		return t.ShortestLease // check refuses it
	case t.ShortestLease == 0, left <= 0:
		return t.Lease
	}
	needed := time.Duration(min(float64(t.early()+2*time.Microsecond)/left, float64(most))) // the algorithm rounds
	allowed := max(needed, t.Lease/mostParts)
	if t.ShortestLease >= allowed {
		return min(t.ShortestLease, t.Lease)
	}
	return min(t.Lease, allowed.Truncate(time.Millisecond)+time.Millisecond)
}

// usualRenewal returns a sixth of Lease, or what ShortestLease needs. It is no less than a twelfth of Lease.
func (t *Timing) usualRenewal() time.Duration {
	if t.ShortestLease <= 0 || t.ShortestLease >= t.Lease {
		return t.Lease / 6
	}
	needed := (1 - float64(t.millionths())/1e6 - float64(t.early()+3*time.Microsecond)/float64(t.ShortestLease)) / tries // as a part of the lease
	return max(t.Lease/12, min(t.Lease/6, time.Duration(needed*float64(t.Lease)).Truncate(100*time.Microsecond)))
}

// early returns how long before the end of the lease the context of work is cancelled.
func (t *Timing) early() time.Duration { return t.Margin + t.Grace }

// check calls must with each relation that has to hold. The text names both values.
func (t *Timing) check(must func(ok bool, format string, args ...any)) {
	must(t.Progress == 0 || t.Progress >= shortestProgress && t.Progress <= most, "Timing.Progress is 0, or from %v to %v, not %v", shortestProgress, most, t.Progress)
	must(t.Hang == 0 || t.Hang >= shortestHang && t.Hang <= most, "Timing.Hang is 0, or from %v to %v, not %v", shortestHang, most, t.Hang)
	for _, d := range []struct {
		name  string
		value time.Duration
	}{
		{"Lease", t.Lease},
		{"LongestLease", t.LongestLease},
		{"Renewal", t.Renewal},
		{"Answers", t.Answers},
		{"Defer", t.Defer},
		{"Claim", t.Claim},
		{"Grace", t.Grace},
		{"Margin", t.Margin},
		{"Stall", t.Stall},
		{"Preempt", t.Preempt},
		{"Handover", t.Handover},
		{"MessageDelay", t.MessageDelay},
		{"Heartbeat", t.Heartbeat},
		{"Suspicion", t.Suspicion},
	} {
		must(d.value >= least && d.value <= most, "Timing.%s is from %v to %v, not %v", d.name, least, most, d.value)
	}
	must(t.ShortestLease > 0, "Timing.ShortestLease is 0, for that of Lease, or a length of time, not %v", t.ShortestLease)
	must(t.Drift > 0 && t.Drift < 0.5, "Timing.Drift is above 0 and below 0.5, not %v", t.Drift)
	relation := func(ok bool, what, name string, value time.Duration, because string) {
		must(ok, "Timing.%s, but %s is %v: %s", what, name, value, because)
	}
	relation(t.LongestLease >= t.Lease, fmt.Sprintf("LongestLease (%v) must be at least Lease", t.LongestLease), "Lease", t.Lease,
		"a member grants no longer lease than LongestLease")
	relation(tries*t.Renewal <= t.entitled()-t.early(), fmt.Sprintf("Renewal (%v) must be at most a third of what Lease leaves without Drift, Margin and Grace", t.Renewal),
		"that", ((t.entitled() - t.early()) / tries).Truncate(10*time.Microsecond), "a lease must survive two lost renewals")
	relation(t.Defer >= t.Answers, fmt.Sprintf("Defer (%v) must be at least Answers", t.Defer), "Answers", t.Answers,
		"a member of higher rank asks before it claims")
	relation(2*t.Claim <= t.Lease, fmt.Sprintf("Claim (%v) must be at most half of Lease", t.Claim), "Lease", t.Lease,
		"a claim that fails must not use up the votes that it got")
	relation(t.Preempt >= t.Lease, fmt.Sprintf("Preempt (%v) must be at least Lease", t.Preempt), "Lease", t.Lease,
		"a leader that is replaced at once never works")
	relation(t.Suspicion >= 3*t.Heartbeat, fmt.Sprintf("Suspicion (%v) must be at least three times Heartbeat", t.Suspicion), "Heartbeat", t.Heartbeat,
		"one that is late must not make a member suspect")
}
