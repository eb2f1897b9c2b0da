package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/report"
	"ringleader.example/ringleader/transport"
)

// certOptions tell which certificates are made.
type certOptions struct {
	directory, group string
	ids              []string
	hosts            []string
	operator         bool
	days             int
}

func (p *program) cert() *cobra.Command {
	var (
		o      certOptions
		asJSON bool
	)
	command := &cobra.Command{
		Use:     "cert --directory DIR --group NAME --id ID...",
		GroupID: groupElect,
		Short:   "Make certificates for members and operators",
		Long: `Cert makes what members on several machines need for TLS: an authority (ca.pem, ca.key),
unless the directory has one, and for each --id a certificate and its key (ID.pem, ID.key),
in which the member is named by the URI ringleader:GROUP/ID. --operator makes one for the
commands status, watch, resign and transfer (operator.pem, operator.key). It names no
member, so that no member can be impersonated with it.

Copy to each machine ca.pem and the two files of its member. A process with ca.key can make
itself any member: keep it off these machines. Existing certificates are replaced, which is
how they are renewed. A member that runs takes new files for its next connections.

The authority is for development and for small installations: it has no revocation.`,
		Example: `  ringleader cert --directory certs --group jobs --id 1 --id 2 --id 3 --operator
  ringleader cert --directory certs --group jobs --id 2 --host db2.example.com --host 10.0.0.2 --days 30`,
		Args:              flagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			ids, err := o.check()
			if err != nil {
				return err
			}
			made, err := o.make(ids)
			if err != nil {
				return report.Failed("%w", err)
			}
			return p.Print(made, asJSON)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.directory, "directory", "", "directory of the authority and the certificates; created if missing")
	flags.StringVar(&o.group, "group", "", "name of the group that the members belong to")
	flags.StringArrayVar(&o.ids, "id", nil, "identifier of a member to make a certificate for; may be repeated")
	flags.StringArrayVar(&o.hosts, "host", nil, "host name or address to put into the certificates, for clients of --https such as curl; may be repeated")
	flags.BoolVar(&o.operator, "operator", false, "make a certificate for an operator")
	decimalVar(flags, &o.days, "days", "", 365, "days for which certificates are valid; an authority is for ten times as long")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	require(command, "directory", "group")
	command.MarkFlagDirname("directory")
	return command
}

// check returns the identifiers.
func (o *certOptions) check() (ids []uint64, err error) {
	for _, text := range o.ids {
		id, err := parseID(text)
		if err != nil {
			return nil, fmt.Errorf("--id wants an identifier from 1 to 2⁶⁴ - 1, not %q", text)
		}
		ids = append(ids, id)
	}
	switch {
	case len(ids) == 0 && !o.operator:
		return nil, errors.New("nothing to make: give --id, once for each member, or --operator")
	case o.days < 1 || o.days > 10_000:
		return nil, fmt.Errorf("--days is from 1 to 10000, not %d", o.days)
	}
	return ids, nil
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// early is how long before their making certificates are valid: clocks differ.
const early = time.Hour

// make makes the certificates, and the authority if there is none.
func (o *certOptions) make(ids []uint64) (made report.Certificates, err error) {
	if err := os.MkdirAll(o.directory, 0o700); err != nil {
		return made, err
	}
	a, isNew, err := o.authority()
	if err != nil {
		return made, err
	}
	if made.Authority = filepath.Join(o.directory, "ca.pem"); isNew {
		made.Files = append(made.Files, made.Authority, filepath.Join(o.directory, "ca.key"))
	}
	made.Expires = time.Now().AddDate(0, 0, o.days).Truncate(time.Second)
	if made.Expires.After(a.certificate.NotAfter) {
		made.Expires = a.certificate.NotAfter
	}
	issue := func(name string, template *x509.Certificate) error {
		template.NotBefore, template.NotAfter = time.Now().Add(-early), made.Expires
		files, err := o.write(name, template, a)
		made.Files = append(made.Files, files...)
		return err
	}
	for _, id := range ids {
		template, err := transport.CertificateTemplate(o.group, id)
		if err != nil {
			return made, err
		}
		for _, host := range o.hosts {
			if address, err := netip.ParseAddr(host); err == nil {
				template.IPAddresses = append(template.IPAddresses, address.AsSlice())
			} else {
				template.DNSNames = append(template.DNSNames, host)
			}
		}
		if err := issue(fmt.Sprint(id), template); err != nil {
			return made, err
		}
	}
	if !o.operator {
		return made, nil
	}
	return made, issue("operator", &x509.Certificate{
		Subject:  pkix.Name{CommonName: "operator"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// authority reads the authority of the directory, or makes it.
func (o *certOptions) authority() (a *authority, isNew bool, err error) {
	certificate, err := readPEM(filepath.Join(o.directory, "ca.pem"))
	if errors.Is(err, fs.ErrNotExist) {
		template := &x509.Certificate{
			Subject:   pkix.Name{CommonName: "ringleader " + o.group},
			NotBefore: time.Now().Add(-early), NotAfter: time.Now().AddDate(0, 0, 10*o.days),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		}
		a = &authority{certificate: template}
		_, err := o.write("ca", template, a)
		return a, true, err
	}
	if err != nil {
		return nil, false, err
	}
	a = &authority{}
	if a.certificate, err = x509.ParseCertificate(certificate); err != nil {
		return nil, false, fmt.Errorf("%s/ca.pem: %w", o.directory, err)
	}
	secret, err := readPEM(filepath.Join(o.directory, "ca.key"))
	if err != nil {
		return nil, false, err
	}
	key, err := x509.ParsePKCS8PrivateKey(secret)
	if err != nil {
		return nil, false, fmt.Errorf("%s/ca.key: %w", o.directory, err)
	}
	var is bool
	if a.key, is = key.(*ecdsa.PrivateKey); !is {
		return nil, false, fmt.Errorf("%s/ca.key is of another kind than cert makes", o.directory)
	}
	return a, false, nil
}

// write makes a key and a certificate for it, which the authority signs; one without a key signs itself.
func (o *certOptions) write(name string, template *x509.Certificate, by *authority) (files []string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if by.key == nil {
		by.key = key
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, err
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, by.certificate, key.Public(), by.key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	for _, f := range []struct {
		ending, kind string
		data         []byte
	}{{".key", "PRIVATE KEY", secret}, {".pem", "CERTIFICATE", certificate}} {
		file := filepath.Join(o.directory, name+f.ending)
		// A key that can be read by others would stay so if it were only overwritten.
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return files, err
		}
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: f.kind, Bytes: f.data}), 0o600); err != nil {
			return files, err
		}
		files = append(files, file)
	}
	return files, nil
}

// readPEM reads the first block of a file.
func readPEM(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is not in PEM format", file)
	}
	return block.Bytes, nil
}
