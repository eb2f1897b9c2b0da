package record

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"testing"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
)

func testHead() Head {
	return Head{Group: "g", Member: 2, Store: "ab", Incarnation: 7, Members: []uint64{1, 2, 3}, Unit: time.Millisecond}
}

func at(d time.Duration) Clocks { return Clocks{d, d} }

// renewal is a step like those of a leader that renews its lease.
func renewal(n uint64) *Step {
	message := append(make([]byte, 40), "renew"...)
	binary.LittleEndian.PutUint64(message[7:], n)
	return &Step{
		Input: process.Input{What: process.Expired, Timer: 3}, Ticks: 80 * n, Checked: true, Check: uint8(n * 37),
		Sent:    []Message{{Peer: 1, Kind: 3, Payload: message}, {Peer: 3, Port: 2, Kind: 3, Payload: message}},
		Effects: []election.Effect{{Op: election.SetTimer, Timer: 3, Ticks: election.Ticks{Lo: 80}}},
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	var m Memory
	w := NewWriter(&m, testHead, Options{})
	var want []Body
	add := func(d time.Duration, b Body) {
		want = append(want, b)
		w.Add(at(d), "g", b)
	}
	if !w.Wants("g", new(uint64)) {
		t.Error("the first step needs no snapshot")
	}
	add(time.Millisecond, &Snapshot{Members: []uint64{1, 2, 3}, Position: 1, State: []byte{1, 2}})
	if w.Wants("g", new(uint64)) {
		t.Error("it needs another snapshot")
	}
	for n := range uint64(500) {
		add(80*time.Duration(n)*time.Millisecond, renewal(n))
		if n%100 == 99 {
			add(80*time.Duration(n)*time.Millisecond+time.Millisecond, &Flush{Took: time.Second, Error: "slow"})
			add(80*time.Duration(n)*time.Millisecond+time.Millisecond, &Step{Input: process.Input{What: process.Received, Port: 2, Message: []byte{9}}, Peer: 3, Ticks: 80*n + 1, Choices: []Choice{{5, 3}}, Durable: true})
		}
	}
	w.Sync()
	archive := m.Archive()
	w.Close(time.Minute)
	if len(archive) > 500*5+6000 {
		t.Errorf("500 steps that are as predicted take %d bytes", len(archive))
	}
	var got []Body
	for e, damage := range Parse("memory", archive).Logs[0].Entries() {
		if damage != nil {
			t.Fatal(damage)
		}
		if s, is := e.Body.(*Step); is && s.Input.What == process.Expired && e.At.Boottime != 80*time.Duration(s.Ticks/80)*time.Millisecond && s.Ticks > 0 {
			t.Fatalf("a step in tick %d is at %v", s.Ticks, e.At)
		}
		got = append(got, e.Body)
	}
	if len(got) != len(want) {
		t.Fatalf("%d entries; %d were written", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("entry %d is\n%+v, want\n%+v", i, got[i], want[i])
		}
	}
}

// BenchmarkARecordedStep is what an idle leader's step costs: as it is predicted, with one check of so many.
func BenchmarkARecordedStep(b *testing.B) {
	for _, shared := range []bool{false, true} {
		b.Run(fmt.Sprintf("shared=%v", shared), func(b *testing.B) {
			sink, options, err := NewFiles(b.TempDir(), LeastSize)
			if err != nil {
				b.Fatal(err)
			}
			options.Shared = shared
			w := NewWriter(sink, func() Head { h := testHead(); h.Every = 8; return h }, options)
			defer w.Close(time.Minute)
			state := make([]byte, 700)
			s := renewal(0)
			s.Checked, s.Checks = false, func() uint8 { return CheckOf(state) }
			b.ReportAllocs()
			for n := uint64(0); b.Loop(); n++ {
				s.Ticks, s.Checked = 80*n, false
				for i := range s.Sent {
					binary.LittleEndian.PutUint64(s.Sent[i].Payload[7:], n)
				}
				now := at(80 * time.Duration(n) * time.Millisecond)
				if w.Wants("g", new(uint64)) {
					w.Add(now, "g", &Snapshot{Members: []uint64{1, 2, 3}, State: state})
				}
				w.Add(now, "g", s)
			}
		})
	}
}

// What an idle member adds is nothing that its collector of garbage has to look for.
func TestAStepAsPredictedAllocatesNothing(t *testing.T) {
	w := NewWriter(&Memory{}, testHead, Options{})
	defer w.Close(time.Minute)
	w.Add(at(0), "g", &Snapshot{})
	s, n := renewal(0), uint64(0)
	if each := testing.AllocsPerRun(1000, func() {
		n++
		s.Ticks = 80 * n
		w.Add(at(80*time.Duration(n)*time.Millisecond), "g", s)
	}); each != 0 { // it is the whole number below the mean: blocks are allocated, and written
		t.Errorf("%v times", each)
	}
}
