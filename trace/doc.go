// Package trace is the record of one execution, the same for every engine: each step with its event, messages and
// decisions. A record is
//
//   - a file: [Record.WriteTo] and [Read], JSON lines, the same record always the same bytes;
//     [Writer] writes the steps as they come;
//   - a story as text: [Record.Story], a line a step.
//
// Package drawing draws it. A [Window] is the part of the time that a story or a drawing shows.
//
// All of them refuse a record that contradicts itself, such as one that receives what was never
// sent: [Record.Validate] defines a valid record.
//
// This package is v0: its API may change with any version.
package trace
