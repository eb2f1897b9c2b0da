package certificates

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func made(t *testing.T, o Order) Made {
	t.Helper()
	m, err := Make(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func certificate(t *testing.T, file string) *x509.Certificate {
	t.Helper()
	raw, err := readPEM(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCertificatesAreValidForTheirUseAMomentAgoAndNoLongerThanTheirAuthority(t *testing.T) {
	o := Order{Directory: t.TempDir(), Group: "jobs", IDs: []uint64{1}, Operator: true, Lasts: time.Hour}
	made(t, o)
	for name, uses := range map[string][]x509.ExtKeyUsage{
		"1": {x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, "operator": {x509.ExtKeyUsageClientAuth},
	} {
		c := certificate(t, filepath.Join(o.Directory, name+".pem"))
		if !slices.Equal(c.ExtKeyUsage, uses) || c.IsCA {
			t.Errorf("%s is for %v, want %v; it is an authority: %v", name, c.ExtKeyUsage, uses, c.IsCA)
		}
		if c.NotBefore.After(time.Now().Add(-early / 2)) {
			t.Errorf("%s is valid from %v on, and clocks differ", name, c.NotBefore)
		}
	}
	o.Lasts = 100 * time.Hour // the authority is valid for 10 of them
	m := made(t, o)
	authority, c := certificate(t, m.Authority), certificate(t, filepath.Join(o.Directory, "1.pem"))
	if !m.Expires.Equal(authority.NotAfter) || !c.NotAfter.Equal(authority.NotAfter) {
		t.Errorf("it is valid until %v, told as %v, and its authority until %v", c.NotAfter, m.Expires, authority.NotAfter)
	}
}

func TestAKeyThatOthersCouldReadIsReplaced(t *testing.T) {
	o := Order{Directory: t.TempDir(), Group: "jobs", IDs: []uint64{1}, Lasts: time.Hour}
	for _, name := range []string{"1.key", "ca.key"} {
		if err := os.WriteFile(filepath.Join(o.Directory, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range made(t, o).Files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", file, err, info.Mode())
		}
	}
}
