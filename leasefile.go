package ringleader

import (
	"fmt"

	"ringleader.example/ringleader/internal/serve/live"
	"ringleader.example/ringleader/leasefile"
)

// show makes the file for other processes, if there is to be one; it is nil otherwise.
func (c *Config) show(l *live.Config) (*leasefile.Writer, error) {
	if c.LeaseFile == "" {
		return nil, nil
	}
	w, err := leasefile.Create(c.LeaseFile, c.Group, c.ID)
	if err != nil {
		return nil, fmt.Errorf("%w: LeaseFile: %w", ErrConfig, err)
	}
	l.Shown = w
	return w, nil
}

// closeStorage closes the storage of a member that does not start.
func (c *Config) closeStorage() error {
	if c.Storage == nil {
		return nil
	}
	return c.Storage.Close()
}
