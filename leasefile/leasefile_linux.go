package leasefile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
)

// boot returns what names this start of the system.
func boot() (b [16]byte, err error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return b, err
	}
	raw, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(string(text)), "-", ""))
	if err == nil && len(raw) != len(b) {
		err = fmt.Errorf("the identifier of this start of the system has %d bytes", len(raw))
	}
	copy(b[:], raw)
	return b, err
}

// timeNamespace returns the number of the time namespace of this process; 0: it is not known, or the kernel has no such namespaces.
func timeNamespace() uint64 {
	link, _ := os.Readlink("/proc/self/ns/time") // time:[NUMBER]
	number, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(link, "time:["), "]"), 10, 64)
	return number
}

// Writer writes a lease file. Its methods may be called by any goroutine.
type Writer struct {
	mu       sync.Mutex
	open     *os.File // for Handle
	file     []byte
	sequence uint64
	written  State
}

// Create makes a lease file, in place of an earlier one of the member, and maps it into memory. It says that the member does not lead. A file system
// in memory, such as /run, is the right place: a write never waits for a disk there. The error is an [ErrTaken] if the path has anything else that
// is not empty.
func Create(path, group string, member uint64) (w *Writer, err error) {
	s := State{Member: member, Group: group, TimeNamespace: timeNamespace()}
	if s.Boot, err = boot(); err != nil {
		return nil, err
	}
	head, err := encodeHead(&s)
	if err != nil {
		return nil, err
	}
	if err := replaceable(path, &s); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".ringleader-lease-*")
	if err != nil {
		if of := (*os.PathError)(nil); errors.As(err, &of) { // a name that the operator has not given; the folder is what is wrong
			of.Path = filepath.Dir(path)
		}
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	first := make([]byte, size) // written, not only mapped: a full disk is an error here, and not a signal later
	copy(first, head)
	write(first[slots[1]:slots[1]+slotSize], 2, &s)
	if _, err := f.Write(first); err != nil {
		return nil, err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync()); err != nil { // after a power failure the path has the whole file, or the one before
		return nil, err
	}
	file, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return nil, errors.Join(err, syscall.Munmap(file))
	}
	return &Writer{open: f, file: file, sequence: 2, written: s}, nil
}

// What package syscall has no names for.
const (
	here      = -100  // AT_FDCWD
	effective = 0x200 // AT_EACCESS
	useFolder = 3     // W_OK and X_OK
)

// Check returns why [Create] would fail, as far as that can be told without a write: the path has something else, which is an [ErrTaken], or the
// folder of the path cannot be written. If there is no folder, the error is an [os.ErrNotExist].
func Check(path, group string, member uint64) error {
	folder := filepath.Dir(path)
	if err := syscall.Faccessat(here, folder+"/", useFolder, effective); err != nil {
		return fmt.Errorf("the folder %s: %w", folder, err)
	}
	return replaceable(path, &State{Member: member, Group: group})
}

// replaceable returns why the lease file of a member must not take the place of what has the path.
func replaceable(path string, s *State) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is no regular file", ErrTaken, path)
	case info.Size() == 0:
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := beginning(f, info)
	if err != nil {
		return err
	}
	var old State
	switch err := decodeHead(text, &old); {
	case err != nil:
		return fmt.Errorf("%w: %s: %w", ErrTaken, path, err)
	case old.Group != s.Group || old.Member != s.Member:
		return fmt.Errorf("%w: %s is that of member %d of group %q", ErrTaken, path, old.Member, old.Group)
	}
	return nil
}

// beginning reads what a lease file would have of a file, which may be a large one of somebody else.
func beginning(f *os.File, info os.FileInfo) ([]byte, error) {
	begin := make([]byte, min(info.Size(), size))
	_, err := f.ReadAt(begin, 0)
	return begin, err
}

// Show writes what the member may believe: whether it leads in a term, how long the lease still runs, and what it publishes. The clocks of the
// machine are read before left is called, so a pause between the two makes the end early, not late.
func (w *Writer) Show(leads bool, term uint64, left func() time.Duration, value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.written
	s.Leads, s.Term, s.Value, s.Boottime, s.Monotonic = false, term, value, 0, 0
	if boottime, monotonic := kernel.Clocks(); leads {
		if rest := left(); rest > 0 {
			s.Leads, s.Boottime, s.Monotonic = true, boottime+rest, monotonic+rest
		}
	}
	w.put(&s)
}

