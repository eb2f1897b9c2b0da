//go:build unix

package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/report"
	"ringleader.example/ringleader/internal/rig"
	"ringleader.example/ringleader/transport"
)

// authority makes an authority and the certificates of members, and returns the flags with their files.
func authority(t *testing.T, group string, ids ...uint64) (flags [][]string) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	file := func(name, kind string, data []byte) string {
		name = filepath.Join(folder, name)
		must(os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600))
		return name
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	root := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, root, root, key.Public(), key)
	must(err)
	ca := file("ca.pem", "CERTIFICATE", raw)
	for i, id := range ids {
		own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		must(err)
		template, err := transport.CertificateTemplate(group, id)
		must(err)
		template.SerialNumber, template.NotAfter = big.NewInt(int64(i)+2), time.Now().Add(time.Hour)
		raw, err := x509.CreateCertificate(rand.Reader, template, root, own.Public(), key)
		must(err)
		secret, err := x509.MarshalPKCS8PrivateKey(own)
		must(err)
		name := string(rune('a' + i))
		flags = append(flags, []string{"--cert", file(name+".pem", "CERTIFICATE", raw), "--key", file(name+".key", "PRIVATE KEY", secret), "--ca", ca})
	}
	return flags
}

func TestMembersWithCertificatesElect(t *testing.T) {
	addresses, err := rig.FreeAddresses(2)
	if err != nil {
		t.Fatal(err)
	}
	certificates := authority(t, "jobs", 1, 2)
	both := []string{"--member", "1=" + addresses[0], "--member", "2=" + addresses[1]}
	arguments := func(id string, data uint64, certificate []string) []string {
		directory := filepath.Join(t.TempDir(), "new")
		if err := ringleader.Init(directory, "jobs", data); err != nil {
			t.Fatal(err)
		}
		return append(append([]string{"join", "--json", "--group", "jobs", "--id", id, "--data", directory}, both...), certificate...)
	}
	start(t, arguments("1", 1, certificates[0])...)
	_, lines := start(t, arguments("2", 2, certificates[1])...)
	for { // two of two are needed
		var e report.JoinEvent
		if err := lines.Decode(&e); err != nil {
			t.Fatal(err)
		}
		if e.Leader != 0 {
			break
		}
	}
	const want = "it names ringleader:jobs/2, not ringleader:jobs/1"
	if says := wrongJoin(t, arguments("1", 1, certificates[1])[2:]...); !strings.Contains(says, want) {
		t.Errorf("with the certificate of another member it says %q, want %q", says, want)
	}
}
