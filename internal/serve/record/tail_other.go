//go:build !linux

package record

func newTail(string) *tail        { return nil }
func readTail(*Head) []kept       { return nil }
func removeTail(string)           {}
func removeAbandoned(string, int) {}

const mostAbandoned = 0

// Boot names this start of the operating system; empty: it is not known.
func Boot() string { return "" }
