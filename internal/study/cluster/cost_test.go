package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/work"
)

// rounds returns how many rounds of spin take that time of a core.
func rounds(d time.Duration) uint64 {
	const sample = 1 << 16
	best := time.Hour
	for range 20 {
		began := time.Now()
		spin(sample)
		best = min(best, time.Since(began))
	}
	return uint64(sample * float64(d) / float64(best))
}

// cost is what a job takes.
type cost struct {
	wall, all, server time.Duration // the time that passes; of cores, by all processes, and by the server
	traffic           broker.Traffic
}

// costOf measures a job on this many worker processes with this many cores each; without workers, on the cores of one
// process.
func costOf(t *testing.T, spec sums, workers, cores int) (c cost) {
	t.Helper()
	folder := t.TempDir()
	result := filepath.Join(folder, "result")
	job := part{Role: "local", Kind: "coarse", Spec: spec, Result: result, Cores: cores}
	var others []*actor
	if workers > 0 {
		address := freeAddress(t)
		others = append(others, act(t, part{Role: "server", Settings: broker.Settings{Listen: address, Store: filepath.Join(folder, "store"), Token: token}}))
		job.Role, job.Access = "commander", Access{URL: "nats://" + address, Token: token}
		for range workers {
			others = append(others, act(t, part{Role: "worker", Access: job.Access, Cores: cores, Patience: usualPatience}))
		}
	}
	began := time.Now()
	commander := act(t, job)
	<-commander.ended
	c.wall, c.all = time.Since(began), commander.cpu()
	if commander.err != nil {
		t.Fatalf("%v: %s", commander.err, &commander.stderr)
	}
	slices.Reverse(others) // the server is last
	for i, other := range others {
		other.leave(t)
		c.all += other.cpu()
		if i == workers {
			c.server = other.cpu()
			c.traffic = other.traffic(t)
		}
	}
	got, err := os.ReadFile(result)
	same(t, "coarse", spec, got, err)
	return c
}

// traffic returns what a server has received and sent that has ended.
func (a *actor) traffic(t *testing.T) broker.Traffic {
	t.Helper()
	var last broker.Message
	for line := range bytes.Lines(a.stdout.Bytes()) {
		last = broker.Message{}
		if err := json.Unmarshal(line, &last); err != nil {
			t.Fatal(err)
		}
	}
	if last.Traffic == nil {
		t.Fatalf("the server ends with %+v", last)
	}
	return *last.Traffic
}

// used returns the time of cores that a process has used so far.
func (a *actor) used(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", a.Process.Pid))
	if err != nil {
		t.Skip("only Linux shows the time of a process that runs")
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')'):])) // from the third one on
	user, _ := strconv.Atoi(fields[11])
	system, err := strconv.Atoi(fields[12])
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * time.Second / 100
}

// The numbers of documents are from here. They are true on a machine that does nothing else.
func TestCosts(t *testing.T) {
	if !*long {
		t.Skip("-long measures costs")
	}
	for _, size := range []struct {
		piece  time.Duration
		pieces uint64
		most   float64 // the largest part of the local run's time that the distribution may add
	}{{time.Second, 16, 0.05}, {10 * time.Millisecond, 1000, 0.2}} {
		t.Run(size.piece.String(), func(t *testing.T) {
			spec := sums{Of: size.pieces, Rounds: rounds(size.piece)}
			var extra []float64
			for range 3 {
				alone, together := costOf(t, spec, 0, 2), costOf(t, spec, 1, 2)
				extra = append(extra, together.all.Seconds()/alone.all.Seconds()-1)
				n, v := float64(size.pieces), together.traffic
				t.Logf("%d pieces: local %v of cores in %v, distributed %v in %v: %.1f %% more; a piece: %.1f messages in and %.1f out, %.0f bytes in and %.0f out, server %v",
					size.pieces, alone.all, alone.wall, together.all, together.wall, 100*extra[len(extra)-1],
					float64(v.MessagesIn)/n, float64(v.MessagesOut)/n, float64(v.BytesIn)/n, float64(v.BytesOut)/n, (together.server / time.Duration(size.pieces)).Round(time.Microsecond))
			}
			slices.Sort(extra)
			if extra[1] > size.most {
				t.Errorf("%.1f %% more", 100*extra[1])
			}
		})
	}
	t.Run("sign of life", func(t *testing.T) {
		const signs, queued = 50_000, 40_000
		address := freeAddress(t)
		e := act(t, part{Role: "server", Settings: broker.Settings{Listen: address, Store: filepath.Join(t.TempDir(), "store"), Token: token}})
		c, err := Connect(t.Context(), Access{URL: "nats://" + address, Token: token}, "test", nil)
		for errors.Is(err, ErrUnreachable) && wait(t.Context(), reconnectWait/5) {
			c, err = Connect(t.Context(), Access{URL: "nats://" + address, Token: token}, "test", nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		j, task := jobOf(t, "sums", sums{Of: queued})
		begin(t, c, j, task, nil)
		queue, err := c.queue(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		consumer, err := queue.CreateOrUpdateConsumer(t.Context(), c.consumerConfig(version, usualPatience))
		if err != nil {
			t.Fatal(err)
		}
		for from := range uint64(queued) {
			if _, err := c.js.PublishMsgAsync(c.piece(c.queueSubject(j, work.Piece{From: from, To: from + 1}))); err != nil {
				t.Fatal(err)
			}
		}
		<-c.js.PublishAsyncComplete()
		m, err := consumer.Next()
		if err != nil {
			t.Fatal(err)
		}
		before := e.used(t)
		for range signs {
			err := m.InProgress()
			if err == nil {
				err = c.nats.Flush() // each comes alone, as from many workers
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("a sign of life: %v of the server", (e.used(t)-before)/signs)
		before, began := e.used(t), time.Now()
		pieces, err := c.pieces(t.Context(), queueStream, c.queueSubjects(j)+">")
		if err != nil || len(pieces) != queued {
			t.Fatalf("%d pieces, %v", len(pieces), err)
		}
		t.Logf("a look at %d pieces: %v, %v of the server", queued, time.Since(began), e.used(t)-before)
	})
	t.Run("4 workers", func(t *testing.T) {
		spec := sums{Of: 16, Rounds: rounds(time.Second)}
		two, four := costOf(t, spec, 2, 1), costOf(t, spec, 4, 1)
		t.Logf("2 workers: %v of cores in %v; 4 workers: %v in %v", two.all, two.wall, four.all, four.wall)
		if four.all.Seconds() > 1.05*two.all.Seconds() {
			t.Errorf("4 workers take %v of cores, and 2 take %v", four.all, two.all)
		}
	})
}
