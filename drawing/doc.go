// Package drawing lays out drawings, and writes them as SVG with the standard library alone. It draws a record of package
// trace as
//
//   - a space–time diagram: [Diagram], a line for each process and an arrow for each message;
//   - the network and its leader: [Network];
//   - the network after each step: [Film].
//
// A [trace.Window] selects a part of the time. All of them refuse a record that contradicts itself: see
// [trace.Record.Validate].
//
// A [Drawing] consists of paths, symbols and texts, each at its place; [Drawing.SVG] writes it. Other programs can make
// drawings of their own. The same drawing has the same bytes.
//
// This package is v0: its API may change with any version.
package drawing
