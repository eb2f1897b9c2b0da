// Package trials tries whether two commands of ringleader exec, or two pieces of work of a program with a warden, ever run at the
// same time. The processes are real, the timing is the default, and idle and busy processes run beside them. All code is in tests.
//
//	go test ./internal/serve/agent/trials -v -run TwoCommands -trials 40 -idle 3000 -busy 4 -timeout 0
//	go test ./internal/serve/agent/trials -v -run NothingRuns -stops 5000 -timeout 0
package trials
