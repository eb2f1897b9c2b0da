//go:build linux

// Ringleader is a node of ringleader: the timing LAN(), or with the setting "timing" Fast(), with the Hang of ringleader join, votes in a directory. BENCH_WARDEN runs it under a
// warden, and BENCH_REAL_TIME before ordinary processes, as ringleader join does; the setting "tls" names the folder of its certificates, and "record" turns its record off.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/bench/failover/node"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

func main() {
	if os.Getenv("BENCH_REAL_TIME") != "" {
		if err := ringleader.RealTime(); err != nil {
			fmt.Fprintln(os.Stderr, "ringleader:", err)
		} else if os.Getenv("GOMAXPROCS") == "" {
			runtime.GOMAXPROCS(1)
		}
	}
	if os.Getenv("BENCH_WARDEN") != "" {
		if err := ringleader.Warden(); err != nil {
			fmt.Fprintln(os.Stderr, "ringleader:", err)
			os.Exit(1)
		}
	}
	node.Main(run)
}

func run(ctx context.Context, c *node.Config, r *node.Report) error {
	config := ringleader.Config{Group: "bench", ID: uint64(c.ID), Data: c.File("votes"), Timing: ringleader.LAN()}
	config.Timing.Hang, config.Record.Off = 60*time.Millisecond, c.Set["record"] == "off"
	if c.Set["timing"] == "fast" {
		config.Timing = ringleader.Fast()
		config.Timing.Hang = 36 * time.Millisecond
	}
	for i, m := range c.Members {
		config.Members = append(config.Members, ringleader.MemberAddress{ID: uint64(i + 1), Address: m.Address()})
	}
	if folder := c.Set["tls"]; folder != "" {
		file := func(name string) string { return filepath.Join(folder, name) }
		tls, err := transport.LoadTLS(file(fmt.Sprintf("%d.pem", c.ID)), file(fmt.Sprintf("%d.key", c.ID)), file("ca.pem"))
		if err != nil {
			return err
		}
		config.TLS = tls
	} else {
		config.Insecure = true // the addresses of network namespaces are not loopback
	}
	m, err := ringleader.Join(ctx, config)
	if errors.Is(err, storage.ErrMissing) {
		if err = ringleader.Init(config.Data, config.Group, config.ID); err == nil {
			m, err = ringleader.Join(ctx, config)
		}
	}
	if err != nil {
		return err
	}
	defer m.Close()
	go func() {
		for v := range m.Observe(ctx) {
			if v.Role != ringleader.Leader {
				r.Follow(int(v.Leader))
			}
		}
	}()
	err = m.Lead(ctx, func(ctx context.Context, l ringleader.Leadership) error {
		r.Lead(int64(l.Term()), l.Valid)
		<-ctx.Done()
		return nil
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}
