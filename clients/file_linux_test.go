package clients

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"ringleader.example/ringleader/internal/core/needs"
)

const (
	size   = 4096
	first  = 256
	second = 2176
	leader = 1
	closed = 2
	hour   = int64(time.Hour)

	clockMonotonic = 1
	clockBoottime  = 7
)

var little = binary.LittleEndian

// slot is one state in a file.
type slot struct {
	sequence, term      uint64
	flags               uint32
	boottime, monotonic int64 // the ends, counted from now
	value               string
}

// bytes returns a slot as it is in the file.
func (s slot) bytes() []byte {
	b := make([]byte, 1920)
	little.PutUint64(b[0:], s.sequence)
	little.PutUint32(b[12:], s.flags)
	little.PutUint64(b[16:], s.term)
	little.PutUint64(b[24:], uint64(s.boottime))
	little.PutUint64(b[32:], uint64(s.monotonic))
	little.PutUint16(b[40:], uint16(len(s.value)))
	copy(b[48:], s.value)
	sum := crc32.ChecksumIEEE(b[:8])
	little.PutUint32(b[8:], crc32.Update(sum, crc32.IEEETable, b[12:48+len(s.value)]))
	return b
}

// at returns where a slot of the sequence is in the file.
func (s slot) at() int64 {
	if s.sequence%2 == 1 {
		return first
	}
	return second
}

// leads is a slot of a leader, whose lease ends after a time on both clocks.
func leads(sequence, term uint64, value string, left int64) slot {
	return slot{sequence, term, leader, reading(clockBoottime) + left, reading(clockMonotonic) + left, value}
}

// reading is what a clock of Linux shows, in nanoseconds.
func reading(clock uintptr) int64 {
	var now syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&now)), 0); errno != 0 {
		panic(errno)
	}
	return now.Nano()
}

// file is a lease file of this boot, of member 7 in group "grün", with slots.
func file(t testing.TB, slots ...slot) []byte {
	b := make([]byte, size)
	copy(b, "RLEASE01")
	little.PutUint32(b[12:], size)
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	boot, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(string(text)), "-", ""))
	if err != nil {
		t.Fatal(err)
	}
	copy(b[16:], boot)
	little.PutUint64(b[32:], 7)
	little.PutUint16(b[48:], uint16(len("grün")))
	copy(b[50:], "grün")
	for _, s := range slots {
		copy(b[s.at():], s.bytes())
	}
	return sealed(b)
}

// sealed sets the checksum of a head.
func sealed(b []byte) []byte {
	little.PutUint32(b[8:], crc32.ChecksumIEEE(b[12:256]))
	return b
}

// within returns a file of a member in a time namespace.
func within(b []byte, namespace uint64) []byte {
	little.PutUint64(b[40:], namespace)
	return sealed(b)
}

// namespace returns the number of the time namespace of this process.
func namespace(t *testing.T) (number uint64) {
	t.Helper()
	link, err := os.Readlink("/proc/self/ns/time")
	if err != nil {
		needs.Missing(t, "the kernel has no time namespaces: %v", err)
	}
	if _, err := fmt.Sscanf(link, "time:[%d]", &number); err != nil {
		t.Fatal(link, err)
	}
	return number
}

// flipped returns a file with one bit changed.
func flipped(b []byte, at int) []byte {
	b[at] ^= 4
	return b
}

// said is an answer of a client about a file whose head is right.
func said(valid bool, term uint64, value, reason string) string {
	return fmt.Sprintf("%t|%d|%x|7|grün|%s", valid, term, value, reason)
}

// unread is an answer about a file whose head is not.
func unread(reason string) string {
	return "false|0||0||" + reason
}

func place(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", b, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// store writes one slot into a file that is in use.
func store(t testing.TB, path string, s slot) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(s.bytes(), s.at()); err != nil {
		t.Fatal(err)
	}
}
