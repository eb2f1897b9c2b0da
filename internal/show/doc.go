// Package show is the wing of what people look at. Its rooms:
//
//   - report: tables, JSON, errors and files
//   - sheet, press, plot: drawings
//   - lab: the server and the worker of the lab's page
//   - demo: a group of real processes to break
//
// The command line and workbench import this wing. Package trace imports sheet, on which it lays out records. The wing imports all others. It
// computes nothing that a command could print as a number.
package show
