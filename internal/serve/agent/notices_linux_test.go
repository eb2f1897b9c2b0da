package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/control"
	"ringleader.example/ringleader/internal/serve/rig"
)

// manager is a service manager, as a member sees it.
type manager struct {
	*testing.T
	*net.UnixConn
}

// newManager listens on a socket, and names it and a watchdog in the environment.
func newManager(t *testing.T, socket string, watchdog time.Duration, process int) manager {
	t.Helper()
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", fmt.Sprint(watchdog.Microseconds()))
	t.Setenv("WATCHDOG_PID", fmt.Sprint(process))
	return manager{t, l}
}

// next returns the next notice, or nothing if there is none.
func (m manager) next(wait time.Duration) string {
	m.Helper()
	buffer := make([]byte, 1<<10)
	if err := m.SetReadDeadline(time.Now().Add(wait)); err != nil {
		m.Fatal(err)
	}
	n, err := m.Read(buffer)
	if err != nil {
		return ""
	}
	return string(buffer[:n])
}

// hears returns the notices up to the first one that matches.
func (m manager) hears(pattern string) (all []string) {
	m.Helper()
	for {
		notice := m.next(limit)
		if notice == "" {
			m.Fatalf("within %v there is no notice %s after %q", limit, pattern, all)
		}
		all = append(all, notice)
		if regexp.MustCompile("^" + pattern + "$").MatchString(notice) {
			return all
		}
	}
}

// alone starts an agent whose member is the only one of its group.
func alone(t *testing.T, change func(*ringleader.Config)) *agent.Agent {
	t.Helper()
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		t.Fatal(err)
	}
	c := ringleader.Config{
		ID: 1, Members: []ringleader.MemberAddress{{ID: 1, Address: addresses[0]}}, Data: filepath.Join(t.TempDir(), "1"), Logger: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&c)
	}
	if err := ringleader.Init(c.Data, "", c.ID); err != nil {
		t.Fatal(err)
	}
	a, _, err := agent.Start(t.Context(), agent.Config{Member: c}, ringleader.Join)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// Who waits for the start of a member may call it at once.
func TestAMemberThatHasStartedCanBeReached(t *testing.T) {
	for range 20 {
		var data string
		a := alone(t, func(c *ringleader.Config) { data = c.Data })
		if _, err := os.Lstat(control.Socket(data)); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheServiceManagerIsToldOfEachState(t *testing.T) {
	for _, socket := range []string{filepath.Join(t.TempDir(), "notify"), "@ringleader-" + filepath.Base(t.TempDir()) + fmt.Sprint(os.Getpid())} {
		m := newManager(t, socket, 2*time.Second, os.Getpid()) // a socket has room for few notices, and one for which it has none in a second is lost
		a := alone(t, nil)
		if first := m.next(limit); first != "READY=1" {
			t.Errorf("the first notice is %q", first)
		}
		m.hears("STATUS=leader in term [0-9]+")
		m.hears("WATCHDOG=1")
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		m.hears("STOPPING=1")
		for _, variable := range os.Environ() {
			if strings.HasPrefix(variable, "NOTIFY_") || strings.HasPrefix(variable, "WATCHDOG_") {
				t.Errorf("a command of the member would have %s", variable)
			}
		}
	}
}

// hanging is a log that takes nothing while it is locked, so that the loop of the member stands still.
type hanging struct {
	slog.Handler
	sync.Locker
}

func (h hanging) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h hanging) Enabled(_ context.Context, _ slog.Level) bool {
	h.Lock()
	defer h.Unlock()
	return false
}

func TestALoopThatStandsStillFeedsNoWatchdog(t *testing.T) {
	const watchdog = 20 * time.Millisecond
	m := newManager(t, filepath.Join(t.TempDir(), "notify"), watchdog, os.Getpid())
	var free sync.Mutex
	free.Lock() // the loop logs first that it listens
	a := alone(t, func(c *ringleader.Config) { c.Logger = slog.New(hanging{slog.DiscardHandler, &free}) })
	g := group{T: t}
	g.await("the loop stands still", func() bool { return a.Health() != nil })
	const most = 300 // that were sent before, and are read late where the machine is busy
	for fed := 0; m.next(10*watchdog) != ""; fed++ {
		if fed == most {
			free.Unlock()
			t.Fatal("a member that stands still feeds its watchdog")
		}
	}
	free.Unlock()
	m.hears("WATCHDOG=1")
}

// A process that is started anew has the same disk.
func TestADirectoryThatIsGoneStopsNoWatchdog(t *testing.T) {
	m := newManager(t, filepath.Join(t.TempDir(), "notify"), 20*time.Millisecond, os.Getpid())
	data := ""
	a := alone(t, func(c *ringleader.Config) { data = c.Data })
	if err := os.Rename(data, filepath.Join(t.TempDir(), "elsewhere")); err != nil { // while it may be written to
		t.Fatal(err)
	}
	g := group{T: t}
	g.await("the storage fails", func() bool { return errors.Is(a.Health(), ringleader.ErrStorage) })
	for m.next(time.Millisecond) != "" { // what was sent before
	}
	m.hears("WATCHDOG=1")
}

func TestAWatchdogForAnotherProcessIsNotFed(t *testing.T) {
	m := newManager(t, filepath.Join(t.TempDir(), "notify"), time.Millisecond, 1<<30)
	a := alone(t, nil)
	notices := m.hears("STATUS=leader in term [0-9]+")
	a.Close()
	if notices = append(notices, m.hears("STOPPING=1")...); slices.Contains(notices, "WATCHDOG=1") {
		t.Errorf("it is: %q", notices)
	}
}
