// Package lab shows elections in a browser: it serves a page, and hands the page's questions to an [Engine].
package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

//go:generate go run -C ../../../tools/web . -source ../../web -into ../../internal/show/lab/static

// Engine answers the questions of the page: run, call, search, … with a JSON object each; web/src/engine.ts describes them. Progress
// takes lines for people while a question is worked on. The text of an error is one line for people.
type Engine interface {
	Ask(ctx context.Context, question string, body []byte, progress func(text string)) (answer json.RawMessage, err error)
}

// MostTime is the longest time that a question takes.
const MostTime = time.Minute

// MostBody is the largest size of a question in bytes: it holds a walk of 200 000 events.
const MostBody = 16 << 20

// Line returns a line of an answer: its name is progress, answer or error.
func Line(name string, value any) []byte {
	line, err := json.Marshal(map[string]any{name: value})
	if err != nil {
		return Line("error", "the answer cannot be written as JSON")
	}
	return append(line, '\n')
}

// Answer asks an engine. A panic becomes an error.
func Answer(ctx context.Context, engine Engine, question string, body []byte, progress func(string)) (answer json.RawMessage, err error) {
	defer func() {
		if bug := recover(); bug != nil {
			answer, err = nil, fmt.Errorf("%s (this is a bug of ringleader)", strings.ReplaceAll(fmt.Sprint(bug), "\n", "; "))
		}
	}()
	return engine.Ask(ctx, question, body, progress)
}
