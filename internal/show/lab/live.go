//go:build !js

package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"ringleader.example/ringleader/internal/serve/observe"
)

// Live is a running group that the page shows.
type Live struct {
	Board *observe.Board
	// Act carries out a command, such as "kill 3". The text of its error is one line for people. nil: the page can only look.
	Act func(ctx context.Context, line string) error
}

const (
	// MostStreams is the limit of pages that show a group at the same time.
	MostStreams = 16

	pace     = 40 * time.Millisecond // between two states of a stream: leases are renewed more often
	alive    = 15 * time.Second      // after which a stream without a change shows that it lives
	sendTime = 10 * time.Second      // after which a client that does not read is disconnected
	actTime  = 10 * time.Second
)

// streams serves the group as a stream of server-sent events, each of which is a state of the board.
type streams struct {
	live   *Live
	places chan struct{} // has an element for each stream
}

// newStreams returns the streams of the group that an engine shows; nil if it shows none.
func newStreams(e Engine) *streams {
	if s, is := e.(*showing); is {
		return &streams{s.live, make(chan struct{}, MostStreams)}
	}
	return nil
}

func (s *streams) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("%d pages show this group, and no more may", MostStreams))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	send := func(text string) error {
		if err := control.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
			return err
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		return control.Flush()
	}
	for last := 0; ; {
		state, changed := s.live.Board.Read(last)
		last = state.Last
		text, err := json.Marshal(state)
		if err != nil {
			panic(err) // of our own plain types
		}
		for err := send(fmt.Sprintf("data: %s\n\n", text)); ; err = send(": alive\n\n") {
			if err != nil {
				return
			}
			if changes(r.Context(), changed) {
				break
			}
			if r.Context().Err() != nil {
				return
			}
		}
	}
}

// changes waits for a change, at least for the pace of a stream, and reports whether there was one before the stream has to show that
// it lives.
func changes(ctx context.Context, changed <-chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pace):
	}
	select {
	case <-ctx.Done():
		return false
	case <-changed:
		return true
	case <-time.After(alive):
		return false
	}
}

// errLooks is the answer to a command where none is obeyed.
var errLooks = errors.New("this page can only look; ringleader demo --lab obeys commands")

// With returns an engine that shows the group, too. A server of it has the stream live, and answers the question act:
// {"command": "kill 3"}.
func (l *Live) With(e Engine) Engine { return &showing{e, l} }

// showing is an engine that shows a group.
type showing struct {
	Engine
	live *Live
}

func (s *showing) Ask(ctx context.Context, question string, body []byte, progress func(string)) (answer json.RawMessage, err error) {
	if question == "act" {
		return json.RawMessage("null"), s.live.act(ctx, body)
	}
	if answer, err = s.Engine.Ask(ctx, question, body, progress); err != nil || question != "catalogue" {
		return answer, err
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(answer, &fields); err != nil {
		return nil, err
	}
	fields["live"] = json.RawMessage("true")
	return json.Marshal(fields)
}

// act carries out the command of a question.
func (l *Live) act(ctx context.Context, body []byte) error {
	if l.Act == nil {
		return errLooks
	}
	var question struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(body, &question); err != nil {
		return errors.New(`a command is {"command": "kill 3"}`)
	}
	ctx, cancel := context.WithTimeout(ctx, actTime)
	defer cancel()
	return l.Act(ctx, question.Command)
}
