//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// serve is the server that ringleader exec runs: serve ADDRESS DELAY. It listens after the delay, until SIGTERM.
func serve(arguments []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	delay, err := time.ParseDuration(arguments[1])
	if err != nil {
		return err
	}
	if rest(ctx, delay) != nil {
		return nil
	}
	return accept(ctx, arguments[0], func() bool { return true }, func() {})
}

// accept listens at an address, calls listens, and answers writes until ctx is done. While may reports true, the answer to a write is a reading of
// CLOCK_MONOTONIC; otherwise it is an error. At the end accept closes the listener, answers the requests that it has, and returns.
func accept(ctx context.Context, address string, may func() bool, listens func()) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		switch {
		case err != nil:
		case !may():
			http.Error(w, "this member does not lead", http.StatusServiceUnavailable)
		default:
			fmt.Fprintln(w, int64(monotonic()))
		}
	})}
	context.AfterFunc(ctx, func() { _ = server.Shutdown(context.Background()) })
	listens()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return server.Shutdown(context.Background()) // waits for the rest
}

// monotonic reads the clock that all processes of a machine share.
func monotonic() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return time.Duration(t.Nano())
}

// writes are what became of the writes of a turn.
type writes struct {
	mu       sync.Mutex
	accepted []time.Duration // when the server had each, on CLOCK_MONOTONIC
	failed   []string
	slowest  time.Duration
}

// generate sends writes at a steady rate until ctx is done, and returns when all are answered.
func (g *group) generate(ctx context.Context) *writes {
	w := &writes{}
	var all sync.WaitGroup
	ticker := time.NewTicker(time.Second / time.Duration(g.options.rate))
	defer ticker.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		all.Go(func() { w.write(fmt.Sprintf("%s%d-%d", g.front, os.Getpid(), n)) })
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	all.Wait()
	return w
}

// client has a connection for each write.
var client = http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}

// write makes a write, which has a key of its own, so that it may arrive twice.
func (w *writes) write(url string) {
	begun := time.Now()
	at, err := put(url)
	took := time.Since(begun)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slowest = max(w.slowest, took)
	if err != nil {
		w.failed = append(w.failed, fmt.Sprintf("%v, after %v", err, took))
		return
	}
	w.accepted = append(w.accepted, at)
}

func put(url string) (at time.Duration, err error) {
	request, err := http.NewRequest(http.MethodPut, url, strings.NewReader("a write"))
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, errors.New(response.Status)
	}
	_, err = fmt.Fscan(response.Body, (*int64)(&at))
	return at, err
}

// result is what clients have noticed.
type result struct {
	writes, failed int
	gaps           []time.Duration // the longest of each turn
	slowest        time.Duration
}

// measure sends writes while turns are made.
func (g *group) measure(turns int, turn func() error) (r result, err error) {
	for range turns {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan *writes)
		go func() { done <- g.generate(ctx) }()
		err = errors.Join(rest(ctx, 200*time.Millisecond), turn(), rest(ctx, 500*time.Millisecond))
		cancel()
		w := <-done
		if err != nil {
			return r, err
		}
		r.writes += len(w.accepted) + len(w.failed)
		r.failed += len(w.failed)
		r.slowest = max(r.slowest, w.slowest)
		r.gaps = append(r.gaps, longest(w.accepted))
		if g.options.verbose {
			fmt.Fprintln(os.Stderr, "turn: longest gap", longest(w.accepted), "slowest", w.slowest, "failed", w.failed)
		}
	}
	return r, nil
}

// longest returns the longest time between two accepted writes.
func longest(at []time.Duration) (gap time.Duration) {
	slices.Sort(at)
	for i := range at[min(1, len(at)):] {
		gap = max(gap, at[i+1]-at[i])
	}
	return gap
}
