package statushttp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"ringleader.example/ringleader"
)

// MostWatches is the limit of streams of a handler.
const MostWatches = 16

// alive is the interval at which a stream without an event shows that it lives, and finds that its client is gone.
const alive = 15 * time.Second

// watch serves streams of events. A client that does not read is disconnected, and delays nothing else.
type watch struct {
	member *ringleader.Member
	places chan struct{} // has an element for each stream
}

func (s *watch) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		http.Error(w, fmt.Sprintf("%d clients watch, and no more may", MostWatches), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	stream := http.NewResponseController(w)
	send := func(text string) error {
		if err := stream.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return stream.Flush()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	changes := changesOf(ctx, s.member)
	for {
		text := ": alive\n\n"
		select {
		case _, more := <-changes:
			if !more {
				return
			}
			status, err := json.Marshal(s.member.Status())
			if err != nil {
				panic(err) // of our own plain types
			}
			text = fmt.Sprintf("event: status\ndata: %s\n\n", status)
		case <-time.After(alive):
		}
		if send(text) != nil {
			return
		}
	}
}

// changesOf returns a channel that has an element for each change of a member's view, of which a slow reader gets the
// last one. It is closed when ctx is done or the member has stopped.
func changesOf(ctx context.Context, m *ringleader.Member) <-chan struct{} {
	changes := make(chan struct{}, 1)
	go func() {
		defer close(changes)
		for range m.Observe(ctx) {
			select {
			case changes <- struct{}{}:
			default:
			}
		}
	}()
	return changes
}
