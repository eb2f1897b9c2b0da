// Package show is the wing of what people look at: tables and files (report), charts (chart), drawings as files of pixels and pages (render),
// the page of the lab (lab), and a group that elects before one's eyes (demo).
//
// Who may come in: the command line and workbench. All other wings are imported here. Nothing is computed here that a command could print as a number.
package show
