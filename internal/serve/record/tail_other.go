//go:build !linux

package record

func newTail() *tail        { return nil }
func readTail(*Head) []kept { return nil }
func removeTail(string)     {}

// Boot names this start of the operating system; empty: it is not known.
func Boot() string { return "" }
