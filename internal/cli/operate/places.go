//go:build !js

package operate

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/canary"
	"ringleader.example/ringleader/leasefile"
)

// triedFile is what a check writes into a directory of --progress-path, beside the file of a member that runs.
const triedFile = ".ringleader-check"

// places returns what is wrong with the lease file and the directories of --progress-path of a member, which need not run, and what may be. user is that of
// the command.
func places(c *ringleader.Config, user string) (wrong, notes []error) {
	if c.LeaseFile != "" {
		switch err := leasefile.Check(c.LeaseFile, c.Group, c.ID); {
		case errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(c.LeaseFile, "/run/"):
			notes = append(notes, fmt.Errorf("--lease-file: there is no folder %s; RuntimeDirectory of a unit makes it at the start", filepath.Dir(c.LeaseFile)))
		case err != nil:
			wrong = append(wrong, fmt.Errorf("--lease-file: %w", err))
		default:
			if err := unreached(c.LeaseFile, user); err != nil {
				notes = append(notes, err)
			}
		}
	}
	var all []canary.Place
	for _, path := range c.ProgressPaths {
		all = append(all, canary.Place{Kind: canary.Path, Path: path, File: triedFile})
	}
	looks := canary.New(all...)
	defer looks.Close() // a disk that gives no answer holds up the canary, and not this process
	for i, path := range c.ProgressPaths {
		looked, limit := make(chan error, 1), c.Timing.WithDefaults().Stall
		go func() { looked <- looks.Prober(i).Probe() }()
		select {
		case err := <-looked:
			if err != nil {
				wrong = append(wrong, fmt.Errorf("--progress-path: %s: %w", path, err))
			}
		case <-time.After(limit):
			wrong = append(wrong, fmt.Errorf("--progress-path: %s: the disk has not answered for %v", path, limit))
		}
	}
	return wrong, notes
}

// unreached returns an error if the user of the command, which gets the name of the lease file, cannot open it. That is only a note: the file may be for others.
func unreached(file, user string) error {
	if file == "" || user == "" || agent.Reaches(user, file) {
		return nil
	}
	return fmt.Errorf("--lease-file: the command runs as user %s, who cannot open %s: its folder, or one above it, denies access", user, file)
}
