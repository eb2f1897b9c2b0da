package explain_test

import (
	"cmp"
	"encoding/binary"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/record"
)

// idle are records of three members that are led for so long, by another one after each four hours. Their loops are late as on a busy machine.
func idle(b *testing.B, folder string, lasts time.Duration) (bytes int64) {
	var all [4]*record.Writer
	for id := uint64(1); id <= 3; id++ {
		data := filepath.Join(folder, strconv.FormatUint(id, 10))
		if err := os.Mkdir(data, 0o700); err != nil {
			b.Fatal(err)
		}
		sink, options, err := record.NewFiles(filepath.Join(data, record.Directory), record.DefaultSize)
		if err != nil {
			b.Fatal(err)
		}
		head := record.Head{
			Group: "g", Member: id, Incarnation: 1, Wall: int64(1_000 * time.Second), Boot: "m", Algorithm: "quorum-bully", Every: 8,
			Members: []uint64{1, 2, 3}, Unit: time.Microsecond, Heartbeat: 100 * time.Millisecond, Suspicion: 400 * time.Millisecond, Entitled: 475 * time.Millisecond,
		}
		all[id] = record.NewWriter(sink, func() record.Head { return head }, options)
	}
	state := make([]byte, 700)
	message := make([]byte, 60)
	var decided [4]record.Decision
	add := func(id uint64, now time.Duration, body record.Body) {
		at := record.Clocks{Monotonic: now, Boottime: now}
		if all[id].Wants("g", new(uint64)) {
			all[id].Add(at, "g", &record.Snapshot{Members: []uint64{1, 2, 3}, Decision: decided[id], State: state})
		}
		all[id].Add(at, "g", body)
	}
	step := func(in process.Input, now time.Duration, to ...uint64) *record.Step {
		s := &record.Step{Input: in, Ticks: uint64(now / time.Microsecond), Checked: true}
		for _, id := range to {
			s.Sent = append(s.Sent, record.Message{Peer: id, Port: election.Port(id - 1), Kind: 3, Payload: message})
		}
		s.Effects = []election.Effect{{Op: election.SetTimer, Timer: 3, Ticks: election.Ticks{Lo: 80_000}}}
		return s
	}
	term := uint64(0)
	for n := uint64(0); ; n++ {
		now := time.Duration(n) * 80 * time.Millisecond
		if now >= lasts {
			break
		}
		if now%time.Hour == 0 {
			for id := uint64(1); id <= 3; id++ {
				all[id].Sync() // a buffer that is full loses entries
			}
		}
		if now%(4*time.Hour) == 0 {
			leader := 3 - term%2
			term++
			for id := uint64(1); id <= 3; id++ {
				role := "follower"
				if id == leader {
					role = "leader"
				}
				decided[id] = record.Decision{Role: role, Leader: leader, Term: term, Until: now + 500*time.Millisecond}
				add(id, now, &decided[id])
			}
		}
		if late := (&record.Late{By: time.Duration(8+n%40) * time.Millisecond}); n%7 == 0 {
			add(3, now, late)
		} else if n%31 == 0 {
			add(1, now, late)
			add(2, now, late)
		}
		binary.LittleEndian.PutUint64(message[9:], n)
		add(3, now, step(process.Input{What: process.Expired, Timer: 3}, now, 1, 2))
		for id := uint64(1); id <= 2; id++ {
			late := now + time.Duration(id*500+n*7%90)*time.Microsecond
			add(id, late, step(process.Input{What: process.Received, Port: 2, Kind: 3, Message: message}, late, 3))
			add(3, late+400*time.Microsecond, step(process.Input{What: process.Received, Port: election.Port(id - 1), Kind: 4, Message: message}, late+400*time.Microsecond))
		}
	}
	for id := 1; id <= 3; id++ {
		all[id].Sync()
		all[id].Close(time.Minute)
	}
	err := filepath.Walk(folder, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return bytes
}

var (
	days = flag.Duration("days", 48*time.Hour, "how long the records of the benchmark are")
	into = flag.String("into", "", "the folder in which the benchmark leaves its records")
)

// BenchmarkTwoDaysOfThreeMembers is what explain takes for two days in which little happens. With -into the command can be measured by the same records:
//
//	go test ./internal/serve/explain -run '^$' -bench TwoDays -benchtime 3x -into /tmp/days
//	/usr/bin/time -v ringleader explain /tmp/days
func BenchmarkTwoDaysOfThreeMembers(b *testing.B) {
	folder := cmp.Or(*into, b.TempDir())
	bytes := idle(b, folder, *days)
	b.ReportAllocs()
	for b.Loop() {
		records, err := record.Open(b.Context(), folder)
		if err != nil || len(records.Damages) > 0 {
			b.Fatal(records, err)
		}
		if r := explain.Of(records); len(r.Groups) != 1 || len(r.Groups[0].Changes) < int(*days/(5*time.Hour)) {
			b.Fatalf("%+v", r)
		}
	}
	b.ReportMetric(float64(bytes)/1e6, "MB-of-records")
}
