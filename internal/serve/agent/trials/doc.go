// Package trials tries whether two commands of ringleader exec, or two pieces of work of a program with a warden, ever run at the
// same time: with real processes, at the default timing, beside idle and busy processes. All is in its tests.
//
//	go test ./internal/serve/agent/trials -v -run TwoCommands -trials 40 -idle 3000 -busy 4 -timeout 0
//	go test ./internal/serve/agent/trials -v -run NothingRuns -stops 5000 -timeout 0
package trials
