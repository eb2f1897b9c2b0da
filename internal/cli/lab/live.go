//go:build !js

package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/serve/control"
	"ringleader.example/ringleader/internal/serve/observe"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/show/demo"
	"ringleader.example/ringleader/internal/show/lab"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/transport"
)

// groupOptions tell which running group the lab shows.
type groupOptions struct {
	members       []string
	cert, key, ca string
}

func (o *groupOptions) flags(command *cobra.Command) {
	f := command.Flags()
	f.StringSliceVar(&o.members, "members", nil, "show this running group: ID=PLACE of each member, where PLACE is http://HOST:PORT, https://HOST:PORT or its data directory")
	f.StringVar(&o.cert, "cert", "", "FILE with a certificate for places with https, in PEM format")
	f.StringVar(&o.key, "key", "", "FILE with the key of the certificate")
	f.StringVar(&o.ca, "ca", "", "FILE with the certificates of the authorities that sign those of members")
}

// places returns the members that the flags name, and how to ask them.
func (o *groupOptions) places() (all []observe.Place, err error) {
	security, err := o.security()
	if err != nil {
		return nil, err
	}
	known := map[uint64]bool{}
	for _, text := range o.members {
		name, where, _ := strings.Cut(text, "=")
		id, err := option.ID(name)
		if err != nil || where == "" {
			return nil, fmt.Errorf("--members has ID=PLACE for each member, such as 1=http://127.0.0.1:8001, and not %s", option.Excerpt(text))
		}
		if known[id] {
			return nil, fmt.Errorf("--members has member %d twice", id)
		}
		known[id] = true
		client, err := clientAt(where, security)
		if err != nil {
			return nil, err
		}
		all = append(all, observe.Place{ID: id, Where: where, Client: client})
	}
	if len(all) > observe.MostMembers {
		return nil, fmt.Errorf("--members has at most %d members, not %d", observe.MostMembers, len(all))
	}
	return all, nil
}

// liveView is the part of an address that shows a group.
const liveView = "#/live"

// shown returns an engine that shows the group of the flags, too, until ctx is done, and the view that shows it; without --members
// it is the engine itself.
func (o *groupOptions) shown(ctx context.Context, engine lab.Engine) (_ lab.Engine, view string, err error) {
	places, err := o.places()
	if err != nil || len(places) == 0 {
		return engine, "", err
	}
	board := observe.NewBoard(fmt.Sprintf("A group of %d", len(places)))
	go observe.Members(ctx, board, places)
	return (&lab.Live{Board: board}).With(engine), liveView, nil
}

// Demo runs a demo, and serves a page that shows it until it ends.
func Demo(ctx context.Context, p *plan.Program, o demo.Options) error {
	listener, err := labListener(p, labAddress, false)
	if err != nil {
		return err
	}
	o.Stage = demo.NewStage(o.Members)
	out := io.Writer(p.Out)
	if o.JSON {
		out = p.Err
	}
	fmt.Fprintf(out, "The lab shows this group: http://%s/%s\n", listener.Addr(), liveView)
	engine := (&lab.Live{Board: o.Stage.Board, Act: o.Stage.Act}).With(New(p.Name, p.Algorithms))
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	gather := func(ctx context.Context, place string) (*record.Records, error) {
		if folder := o.Stage.Folder(); place == "" && folder != "" {
			return record.Open(ctx, folder)
		}
		return (&groupOptions{}).gather(ctx, place)
	}
	go func() { served <- lab.Serve(serving, listener, engine, gather) }()
	err = demo.Run(ctx, p.Printer, p.Stdin, o)
	stop()
	if failed := <-served; err == nil && failed != nil {
		return report.Failed("cannot serve the lab: %w", failed)
	}
	return err
}

// security returns what connections with https need; nil if no place has https.
func (o *groupOptions) security() (transport.TLS, error) {
	secure, files := false, 0
	for _, text := range o.members {
		secure = secure || strings.Contains(text, "=https://")
	}
	for _, file := range []string{o.cert, o.key, o.ca} {
		if file != "" {
			files++
		}
	}
	switch {
	case !secure && files > 0 && len(o.members) > 0:
		return nil, errors.New("--cert, --key and --ca are for --members with https")
	case secure && files == 0, files > 0 && files != 3:
		return nil, errors.New("places with https need --cert, --key and --ca")
	case files == 0:
		return nil, nil
	}
	security, err := transport.LoadTLS(o.cert, o.key, o.ca)
	if err != nil {
		return nil, fmt.Errorf("--cert, --key, --ca: %w", err)
	}
	return security, nil
}

// clientAt returns a client of the member at a place.
func clientAt(where string, security transport.TLS) (*control.Client, error) {
	scheme, address, isURL := strings.Cut(where, "://")
	if !isURL {
		return control.NewClient(control.Socket(where)), nil
	}
	address, err := option.Address("--members", strings.TrimSuffix(address, "/"))
	switch {
	case scheme != "http" && scheme != "https":
		return nil, fmt.Errorf("--members: a place begins with http:// or https://, or is a directory, and not %s", option.Excerpt(where))
	case err != nil:
		return nil, err
	case scheme == "http":
		security = nil
	}
	return control.NewHTTPClient(address, security), nil
}

// lastMinutes is how much of the record of a member that runs the page asks for.
const lastMinutes = 15 * time.Minute

// gather returns the records of the members of the flags, or of one at a place that the page names: of a member that runs by its URL, or all in a directory.
func (o *groupOptions) gather(ctx context.Context, place string) (*record.Records, error) {
	places := []string{place}
	if place == "" {
		places = nil
		for _, text := range o.members {
			_, where, _ := strings.Cut(text, "=")
			places = append(places, where)
		}
	}
	security, err := o.security()
	if err != nil {
		return nil, err
	}
	var parts []*record.Records
	var missing []record.Damage
	var failed error
	for _, where := range places {
		part, err := recordOf(ctx, where, security)
		if err != nil {
			failed = cmp.Or(failed, err)
			missing = append(missing, record.Damage{File: where, What: "no record came: " + strings.TrimPrefix(err.Error(), where+": ")})
			continue
		}
		parts = append(parts, part)
	}
	switch {
	case len(parts) > 0: // the page says what it lacks
		all := record.Joined(parts...)
		all.Damages = append(all.Damages, missing...)
		return all, nil
	case failed != nil:
		return nil, failed
	}
	return nil, errors.New("the lab shows no group whose record it could ask for")
}

// recordOf returns the record at a place.
func recordOf(ctx context.Context, where string, security transport.TLS) (*record.Records, error) {
	if !strings.Contains(where, "://") {
		if info, err := os.Stat(where); err != nil {
			return nil, err
		} else if !info.IsDir() {
			return nil, fmt.Errorf("%s is no directory; a file is opened by a drop on the page", option.Excerpt(where))
		}
		return record.Open(ctx, where)
	}
	if strings.HasPrefix(where, "https://") && security == nil {
		return nil, errors.New("a place with https needs the --cert, --key and --ca of ringleader lab")
	}
	client, err := clientAt(where, security)
	if err != nil {
		return nil, err
	}
	archive, err := client.Record(ctx, lastMinutes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return record.Parse(where, archive), nil
}
