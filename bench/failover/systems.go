//go:build linux

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"debug/buildinfo"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ringleader.example/ringleader/transport"
)

// system is a program with settings.
type system struct {
	Name    string            // on the command line
	Title   string            // in the table
	program string            // its folder in systems
	module  string            // of which it shows the version
	mode    string            // node.Config.Mode
	set     map[string]string // node.Config.Set
	env     string            // a variable of the environment
	ours    bool
}

type systems []system

// group is the name that certificates contain.
const group = "bench"

// tls in a setting stands for the folder of certificates.
const tls = "tls"

var all = systems{
	{Name: "ringleader", Title: "ringleader, warden, TLS", program: "ringleader", set: map[string]string{tls: tls}, env: "BENCH_WARDEN=1", ours: true},
	{Name: "ringleader-plain", Title: "ringleader, warden, clear text", program: "ringleader", env: "BENCH_WARDEN=1", ours: true},
	{Name: "ringleader-alone", Title: "ringleader, no warden, TLS", program: "ringleader", set: map[string]string{tls: tls}, ours: true},
	{Name: "etcd", Title: "etcd raft, 100/1000 ms (default)", program: "etcd", module: "go.etcd.io/etcd/server/v3"},
	{Name: "etcd-10-100", Title: "etcd raft, 10/100 ms", program: "etcd", module: "go.etcd.io/etcd/server/v3", set: map[string]string{"heartbeat": "10", "timeout": "100"}},
	{Name: "etcd-election", Title: "etcd concurrency.Election, TTL 1 s", program: "etcd", module: "go.etcd.io/etcd/server/v3", mode: "election", set: map[string]string{"ttl": "1", "heartbeat": "10", "timeout": "100"}},
	{Name: "raft", Title: "hashicorp/raft, default", program: "hashicorpraft", module: "github.com/hashicorp/raft"},
	{Name: "raft-300", Title: "hashicorp/raft, 300 ms", program: "hashicorpraft", module: "github.com/hashicorp/raft", set: map[string]string{"timeout": "300ms"}},
	{Name: "memberlist", Title: "memberlist, tuned (no quorum)", program: "memberlist", module: "github.com/hashicorp/memberlist", mode: "tuned"},
	{Name: "nats-meta", Title: "NATS, leader of the meta group", program: "nats", module: "github.com/nats-io/nats-server/v2", mode: "meta"},
	{Name: "nats-kv", Title: "NATS, KV key, TTL 1 s", program: "nats", module: "github.com/nats-io/nats-server/v2", mode: "kv", set: map[string]string{"ttl": "1s"}},
}

func names() (names []string) {
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names
}

// sizes returns the sizes of groups of a system.
func (o *options) sizes(s *system) []int {
	if s.Name == all[0].Name {
		return o.Members
	}
	if s.ours {
		return o.Members[:1]
	}
	return o.OthersMembers
}

// binary returns the path of a system's program.
func (b *bench) binary(s *system) string { return filepath.Join(b.folder, s.program) }

// build makes the programs of all systems, stripped, and notes their sizes and versions.
func (b *bench) build(ctx context.Context) error {
	b.Sizes, b.Versions = map[string]int64{}, map[string]string{}
	for _, s := range b.systems {
		if b.Sizes[s.program] != 0 {
			continue
		}
		fmt.Fprintf(os.Stderr, "building %s\n", s.program)
		c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.binary(&s), "./systems/"+s.program)
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s, from the folder bench/failover: %w\n%s", s.program, err, text)
		}
		file, err := os.Stat(b.binary(&s))
		if err != nil {
			return err
		}
		b.Sizes[s.program] = file.Size()
		info, err := buildinfo.ReadFile(b.binary(&s))
		if err != nil {
			return err
		}
		for _, d := range info.Deps {
			if d.Path == s.module {
				b.Versions[d.Path] = d.Version
			}
		}
	}
	return nil
}

// certify makes an authority, and a certificate for each of n members.
func certify(folder string, n int) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, authority, authority, &key.PublicKey, key)
	if err != nil {
		return err
	}
	if err := store(filepath.Join(folder, "ca.pem"), "CERTIFICATE", der); err != nil {
		return err
	}
	for id := 1; id <= n; id++ {
		if err := member(folder, id, authority, key); err != nil {
			return err
		}
	}
	return nil
}

func member(folder string, id int, authority *x509.Certificate, signer *ecdsa.PrivateKey) error {
	template, err := transport.CertificateTemplate(group, uint64(id))
	if err != nil {
		return err
	}
	template.SerialNumber, template.NotBefore, template.NotAfter = big.NewInt(int64(id)+1), authority.NotBefore, authority.NotAfter
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, authority, &key.PublicKey, signer)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	name := filepath.Join(folder, fmt.Sprint(id))
	if err := store(name+".pem", "CERTIFICATE", der); err != nil {
		return err
	}
	return store(name+".key", "PRIVATE KEY", private)
}

func store(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// machine describes where the run was.
type machine struct {
	Processor  string `json:"processor"`
	Cores      int    `json:"cores"`
	Kernel     string `json:"kernel"`
	Go         string `json:"go"`
	Nice       int    `json:"nice"`
	LoadBefore string `json:"load_before"` // the averages of 1, 5 and 15 minutes
	LoadAfter  string `json:"load_after"`
}

func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}
