//go:build !js

package lab

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/lab"
	"ringleader.example/ringleader/internal/show/report"
)

// labAddress is the address of the lab, unless it is in use: one that stays, for bookmarks.
const labAddress = "127.0.0.1:8017"

// Command returns the command lab.
func Command(p *plan.Program) *cobra.Command {
	var o struct {
		listen, export, stories string
		open                    bool
		group                   groupOptions
	}
	command := &cobra.Command{
		Use:     "lab",
		GroupID: option.GroupStudy,
		Short:   "Show elections in the browser: run, step through, break, compare and verify them",
		Long: `Show elections in the browser: run, step through, break, compare and verify them. The page comes from this
program and needs nothing else. Its address is the only line on stdout.

The lab is for this machine only. It listens on a loopback address, and answers its own page only. A question
may take a minute, two are computed at a time, and networks and records have limits, which the command line
does not have. It stops at Ctrl-C.

With --members it also shows a group that runs: its leader, leases, and the history of its leaders. The page
can only look; ringleader demo --lab opens one that commands a demo. Members are asked like ringleader status does.

The page also tells why a group lost its leader: drop a record on it that ringleader record has written, or
name a member that runs, or its directory. --cert, --key and --ca are for members with https.

With --export it writes the lab as a site for any web host, in which the page computes all itself. A browser
also opens its index.html from disk. Outside a release that compiles this program for the browser, in its
source tree, and needs the Go command.`,
		Example: `  ringleader lab
  ringleader lab --open
  ringleader lab --listen 127.0.0.1:9000
  ringleader lab --stories my-stories
  ringleader lab --members 1=http://127.0.0.1:8001,2=http://127.0.0.1:8002
  ringleader lab --members 1=data/1,2=data/2,3=data/3
  ringleader lab --export site
  ringleader lab --export site --stories my-stories`,
		Args: option.FlagsOnly,
		RunE: func(command *cobra.Command, _ []string) error {
			studies := newLab(p.Name, p.Algorithms)
			if o.stories != "" {
				if err := studies.add(o.stories); err != nil {
					return err
				}
			}
			engine, view, err := o.group.shown(command.Context(), studies)
			switch {
			case err != nil:
				return err
			case o.export != "" && view != "":
				return errors.New("--export writes a site without a server, which shows no group; leave out --members")
			case o.export != "":
				return exportLab(command.Context(), p, o.export, studies.added)
			}
			listener, err := labListener(p, o.listen, command.Flags().Changed("listen"))
			if err != nil {
				return err
			}
			address := "http://" + listener.Addr().String() + "/" + view
			fmt.Fprintln(p.Out, address)
			if o.open {
				if err := show(address); err != nil {
					p.Complain(fmt.Sprintf("no browser opens (%v); open %s", err, address))
				}
			}
			return lab.Serve(command.Context(), listener, engine, o.group.gather)
		},
	}
	f := command.Flags()
	f.StringVar(&o.listen, "listen", labAddress, "loopback address to serve on; port 0 is any free one, and without this flag another port serves if this one is in use")
	f.StringVar(&o.export, "export", "", "write the lab into this directory, as a site without a server, and end")
	f.StringVar(&o.stories, "stories", "", "add the guided stories of this directory: its .md files")
	f.BoolVar(&o.open, "open", false, "open the page in the browser")
	o.group.flags(command)
	return command
}

// labListener listens on the address, or on any free port if it is not the caller's choice.
func labListener(p *plan.Program, address string, chosen bool) (net.Listener, error) {
	listener, err := lab.Listen(address)
	if err != nil && !chosen {
		listener, err = lab.Listen("127.0.0.1:0")
	}
	if err != nil && !errors.Is(err, lab.ErrAddress) {
		return nil, report.Failed("cannot listen on %s: %w", address, err)
	}
	return listener, err
}

// show opens an address in the browser.
func show(address string) error {
	open := map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}}[runtime.GOOS]
	if open == nil {
		open = []string{"xdg-open"}
	}
	command := exec.Command(open[0], append(open[1:], address)...)
	if err := command.Start(); err != nil {
		return err
	}
	go command.Wait() // so that it does not remain as a zombie
	return nil
}
