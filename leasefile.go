package ringleader

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"ringleader.example/ringleader/internal/serve/live"
	"ringleader.example/ringleader/leasefile"
)

// show makes the file for other processes, if there is to be one; it is nil otherwise.
func (c *Config) show(l *live.Config) (*leasefile.Writer, error) {
	if c.LeaseFile == "" {
		return nil, nil
	}
	w, err := leasefile.Create(c.LeaseFile, c.Group, c.ID)
	switch {
	case err == nil:
	case slices.ContainsFunc(passing, func(e error) bool { return errors.Is(err, e) }):
		return nil, fmt.Errorf("LeaseFile %w: %w", ErrWrite, err)
	default:
		return nil, fmt.Errorf("%w: LeaseFile: %w", ErrConfig, err)
	}
	l.Shown = w
	return w, nil
}

// passing are failures that may pass by themselves: another configuration would not help.
var passing = []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE}

// closeStorage closes the storage of a member that does not start.
func (c *Config) closeStorage() error {
	if c.Storage == nil {
		return nil
	}
	return c.Storage.Close()
}
