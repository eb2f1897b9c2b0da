// Package show is the wing of what people look at: tables and files (report), drawings (sheet, press, plot), the page of the lab (lab), and a
// group that elects before one's eyes (demo).
//
// Who may come in: the command line and workbench; sheet has one more guest, trace, which lays out records on it. All other wings are
// imported here. Nothing is computed here that a command could print as a number.
package show
