//go:build !linux

package leasefile

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// errLinux is the answer elsewhere.
var errLinux = fmt.Errorf("a lease file needs Linux: %w", errors.ErrUnsupported)

// Writer writes a lease file. There is none here.
type Writer struct{}

// Create fails: a lease file needs Linux.
func Create(path, group string, member uint64) (*Writer, error) { return nil, errLinux }

// Check returns that a lease file needs Linux.
func Check(path, group string, member uint64) error { return errLinux }

// Show does nothing.
func (w *Writer) Show(leads bool, term uint64, left func() time.Duration, value string) {}

// Close does nothing.
func (w *Writer) Close() error { return nil }

// Handle returns nothing.
func (w *Writer) Handle() string { return "" }

// End fails: a lease file needs Linux.
func End(f *os.File) error { return errLinux }

// Reader reads a lease file. There is none here.
type Reader struct{}

// Open fails: a lease file needs Linux.
func Open(path string) (*Reader, error) { return nil, errLinux }

// Read fails.
func (r *Reader) Read() (State, error) { return State{}, errLinux }

// Valid reports false.
func (r *Reader) Valid() (term uint64, left time.Duration, valid bool) { return 0, 0, false }

// Close does nothing.
func (r *Reader) Close() error { return nil }
