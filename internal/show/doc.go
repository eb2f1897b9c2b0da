// Package show is the wing of what people look at. Its rooms:
//
//   - report: tables, JSON, errors and files
//   - report/studies: tables and JSON of whole studies
//   - chart: series over two axes
//   - render: drawings as files of pixels and pages
//   - lab: the server and the worker of the lab's page
//   - demo: a group of real processes to break
//   - incident: a change of the leader, drawn
//
// The command line and workbench import this wing, and it imports all others. It computes nothing that a command could print as a number.
package show
