package incident

import (
	"fmt"
	"slices"
	"time"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/words"
)

// event is what happens at a moment of a scene, for people.
type event struct {
	At   float64 `json:"at"` // in milliseconds since the beginning of the scene
	Text string  `json:"text"`
}

// verbs say what a message does.
var verbs = map[string]string{"claim": "asks %d for its vote", "grant": "grants a lease to %d", "nack": "refuses its vote to %d", "release": "tells %d that its lead has ended"}

// told returns what happens in a scene, in the order of time.
func told(s *explain.Scene) (all []event) {
	tell := func(at time.Duration, format string, args ...any) {
		if at > 0 && at < s.Lasts {
			all = append(all, event{float64(at.Microseconds()) / 1000, fmt.Sprintf(format, args...)})
		}
	}
	for _, m := range s.Members {
		for _, span := range m.Alive {
			tell(span.From, "the record of member %d begins", m.Member)
			tell(span.To, "the record of member %d ends", m.Member)
		}
		for _, l := range m.Leads {
			tell(l.From, "member %d leads in term %d", m.Member, l.Term)
			tell(l.To, "the lead of member %d ends", m.Member)
			if l.Until > l.To {
				tell(l.Until, "the last lease of member %d would have ended", m.Member)
			}
		}
		for _, span := range m.Still {
			tell(span.From, "member %d stands still", m.Member)
			tell(span.To, "member %d goes on, after %s", m.Member, words.Lasts(span.To-span.From))
		}
		for _, span := range m.Flushes {
			tell(span.From, "a flush of member %d begins", m.Member)
			tell(span.To, "that flush of member %d ends, after %s", m.Member, words.Lasts(span.To-span.From))
		}
		for _, at := range m.Proven {
			tell(at, "member %d is proven dead", m.Member)
		}
	}
	for _, a := range s.Arrows {
		tell(a.Sent, "member %d "+verbs[a.Kind], a.From, a.To)
		tell(a.Received, "the %s of %d arrives at %d", a.Kind, a.From, a.To)
	}
	slices.SortStableFunc(all, func(a, b event) int { return int(1000 * (a.At - b.At)) })
	return all
}
