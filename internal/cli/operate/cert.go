//go:build !js

package operate

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/serve/certificates"
	"ringleader.example/ringleader/internal/show/report"
)

func (p *program) cert() *cobra.Command {
	var (
		o      certificates.Order
		ids    []string
		days   int
		asJSON bool
	)
	command := &cobra.Command{
		Use:     "cert --directory DIR --group NAME --id ID...",
		GroupID: option.GroupElect,
		Short:   "Make certificates for members and operators",
		Long: `Cert makes what members on several machines need for TLS: an authority (ca.pem, ca.key),
unless the directory has one, and for each --id a certificate and its key (ID.pem, ID.key),
in which the member is named by the URI ringleader:GROUP/ID. --operator makes one for the
commands of operators, such as status, resign and members (operator.pem, operator.key). It
names no member, so that no member can be impersonated with it.

Copy to each machine ca.pem and the two files of its member. A process with ca.key can make
itself any member: keep it off these machines. Existing certificates are replaced, which is
how they are renewed. A member that runs takes new files for its next connections.

The authority is for development and for small installations: it has no revocation.`,
		Example: `  ringleader cert --directory certs --group jobs --id 1 --id 2 --id 3 --operator
  ringleader cert --directory certs --group jobs --id 2 --host db2.example.com --host 10.0.0.2 --days 30`,
		Args:              option.FlagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if err := checkOrder(&o, ids, days); err != nil {
				return err
			}
			made, err := certificates.Make(o)
			if err != nil {
				return report.Failed("%w", err)
			}
			return p.Print(report.Certificates(made), asJSON)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.Directory, "directory", "", "directory of the authority and the certificates; created if missing")
	flags.StringVar(&o.Group, "group", "", "name of the group that the members belong to")
	flags.StringArrayVar(&ids, "id", nil, "identifier of a member to make a certificate for; may be repeated")
	flags.StringArrayVar(&o.Hosts, "host", nil, "host name or address to put into the certificates, for clients of --https such as curl; may be repeated")
	flags.BoolVar(&o.Operator, "operator", false, "make a certificate for an operator")
	option.Number(flags, &days, "days", "", 365, "days for which certificates are valid; an authority is for ten times as long")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	option.Require(command, "directory", "group")
	command.MarkFlagDirname("directory")
	return command
}

// checkOrder reads the identifiers of an order, and checks it.
func checkOrder(o *certificates.Order, ids []string, days int) error {
	for _, text := range ids {
		id, err := option.ID(text)
		if err != nil {
			return fmt.Errorf("--id wants an identifier from 1 to 2⁶⁴ - 1, not %q", text)
		}
		o.IDs = append(o.IDs, id)
	}
	switch {
	case len(o.IDs) == 0 && !o.Operator:
		return errors.New("nothing to make: give --id, once for each member, or --operator")
	case days < 1 || days > 10_000:
		return fmt.Errorf("--days is from 1 to 10000, not %d", days)
	}
	o.Lasts = time.Duration(days) * 24 * time.Hour
	return nil
}
