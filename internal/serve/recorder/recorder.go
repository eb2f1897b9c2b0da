// Package recorder writes the record of a member: what it is given, and what it does, except for its steps.
package recorder

import (
	"log/slog"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/view"
)

// Config is where the record of a member goes.
type Config struct {
	Sink           record.Sink
	Options        record.Options
	Changes        record.Sink // of changes of the leader alone; optional
	ChangesOptions record.Options
	Boot           string  // names this start of the operating system; optional
	Program        string  // the version of the program; optional
	Drift          float64 // by which part the clocks of members may be wrong
	Values         bool    // published values are recorded, too
}

// Recorder writes what a member is given and does. Nil records nothing. Its methods belong to the loop, but for those that say otherwise.
type Recorder struct {
	Writer *record.Writer
	State  []byte      // room for an encoded state, for the loop
	Step   record.Step // likewise

	changes  *record.Writer // of the second record; nil: there is none
	values   bool           // that leaders publish
	readings func() record.Clocks
	dialed   map[uint64]string // by a peer
}

// New begins a record. Each part of it begins with a head.
func New(c *Config, log *slog.Logger, readings func() record.Clocks, head func() record.Head) *Recorder {
	r := &Recorder{readings: readings, values: c.Values, dialed: map[uint64]string{}}
	of := func(changes bool) func() record.Head {
		return func() record.Head {
			h := head()
			h.Boot, h.Program, h.Drift, h.Changes = c.Boot, c.Program, c.Drift, changes
			return h
		}
	}
	stopped := func(err error) {
		log.Error("the record of this member stops; the member goes on", "error", err)
	}
	options, changes := c.Options, c.ChangesOptions
	removed := func() {
		log.Warn("the record of this member was removed while it was written; it begins anew")
	}
	options.Stopped, changes.Stopped = stopped, stopped
	options.Removed, changes.Removed = removed, removed
	r.Writer = record.NewWriter(c.Sink, of(false), options)
	if c.Changes != nil {
		r.changes = record.NewWriter(c.Changes, of(true), changes)
	}
	return r
}

// BeganAt returns what the wall clock said when a life began, in nanoseconds since 1970: the readings of both clocks belong together only if nothing came
// between them, and the life is older than its record.
func BeganAt(boot func() time.Duration, wall func() time.Time) (began int64) {
	const tries, near = 20, 20 * time.Microsecond
	best := time.Duration(1<<63 - 1)
	for range tries {
		before := boot()
		now := wall().UnixNano()
		took := boot() - before
		if took < best {
			best, began = took, now-int64(before+took/2)
		}
		if took <= near {
			break
		}
	}
	return began
}

// Entry records an entry about a group, or about the member: then the name is empty. Any goroutine may call it.
func (r *Recorder) Entry(group string, body record.Body) {
	if r != nil {
		r.Writer.Add(r.readings(), group, body)
	}
}

// Change records a change of the leader, in both records.
func (r *Recorder) Change(group string, incarnation uint64, c *record.Change) {
	if r == nil {
		return
	}
	r.Entry(group, c)
	if r.changes != nil {
		c.Since = int64(incarnation)
		r.changes.Add(r.readings(), group, c)
	}
}

// Close ends the record.
func (r *Recorder) Close(err error) {
	if r == nil {
		return
	}
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	r.Entry("", &record.End{Reason: reason})
	r.Writer.Close(lastRecord)
	if r.changes != nil {
		r.changes.Close(lastRecord)
	}
}

// lastRecord is how long the end of a member waits for its record.
const lastRecord = time.Second

// Sync writes what waits. Any goroutine may call it.
func (r *Recorder) Sync() {
	if r != nil {
		r.Writer.Sync()
	}
}

// Lost records that a peer is suspected. It has been silent since then; 0: it was never heard.
func (r *Recorder) Lost(peer uint64, reason string, heard time.Duration) {
	if r == nil {
		return
	}
	lost := &record.Lost{Peer: peer, Reason: reason}
	if heard != 0 {
		lost.Silent = r.readings().Monotonic - heard
	}
	r.Entry("", lost)
}

// Dialed records the outcome of an attempt to connect, unless it is that of the last one. The texts of two errors may take turns, so only the first of
// those that were told since the last success is recorded.
func (r *Recorder) Dialed(peer uint64, problem string, news bool) {
	if r == nil || !news && (problem != "" || r.dialed[peer] == "") {
		return
	}
	r.dialed[peer] = problem
	r.Entry("", &record.Dialed{Peer: peer, Error: problem})
}

// Told records why a tenure of a member has ended, as it tells.
func (r *Recorder) Told(group string, peer uint64, term election.Term, because view.Because) {
	r.Entry(group, &record.Told{Peer: peer, Term: uint64(term), Cause: because.Cause.String(), Detail: because.Detail})
}

// Stands records how a member stands for election.
func (r *Recorder) Stands(group string, peer uint64, s view.Standing) {
	r.Entry(group, &record.Standing{Peer: peer, Weight: s.Weight, Unable: s.Unable})
}

// Voters records the voters of a group.
func (r *Recorder) Voters(group string, v view.Voters) { r.Entry(group, VotersOf(v)) }

// VotersOf returns voters as a record has them.
func VotersOf(v view.Voters) *record.Voters {
	return &record.Voters{Term: uint64(v.Term), Version: v.Version, Members: v.Members, Kept: v.Kept}
}

// Published records what a leader has published.
func (r *Recorder) Published(group string, peer uint64, term election.Term, text string) {
	if r == nil {
		return
	}
	p := &record.Published{Peer: peer, Term: uint64(term), Length: len(text)}
	if r.values {
		p.Value = text
	}
	r.Entry(group, p)
}
