package record

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// tailFolder is in a file system in memory, which any process may use. Its files last until the system ends. Tests have a folder of their own.
var tailFolder = "/dev/shm"

// newTail returns a tail of a record in a directory; nil: this machine has none. Its memory is allocated at once, so that a full file system is an error
// now, and no signal later.
func newTail(directory string) *tail {
	var number [12]byte
	_, _ = rand.Read(number[:]) // never fails
	name := tailPrefix + hex.EncodeToString(number[:])
	path := filepath.Join(tailFolder, name)
	var system syscall.Statfs_t
	const tmpfs = 0x01021994
	if err := syscall.Statfs(tailFolder, &system); err != nil || system.Type != tmpfs { // another one may wait for a disk
		return nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil
	}
	t := &tail{name: name}
	if err = syscall.Fallocate(int(file.Fd()), 0, 0, tailSize); err == nil {
		err = mark(file, directory)
	}
	if err == nil {
		t.memory, err = syscall.Mmap(int(file.Fd()), 0, tailSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|syscall.MAP_POPULATE)
	}
	if err != nil {
		_ = os.Remove(path)
		file.Close()
		return nil
	}
	t.leave = func() {
		_ = syscall.Munmap(t.memory)
		file.Close() // and with it the lock
	}
	t.close = func() {
		_ = os.Remove(path)
		t.leave()
	}
	return t
}

// readTail returns the blocks of the tail of a segment, if it was written since the last start of this machine, by this user.
func readTail(h *Head) []kept {
	if h.Tail == "" || h.Boot == "" || h.Start() != start(Boot()) {
		return nil
	}
	file := openTail(h.Tail)
	if file == nil {
		return nil
	}
	defer file.Close()
	memory := make([]byte, tailSize)
	if n, _ := file.ReadAt(memory, 0); n < tailSize {
		return nil
	}
	return blocksOf(memory)
}

// openTail opens a tail of this user for reading; nil: it is none.
func openTail(name string) *os.File {
	digits, found := strings.CutPrefix(name, tailPrefix)
	if _, err := hex.DecodeString(digits); err != nil || !found { // a record is no place for paths
		return nil
	}
	file, err := os.OpenFile(filepath.Join(tailFolder, name), os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil
	}
	return file
}

// removeTail removes the tail of a life that has ended.
func removeTail(name string) {
	if file := openTail(name); file != nil {
		file.Close()
		_ = os.Remove(filepath.Join(tailFolder, name))
	}
}

// Boot names this start of the operating system, and behind a space the namespace of time of this process, if that is not the machine's: its clocks
// are others. Empty: it is not known.
func Boot() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	offsets, _ := os.ReadFile("/proc/self/timens_offsets") // older kernels have no such namespaces
	return named(string(boot), string(offsets))
}

// named joins the two files of the kernel that Boot reads.
func named(boot, offsets string) string {
	boot = strings.TrimSpace(boot)
	for line := range strings.Lines(offsets) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "boottime" && (f[1] != "0" || f[2] != "0") {
			return boot + " " + f[1] + " " + f[2]
		}
	}
	return boot
}
