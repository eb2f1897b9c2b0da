//go:build !js

package operate

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/control"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/transport"
)

// sourceOptions tell how members are asked for their records.
type sourceOptions struct{ cert, key, ca string }

func (o *sourceOptions) define(flags *pflag.FlagSet) {
	flags.StringVar(&o.cert, "cert", "", "FILE with a certificate for https URLs, in PEM format")
	flags.StringVar(&o.key, "key", "", "FILE with the key of the certificate")
	flags.StringVar(&o.ca, "ca", "", "FILE with the certificates of the authorities that sign those of members")
}

// mostDamages is how many damages are told if there is no record.
const mostDamages = 20

// records returns the records in some places: directories, files, control sockets of members, and their URLs. A member that gives no record is a
// line on stderr, and incomplete then; the others count.
func (p *program) records(command *cobra.Command, places []string, o *sourceOptions) (all *record.Records, incomplete bool, err error) {
	security, err := o.load(places)
	if err != nil {
		return nil, false, err
	}
	var parts []*record.Records
	for _, place := range places {
		client, err := clientAt(place, security)
		if err != nil {
			return nil, false, err
		}
		part, err := recordsAt(command.Context(), place, client)
		switch {
		case err == nil:
			parts = append(parts, part)
		case client == nil:
			if path := (*os.PathError)(nil); errors.As(err, &path) {
				err = fmt.Errorf("cannot read %s: %w", path.Path, path.Err)
			}
			return nil, false, err
		default:
			p.Complain(err.Error())
			incomplete = true
		}
	}
	all = record.Joined(parts...)
	if len(all.Logs) > 0 {
		return all, incomplete, nil
	}
	for i := range all.Damages {
		if i == mostDamages {
			p.Complain("more is damaged, and not listed")
			break
		}
		p.Complain(all.Damages[i].String())
	}
	if incomplete || len(all.Damages) > 0 { // which tells why
		return nil, false, report.ErrNo
	}
	return nil, false, report.Failed("there is no record in %s", strings.Join(places, ", "))
}

// recordsAt returns the records in one place; with a client, those of the member.
func recordsAt(ctx context.Context, place string, client *control.Client) (*record.Records, error) {
	if client == nil {
		return record.Open(ctx, place)
	}
	archive, err := client.Record(ctx, 0)
	switch {
	case err == nil:
		return record.Parse(place, archive), nil
	case errors.Is(err, control.ErrRefused):
		err = fmt.Errorf("%s: %w", place, err)
	case !strings.Contains(place, "://"):
		err = fmt.Errorf("%w; the record of a member that does not run is in its directory, %s", err, filepath.Dir(place))
	}
	return nil, err
}

// load reads the certificate, if a place needs one.
func (o *sourceOptions) load(places []string) (security transport.TLS, err error) {
	secure, files := false, 0
	for _, place := range places {
		secure = secure || strings.HasPrefix(place, "https://")
	}
	for _, file := range []string{o.cert, o.key, o.ca} {
		if file != "" {
			files++
		}
	}
	switch {
	case secure && files != 3:
		return nil, errors.New("https URLs need --cert, --key and --ca")
	case !secure && files != 0:
		return nil, errors.New("--cert, --key and --ca are for https URLs")
	case !secure:
		return nil, nil
	}
	if security, err = transport.LoadTLS(o.cert, o.key, o.ca); err != nil {
		return nil, fmt.Errorf("--cert, --key, --ca: %w", err)
	}
	return security, nil
}

// clientAt returns a client of the member whose socket or URL a place is; nil: it is a file or a directory.
func clientAt(place string, security transport.TLS) (*control.Client, error) {
	if place == "" {
		return nil, errors.New("the name of a directory, a file or a socket is empty")
	}
	scheme, _, found := strings.Cut(place, "://")
	if !found {
		info, err := os.Stat(place)
		if err != nil || info.Mode()&os.ModeSocket == 0 {
			return nil, nil // record.Open reports what is wrong
		}
		return control.NewClient(place), nil
	}
	u, err := url.Parse(place)
	if err != nil || scheme != "http" && scheme != "https" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("a member has a URL such as https://HOST:PORT, not %q", place)
	}
	address, err := option.Address("the URL", u.Host)
	if err != nil {
		return nil, err
	}
	if scheme == "http" {
		security = nil
	}
	return control.NewHTTPClient(address, security), nil
}
