//go:build linux

package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// system is a program with settings.
type system struct {
	Name    string            // on the command line
	Title   string            // in the table
	program string            // its folder in systems
	module  string            // of which it shows the version
	mode    string            // node.Config.Mode
	set     map[string]string // node.Config.Set
	env     []string          // variables of the environment
	ours    bool

	server    string // the folder of a program that the nodes need beside them, and that no fault happens to
	installed string // the program of another package that the nodes run
	isolated  bool   // the nodes need network namespaces
}

type systems []system

// group is the name that certificates contain.
const group = "bench"

// tls in a setting stands for the folder of certificates.
const tls = "tls"

// join is the environment of a node that runs as ringleader join does: under a warden, and before ordinary processes.
var join = []string{"BENCH_WARDEN=1", "BENCH_REAL_TIME=1"}

var all = systems{
	{Name: "ringleader", Title: "ringleader, warden, TLS", program: "ringleader", set: map[string]string{tls: tls}, env: join, ours: true},
	{Name: "ringleader-fast", Title: "ringleader, Fast(), warden, TLS", program: "ringleader", set: map[string]string{tls: tls, "timing": "fast"}, env: join, ours: true},
	{Name: "ringleader-plain", Title: "ringleader, warden, clear text", program: "ringleader", env: join, ours: true},
	{Name: "ringleader-alone", Title: "ringleader, no warden, TLS", program: "ringleader", set: map[string]string{tls: tls}, env: join[1:], ours: true},
	{Name: "ringleader-ordinary", Title: "ringleader, ordinary process, warden, TLS", program: "ringleader", set: map[string]string{tls: tls}, env: join[:1], ours: true},
	{Name: "ringleader-unrecorded", Title: "ringleader, no record, warden, TLS", program: "ringleader", set: map[string]string{tls: tls, "record": "off"}, env: join, ours: true},
	{Name: "etcd", Title: "etcd raft, 100/1000 ms (default)", program: "etcd", module: "go.etcd.io/etcd/server/v3"},
	{Name: "etcd-10-100", Title: "etcd raft, 10/100 ms", program: "etcd", module: "go.etcd.io/etcd/server/v3", set: map[string]string{"heartbeat": "10", "timeout": "100"}},
	{Name: "etcd-election", Title: "etcd concurrency.Election, TTL 1 s", program: "etcd", module: "go.etcd.io/etcd/server/v3", mode: "election", set: map[string]string{"ttl": "1", "heartbeat": "10", "timeout": "100"}},
	{Name: "raft", Title: "hashicorp/raft, default", program: "hashicorpraft", module: "github.com/hashicorp/raft"},
	{Name: "raft-300", Title: "hashicorp/raft, 300 ms", program: "hashicorpraft", module: "github.com/hashicorp/raft", set: map[string]string{"timeout": "300ms"}},
	{Name: "memberlist", Title: "memberlist, tuned (no quorum)", program: "memberlist", module: "github.com/hashicorp/memberlist", mode: "tuned"},
	{Name: "nats-meta", Title: "NATS, leader of the meta group", program: "nats", module: "github.com/nats-io/nats-server/v2", mode: "meta"},
	{Name: "nats-kv", Title: "NATS, KV key, TTL 1 s", program: "nats", module: "github.com/nats-io/nats-server/v2", mode: "kv", set: map[string]string{"ttl": "1s"}},
	{Name: "client-go", Title: "client-go, 15/10/2 s (default)", program: "clientgo", server: "leases", module: "k8s.io/client-go"},
	{Name: "client-go-3", Title: "client-go, 3/2/0.5 s", program: "clientgo", server: "leases", module: "k8s.io/client-go", set: map[string]string{"lease": "3s", "renew": "2s", "retry": "500ms"}},
	{Name: "keepalived", Title: "keepalived, 1 s (no quorum)", program: "keepalived", installed: "keepalived", isolated: true, set: map[string]string{"advert": "1"}},
	{Name: "keepalived-100", Title: "keepalived, 100 ms (no quorum)", program: "keepalived", installed: "keepalived", isolated: true, set: map[string]string{"advert": "0.1"}},
	{Name: "sentinel-500", Title: "Redis Sentinel, 500 ms", program: "sentinel", installed: "redis-server", set: map[string]string{"down": "500"}},
	{Name: "sentinel-100", Title: "Redis Sentinel, 100 ms", program: "sentinel", installed: "redis-server", set: map[string]string{"down": "100"}},
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

// choose returns the systems of those names that can run here, and a line for each of the others.
func choose(names []string, namespaces bool) (chosen systems, skipped []string) {
	for _, name := range names {
		s := all[slices.IndexFunc(all, func(s system) bool { return s.Name == name })]
		if _, err := exec.LookPath(s.installed); s.installed != "" && err != nil {
			skipped = append(skipped, fmt.Sprintf("%s is skipped: %s is not installed", s.Name, s.installed))
		} else if s.isolated && !namespaces {
			skipped = append(skipped, s.Name+" is skipped: its nodes need network namespaces, and so root")
		} else {
			chosen = append(chosen, s)
		}
	}
	return chosen, skipped
}

// binary returns the path of a program that build has made.
func (b *bench) binary(program string) string { return filepath.Join(b.folder, program) }

// build makes the programs of all systems, stripped, and notes the sizes and versions of what is measured.
func (b *bench) build(ctx context.Context) error {
	b.Sizes, b.Versions = map[string]int64{}, map[string]string{}
	for _, s := range b.systems {
		if b.Sizes[s.program] != 0 {
			continue
		}
		for _, program := range []string{s.program, s.server} {
			if program == "" {
				continue
			}
			fmt.Fprintf(os.Stderr, "building %s\n", program)
			c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", b.binary(program), "./systems/"+program)
			if text, err := c.CombinedOutput(); err != nil {
				return fmt.Errorf("building %s, from the folder bench/failover: %w\n%s", program, err, text)
			}
		}
		if err := b.inspect(&s); err != nil {
			return err
		}
	}
	return nil
}

// versionPattern finds the version in what an installed program prints.
var versionPattern = regexp.MustCompile(`\d+\.\d+\.\d+`)

// inspect notes the size and version of what a system's nodes are, or run.
func (b *bench) inspect(s *system) error {
	path := b.binary(s.program)
	if s.installed != "" {
		path, _ = exec.LookPath(s.installed)                               // choose has found it
		text, _ := exec.Command(s.installed, "--version").CombinedOutput() // without one, the table has none
		b.Versions[s.installed] = versionPattern.FindString(string(text))
	} else {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return err
		}
		for _, d := range info.Deps {
			if d.Path == s.module {
				b.Versions[d.Path] = d.Version
			}
		}
	}
	file, err := os.Stat(path)
	if err == nil {
		b.Sizes[s.program] = file.Size()
	}
	return err
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
