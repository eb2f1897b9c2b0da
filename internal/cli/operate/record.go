//go:build !js

package operate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/show/report"
)

// recorder returns what --record and --record-size say.
func (o *joinOptions) recorder() (r ringleader.Record, err error) {
	switch o.record {
	case "on":
	case "off":
		r.Off = true
	default:
		return r, fmt.Errorf("--record is on or off, not %q", o.record)
	}
	if r.Size, err = parseSize(o.recordSize); err != nil || r.Size < record.LeastSize {
		return r, fmt.Errorf("--record-size is a number of bytes such as 32MiB, at least 1MiB, not %q", o.recordSize)
	}
	return r, nil
}

// units of sizes, the longer names first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}}

// parseSize returns a number of bytes, with a unit or without one.
func parseSize(text string) (int64, error) {
	for _, unit := range sizeUnits {
		if digits, found := strings.CutSuffix(text, unit.name); found {
			n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
			if err != nil || n < 0 || n > 1<<40/unit.bytes {
				return 0, errors.New("no size")
			}
			return n * unit.bytes, nil
		}
	}
	return 0, errors.New("no size")
}

func (p *program) record() *cobra.Command {
	var (
		out     string
		sources sourceOptions
	)
	command := &cobra.Command{
		Use:     "record DIR|FILE|SOCKET|URL... --out FILE",
		GroupID: option.GroupElect,
		Short:   "Gather the records of members into one file",
		Long: `Record copies the records of members into one file, for the analysis of an incident. DIR is
the directory of a member, or one with the directories of several members. FILE is such a
file of another machine. The members may run, or may have ended in any way. On Linux the last
seconds of a member are in memory of the machine, which this command reads, too: a copy of
the files alone lacks up to 10 seconds of a member that runs or was killed. SOCKET is
control.sock in the directory of a member that runs, and URL is where it serves --https.

A record has what a member was given and did: messages, timers, clocks, commands, the times
of its disk, and its leaders with the causes of their ends. It has no secrets. It has no
published values, unless the program that runs the member allows that. Only the user of this
process can read the file.

Exit status: 0 all was gathered; 1 there is no record, or parts of it cannot be read, or a
member has given none, and the rest was gathered; 3 a signal stopped it before; 64 the call was
wrong.`,
		Example: `  ringleader record --out incident.rec /var/lib/ringleader/1
  ringleader record --out all.rec one.rec two.rec three.rec
  ringleader record --out incident.rec https://10.0.0.1:8443 https://10.0.0.2:8443 --cert operator.pem --key operator.key --ca ca.pem`,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 0 || out == "" {
				return fmt.Errorf("%s needs --out, and a directory, a file, a socket or a URL; try %[1]s --help", command.CommandPath())
			}
			records, incomplete, err := p.records(command, args, &sources)
			if command.Context().Err() != nil {
				return report.Stopped("%w", errStopped)
			}
			if err != nil {
				return err
			}
			if err = p.gather(records, out); err == nil && incomplete {
				err = report.ErrNo
			}
			return err
		},
	}
	sources.define(command.Flags())
	command.Flags().StringVar(&out, "out", "", "FILE to write, which must not exist yet")
	command.MarkFlagFilename("out")
	return command
}

// gather copies records into a new file.
func (p *program) gather(records *record.Records, out string) (err error) {
	file, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for _, l := range records.Logs {
		if err := p.gatherLog(file, l); err != nil {
			return err
		}
	}
	for _, d := range records.Damages {
		fmt.Fprintln(p.Out, d.String())
	}
	if len(records.Damages) > 0 {
		return report.ErrNo
	}
	return nil
}

// gatherLog copies the record of a member.
func (p *program) gatherLog(to io.Writer, l *record.Log) error {
	size := 0
	for _, all := range [][]*record.Segment{l.Changes, l.Segments} {
		for _, s := range all {
			b, err := s.Bytes()
			if errors.Is(err, os.ErrNotExist) { // its member has removed it meanwhile
				continue
			}
			if err == nil {
				_, err = to.Write(b)
			}
			if err != nil {
				return err
			}
			size += len(b)
		}
	}
	_, err := fmt.Fprintf(p.Out, "member %d of group %q: %s, %d kB\n", l.Member, l.Group, amount.Of(len(l.Segments), "segment"), (size+999)/1000)
	return err
}
