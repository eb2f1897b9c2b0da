// Package certificates makes the certificates of members and operators, and an authority that signs them.
package certificates

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

	"ringleader.example/ringleader/transport"
)

// Order is what is to be made.
type Order struct {
	Directory string        // of the authority and the certificates; created if missing
	Group     string        // that the members belong to
	IDs       []uint64      // of members
	Hosts     []string      // names and addresses, for clients of HTTPS
	Operator  bool          // a certificate that names no member
	Lasts     time.Duration // how long certificates are valid; an authority is for ten times as long
}

// Made is what was made.
type Made struct {
	Authority string    // the file with its certificate
	Files     []string  // all that were written
	Expires   time.Time // of the certificates
}

// Make makes an authority (ca.pem, ca.key), unless the directory has one, and for each member a certificate and its key
// (ID.pem, ID.key); those of an operator are operator.pem and operator.key. It replaces existing certificates.
func Make(o Order) (made Made, err error) {
	if err := os.MkdirAll(o.Directory, 0o700); err != nil {
		return made, err
	}
	a, isNew, err := o.authority()
	if err != nil {
		return made, err
	}
	if made.Authority = filepath.Join(o.Directory, "ca.pem"); isNew {
		made.Files = append(made.Files, made.Authority, filepath.Join(o.Directory, "ca.key"))
	}
	made.Expires = time.Now().Add(o.Lasts).Truncate(time.Second)
	if made.Expires.After(a.certificate.NotAfter) {
		made.Expires = a.certificate.NotAfter
	}
	issue := func(name string, template *x509.Certificate) error {
		template.NotBefore, template.NotAfter = time.Now().Add(-early), made.Expires
		files, err := o.write(name, template, a)
		made.Files = append(made.Files, files...)
		return err
	}
	for _, id := range o.IDs {
		template, err := transport.CertificateTemplate(o.Group, id)
		if err != nil {
			return made, err
		}
		for _, host := range o.Hosts {
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
	if !o.Operator {
		return made, nil
	}
	return made, issue("operator", &x509.Certificate{
		Subject:  pkix.Name{CommonName: "operator"},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// early is how long before their making certificates are valid: clocks differ.
const early = time.Hour

// authority reads the authority of the directory, or makes it.
func (o *Order) authority() (a *authority, isNew bool, err error) {
	certificate, err := readPEM(filepath.Join(o.Directory, "ca.pem"))
	if errors.Is(err, fs.ErrNotExist) {
		template := &x509.Certificate{
			Subject:   pkix.Name{CommonName: "ringleader " + o.Group},
			NotBefore: time.Now().Add(-early), NotAfter: time.Now().Add(10 * o.Lasts),
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
		return nil, false, fmt.Errorf("%s/ca.pem: %w", o.Directory, err)
	}
	secret, err := readPEM(filepath.Join(o.Directory, "ca.key"))
	if err != nil {
		return nil, false, err
	}
	key, err := x509.ParsePKCS8PrivateKey(secret)
	if err != nil {
		return nil, false, fmt.Errorf("%s/ca.key: %w", o.Directory, err)
	}
	var is bool
	if a.key, is = key.(*ecdsa.PrivateKey); !is {
		return nil, false, fmt.Errorf("%s/ca.key is of another kind than cert makes", o.Directory)
	}
	return a, false, nil
}

// write makes a key and a certificate for it, which the authority signs; one without a key signs itself.
func (o *Order) write(name string, template *x509.Certificate, by *authority) (files []string, err error) {
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
		file := filepath.Join(o.Directory, name+f.ending)
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
