package live

import (
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/serve/disk"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// probed is a store whose probes the test decides about.
type probed struct {
	storage.Storage
	probes atomic.Int64

	mu    sync.Mutex
	probe func() error
}

func (p *probed) Probe() error {
	p.probes.Add(1)
	p.mu.Lock()
	probe := p.probe
	p.mu.Unlock()
	return probe()
}

func (p *probed) set(probe func() error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.probe = probe
}

func works() error { return nil }

// withDisk starts a member whose store is probed.
func withDisk(t *testing.T, test func(t *testing.T, m *Member, p *probed, said *rig.Text)) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := leased(t, 1)
		config := c.config(1, at(1))
		p := &probed{Storage: config.Storage, probe: works}
		var said rig.Text
		config.Storage, config.Logger = p, slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))
		m, err := JoinProgram(t.Context(), c.algorithm, config)
		if err != nil {
			t.Fatal(err)
		}
		c.members[1] = m
		defer c.stopAll()
		c.until(1, "leads", leads)
		<-time.After(settled)
		synctest.Wait()
		test(t, m, p, &said)
	})
}

// told expects a problem, and what the log says at warnings and above.
func told(t *testing.T, m *Member, said *rig.Text, problem string, log ...string) {
	t.Helper()
	synctest.Wait()
	if got, lasts := m.Disks.Storage(); !strings.Contains(got, problem) || (got == "") != (problem == "") || (got == "") != (lasts == 0) {
		t.Errorf("the problem is %q for %v; want %q", got, lasts, problem)
	}
	lines := strings.Count(said.String(), "\n")
	for _, want := range log {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, said)
		}
	}
	if lines != len(log) {
		t.Errorf("the log has %d lines, not %d:\n%s", lines, len(log), said)
	}
}

const (
	fails = "the storage of this member fails; it cannot keep what it promises"
	again = "the storage of this member works again"
)

func TestADiskThatGivesNoAnswerIsNoticedWithinTwoSecondsAndTheLeaderLeadsOn(t *testing.T) {
	withDisk(t, func(t *testing.T, m *Member, p *probed, said *rig.Text) {
		told(t, m, said, "")
		gate := make(chan struct{})
		p.set(func() error { <-gate; return nil })
		<-time.After(2 * time.Second)
		told(t, m, said, "the disk has not answered for ", fails)
		probes := p.probes.Load()
		<-time.After(time.Minute)
		told(t, m, said, "the disk has not answered for 6", fails)
		if p.probes.Load() != probes {
			t.Error("it begins another probe while one hangs")
		}
		if s, _ := m.Group.State(); !leads(s) {
			t.Errorf("it leads no more: %+v", s)
		}
		close(gate)
		p.set(works)
		told(t, m, said, "", fails, again)
	})
}

func TestADirectoryThatIsGoneIsNoticedWithinTwoSeconds(t *testing.T) {
	withDisk(t, func(t *testing.T, m *Member, p *probed, said *rig.Text) {
		p.set(func() error { return errors.New("it is gone") })
		<-time.After(2 * time.Second)
		told(t, m, said, "it is gone", fails)
		<-time.After(time.Minute)
		told(t, m, said, "it is gone", fails)
		if _, lasts := m.Disks.Storage(); lasts < time.Minute {
			t.Errorf("it is for %v", lasts)
		}
		p.set(works)
		<-time.After(2 * time.Second)
		told(t, m, said, "", fails, again)
	})
}

// A store of another kind has no probe.
func TestASaveThatGivesNoAnswerIsNoticedWithoutAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := elected(t)
		defer c.stopAll()
		gate := make(chan struct{})
		c.disks[1].Intercept(func([]storage.Record) error { <-gate; return nil })
		c.crash(3)
		<-time.After(2 * time.Second)
		if got, _ := c.members[1].Disks.Storage(); !strings.Contains(got, "the disk has not answered for ") {
			t.Errorf("the problem is %q", got)
		}
		close(gate)
		c.follow(2)
		if got, _ := c.members[1].Disks.Storage(); got != "" {
			t.Errorf("the problem is %q", got)
		}
		<-time.After((disk.Enough + 1) * disk.ProbeEvery)
		if got := c.members[1].Disks.Stalled(); got != (disk.Failures{}) {
			t.Errorf("a member that saves nothing more stays unable: %+v", got)
		}
	})
}

