//go:build !js

// Package jobs has the commands on long work that others do or have done: worker, jobs, and merge. A job is a call of a study command, of
// which no flag names a file.
//
// Only the root imports it. It imports the room study, whose commands open and print jobs, besides plan and labour. Who does the work, and
// where its results are kept, is in labour, which knows no command.
package jobs
