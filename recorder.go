package ringleader

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime/debug"

	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/recorder"
)

// Record determines the flight recorder of a member. It writes what the member was given to files, and flushes none: a record survives the end
// of the process, and loses its last seconds at a power failure. A record that cannot be written stops; the member goes on. The files
// are readable only by the user of the process.
type Record struct {
	// Off turns the recorder off.
	Off bool

	// Directory is where the files are. Join makes it, and those that it is in. The default is the folder "record" in Config.Data; without both there
	// is no record.
	Directory string

	// Size is the most that the files may have together, in bytes, at least 1 MiB. The oldest are removed. The default is 32 MiB. A file with
	// the changes of the leader of a year, of at most 4 MiB, comes on top.
	Size int64

	// Values records the values that leaders publish, too. They may be secret, so the default is their lengths only.
	Values bool
}

// recording returns where the record of the member goes; nil: nowhere.
func (c *Config) recording() *recorder.Config {
	directory := c.Record.Directory
	if directory == "" && c.Data != "" {
		directory = filepath.Join(c.Data, record.Directory)
	}
	if c.Record.Off || directory == "" {
		return nil
	}
	var err error
	if c.Record.Directory != "" { // Config.Data is there
		err = os.MkdirAll(directory, 0o700)
	}
	files, options, unreadable := record.NewFiles(directory, cmp.Or(c.Record.Size, record.DefaultSize))
	if err = cmp.Or(err, unreadable); err != nil {
		c.Logger.Error("this member has no record", "member", c.ID, "error", err)
		return nil
	}
	years, yearsOptions := record.NewYears(directory)
	r := &recorder.Config{Sink: files, Options: options, Changes: years, ChangesOptions: yearsOptions, Values: c.Record.Values, Drift: c.Timing.Drift}
	if build, known := debug.ReadBuildInfo(); known {
		r.Program = build.Main.Version
	}
	if c.systemClock {
		r.Boot = record.Boot()
		r.Options.Shared = r.Boot != ""
	}
	return r
}
