package lab

import (
	"context"
	"encoding/json"
	"syscall/js"
)

// Work answers the questions of the page in a worker of a browser, for ever. It sets the worker's function ringleader(question, body,
// line, done), which calls line with each line of the answer, as the server writes them, and then done.
func Work(engine Engine) {
	js.Global().Set("ringleader", js.FuncOf(func(_ js.Value, args []js.Value) any {
		question, body, line, done := args[0].String(), []byte(args[1].String()), args[2], args[3]
		go func() { // a function that JavaScript calls must not wait
			answer, err := Answer(context.Background(), engine, question, body, func(text string) { line.Invoke(string(Line("progress", text))) })
			if err != nil {
				line.Invoke(string(Line("error", err.Error())))
			} else {
				line.Invoke(`{"answer":` + string(answer) + "}")
			}
			done.Invoke()
		}()
		return nil
	}))
	select {}
}

// Failing is an engine that answers each question by its error.
type Failing struct{ Err error }

// Ask returns the error.
func (f Failing) Ask(context.Context, string, []byte, func(string)) (json.RawMessage, error) {
	return nil, f.Err
}
