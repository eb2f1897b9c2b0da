//go:build !linux

package storage

import "os"

// flush makes a file durable.
func flush(f *os.File) error { return f.Sync() }
