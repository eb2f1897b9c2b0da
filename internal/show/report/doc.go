// Package report prints what commands find: texts and tables for people, JSON for programs, drawings, and the files
// that hold them. It knows results of engines and nothing about flags.
package report