// closing is a store that notes when it is closed.
type closing struct {
	storage.Storage
	closed atomic.Bool
}

func (c *closing) Close() error {
	c.closed.Store(true)
	return c.Storage.Close()
}

// hanging starts a member that leads two groups, and whose saves hang until gate is closed.
func hanging(t *testing.T, test func(t *testing.T, m *Member, second *Group, store *closing, said *rig.Text, gate chan struct{})) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := leased(t, 1)
		config := c.config(1, at(1))
		store := &closing{Storage: config.Storage}
		var said rig.Text
		config.Storage, config.Logger = store, slog.New(slog.NewTextHandler(&said, nil))
		m, err := JoinProgram(t.Context(), c.algorithm, config)
		if err != nil {
			t.Fatal(err)
		}
		c.members[1] = m
		second, err := m.Join(GroupConfig{Group: "second", Parameters: c.parameters})
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(settled)
		gate := make(chan struct{})
		c.disks[1].Intercept(func([]storage.Record) error { <-gate; return nil })
		for _, g := range []*Group{m.Group, second} {
			if s, _ := g.State(); !leads(s) {
				t.Fatalf("%+v", s)
			}
			g.Command(election.Command{Order: election.Resign}) // it claims again, in a higher term
		}
		<-time.After(settled)
		test(t, m, second, store, &said, gate)
	})
}

func TestAMemberEndsThoughASaveHangs(t *testing.T) {
	hanging(t, func(t *testing.T, m *Member, second *Group, store *closing, said *rig.Text, gate chan struct{}) {
		for range 2 {
			begun := time.Now()
			if err := m.Close(); !errors.Is(err, disk.ErrHangs) || time.Since(begun) > disk.LastAnswer+transport.LastWords {
				t.Errorf("after %v: %v", time.Since(begun), err)
			}
		}
		<-second.Done()
		if err := m.Err(); err != nil {
			t.Errorf("it stopped by itself: %v", err)
		}
		if want := `level=ERROR msg="the member ends while its storage gives no answer" member=1 error="the disk has not answered for 10s: a write is abandoned`; strings.Count(said.String(), want) != 1 {
			t.Errorf("the log lacks %q:\n%s", want, said)
		}
		if store.closed.Load() {
			t.Error("the storage was closed while it was in use")
		}
		close(gate)
		synctest.Wait()
		if !store.closed.Load() {
			t.Error("the write has ended, and the storage is open")
		}
	})
}

func TestAMemberLeavesAGroupWhenAHangingSaveHasEnded(t *testing.T) {
	hanging(t, func(t *testing.T, m *Member, second *Group, store *closing, _ *rig.Text, gate chan struct{}) {
		begun := time.Now()
		if err := second.Leave(); !errors.Is(err, disk.ErrHangs) || time.Since(begun) > disk.LastAnswer {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
		close(gate)
		if err := second.Leave(); err != nil {
			t.Error(err)
		}
		<-second.Done()
		if err := m.Close(); err != nil || !store.closed.Load() {
			t.Errorf("it is closed: %v, %v", store.closed.Load(), err)
		}
	})
}

func TestAMemberThatSavesProbesNothing(t *testing.T) {
	withDisk(t, func(t *testing.T, m *Member, p *probed, _ *rig.Text) {
		count := func(what func()) int64 {
			before := p.probes.Load()
			for range 20 {
				what()
				<-time.After(disk.ProbeEvery / 2)
			}
			return p.probes.Load() - before
		}
		if idle := count(func() {}); idle < 8 || idle > 12 {
			t.Errorf("%d probes in ten intervals", idle)
		}
		saves := count(func() {
			if err := m.Disks.Save(m.record.Encode()); err != nil {
				t.Error(err)
			}
		})
		if saves > 1 {
			t.Errorf("%d probes while it saves", saves)
		}
	})
}