// put writes a state, if it differs from the last one.
func (w *Writer) put(s *State) {
	if w.file == nil || *s == w.written {
		return
	}
	w.sequence++
	at := slots[(w.sequence+1)%2]
	write(w.file[at:at+slotSize], w.sequence, s)
	w.written = *s
}

// Close writes that the member leads no more, and that nothing else will be written. A nil Writer has nothing to close.
func (w *Writer) Close() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	s := w.written
	s.Leads, s.Closed, s.Boottime, s.Monotonic = false, true, 0, 0
	w.put(&s)
	err := errors.Join(syscall.Munmap(w.file), w.open.Close())
	w.file = nil
	return err
}

// Handle returns the name by which another process of the user opens the file of this process, whatever has its path by then; empty for a nil Writer.
func (w *Writer) Handle() string {
	if w == nil {
		return ""
	}
	return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), w.open.Fd())
}

// End writes what Close writes, for a Writer whose process is dead.
func End(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < size {
		return fmt.Errorf("%w: it has %d bytes", ErrFormat, info.Size())
	}
	file, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	var v view
	if err := decodeHead(file, &v.head); err != nil {
		return errors.Join(err, syscall.Munmap(file))
	}
	w := Writer{file: file, sequence: max(sequenceAt(file, slots[0]), sequenceAt(file, slots[1])), written: v.read(file, func() {})}
	s := w.written
	s.Leads, s.Closed, s.Boottime, s.Monotonic = false, true, 0, 0
	w.put(&s)
	return syscall.Munmap(file)
}

// Reader reads a lease file. Its methods may be called by any goroutine.
type Reader struct {
	path string
	boot [16]byte

	mu   sync.Mutex
	file []byte
	view view
	info os.FileInfo // of the file that is mapped
}

// Open opens a lease file.
func Open(path string) (*Reader, error) {
	r := &Reader{path: path}
	var err error
	if r.boot, err = boot(); err != nil {
		return nil, err
	}
	return r, r.reopen()
}

// reopen maps the file that has the path now.
func (r *Reader) reopen() error {
	f, err := os.OpenFile(r.path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would wait for a writer
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s: %w", r.path, ErrFormat)
	}
	begin, err := beginning(f, info)
	if err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	var head State
	if err := decodeHead(begin, &head); err != nil {
		return fmt.Errorf("%s: %w", r.path, err)
	}
	if ours := timeNamespace(); head.Boot == r.boot && head.TimeNamespace != 0 && ours != 0 && head.TimeNamespace != ours {
		return fmt.Errorf("%s: %w", r.path, ErrTimeNamespace)
	}
	file, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return err
	}
	if r.file != nil {
		err = syscall.Munmap(r.file)
	}
	r.file, r.view, r.info = file, view{head: head}, info
	return err
}

// Read returns what the file says, whether the lease runs or not.
func (r *Reader) Read() (State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.read(func() {})
}

func (r *Reader) read(look func()) (State, error) {
	if r.file == nil {
		return State{}, os.ErrClosed
	}
	return r.view.read(r.file, look), nil
}

// Valid returns the term in which the member of the file leads, and how long its lease still runs, at the moment of the call. It reports false if the
// member does not lead, if the lease is over on one of the clocks, or if the system has started since the file was written. A member that
// starts again makes a new file, which Valid finds when the lease of the old one is over.
func (r *Reader) Valid() (term uint64, left time.Duration, valid bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if term, left, valid = r.valid(); valid {
		return term, left, true
	}
	if info, err := os.Stat(r.path); err != nil || r.file == nil || os.SameFile(info, r.info) || r.reopen() != nil {
		return 0, 0, false
	}
	return r.valid()
}

func (r *Reader) valid() (term uint64, left time.Duration, valid bool) {
	var boottime, monotonic time.Duration
	s, err := r.read(func() { boottime, monotonic = kernel.Clocks() }) // nothing newer was there at that moment, which the answer is about
	if err != nil || !s.Leads || s.Closed || s.Boot != r.boot || s.Boottime <= boottime || s.Monotonic <= monotonic {
		return 0, 0, false
	}
	if left = min(s.Boottime-boottime, s.Monotonic-monotonic); left <= 0 {
		return 0, 0, false
	}
	return s.Term, left, true
}

// Close ends the use of the file.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	err := syscall.Munmap(r.file)
	r.file = nil
	return err
}
