package warden

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/transport"
)

// A parent hears of the end of a program when the kernel has taken back its memory, which takes milliseconds. No thread of it executes
// anything during that time. The warden looks for the moment at which that begins.

// program is the process that the warden has started.
type program struct {
	pid   int
	tasks *os.File // its threads in /proc: of this process, whoever has its number later
}

func newProgram(pid int) (*program, error) {
	tasks, err := os.Open(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil, err
	}
	return &program{pid, tasks}, nil
}

// of returns the path of a file of a thread.
func (p *program) of(thread, file string) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s/%s", p.tasks.Fd(), thread, file)
}

// threads returns the identifiers of the threads.
func (p *program) threads() []string {
	_, _ = p.tasks.Seek(0, io.SeekStart) // if that fails, so does the next call
	all, _ := p.tasks.Readdirnames(-1)
	return all
}

// without reports whether a thread has given up its memory, or is gone: it executes nothing any more.
func (p *program) without(thread string) bool {
	_, err := os.Readlink(p.of(thread, "exe")) // the kernel finds that file by the memory
	return absent(err)
}

// absent reports whether an error of a file in /proc is that there is none.
func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }

// await waits until a thread has ended that lives as long as the program: the one that Go's runtime starts at the beginning. The kernel reports the end of
// the first thread late. It returns false if the kernel reports the end of none.
func (p *program) await() bool {
	second := ""
	for _, thread := range p.threads() {
		if n := number(thread); n != p.pid && (second == "" || n < number(second)) {
			second = thread
		}
	}
	if second == "" {
		return true
	}
	thread, err := kernel.OpenThread(number(second))
	if err != nil {
		return errors.Is(err, syscall.ESRCH)
	}
	defer thread.Close()
	return p.without(second) || kernel.AwaitThread(thread) == nil // without memory: it may be a thread of another process now
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// The threads of a program that is killed end within a tenth of a millisecond on a machine with nothing else to do.
const (
	firstPause = 50 * time.Microsecond
	mostPause  = 10 * time.Millisecond
)

// foresee waits until no thread of the program has memory, and reports whether it has seen that. All threads but one have ended then, so that one has
// the children of all. It does not look if all members have left.
func (p *program) foresee(left func() bool) bool {
	if !p.await() || left() {
		return false
	}
	for pause := firstPause; !p.ended(); pause = min(2*pause, mostPause) {
		if len(p.threads()) == 0 || pause == mostPause && !p.await() { // it was reaped; or only that thread had ended
			return false
		}
		rest := syscall.NsecToTimespec(int64(pause))
		_ = syscall.Nanosleep(&rest, nil) // a signal may end it early
	}
	return true
}

// ended reports whether no thread has memory, and one at most has not ended.
func (p *program) ended() bool {
	all := p.threads()
	for _, thread := range all {
		if !p.without(thread) {
			return false
		}
	}
	// A list lacks threads if one ends while it is made. A thread that was there in the first list and in the second was there when they were counted.
	// So these are all, and none begins another one without memory.
	_, count := p.state(strconv.Itoa(p.pid))
	if len(all) == 0 || count != len(all) || !slices.Equal(p.threads(), all) {
		return false
	}
	left := 0
	for _, thread := range all {
		if state, _ := p.state(thread); state != "Z" {
			left++
		}
	}
	return left <= 1
}

// state returns the state of a thread, "Z" if it has ended, and the number of all threads. To read the state of a thread that has memory would hold that.
func (p *program) state(thread string) (state string, threads int) {
	const count = 17 // the field 20, after the number and the name
	stat, _ := os.ReadFile(p.of(thread, "stat"))
	if fields := afterName(stat); len(fields) > count {
		return fields[0], number(fields[count])
	}
	return "", 0
}

// nothingLeft reports whether the program, which has [program.ended], leaves only processes that the warden spares.
func (p *program) nothingLeft(spares func(pid int) bool) bool {
	var left []int
	for _, thread := range p.threads() {
		list, err := os.ReadFile(p.of(thread, "children"))
		if err != nil && (!listed() || !absent(err)) {
			return false
		}
		left = append(left, numbers(list)...)
	}
	left = append(left, children()...) // after those: what has moved meanwhile is here
	for _, pid := range left {
		if pid != p.pid && !spares(pid) {
			return false
		}
	}
	return true
}

// peers are the addresses of peers that are known to be on other machines. A peer on this machine hears of a death later: its work may need what the dead
// have not yet given back, a port to listen on or the lock of a file.
type peers struct {
	mu    sync.Mutex
	asked map[string]bool
	far   map[string]bool
}

// locate finds out where a peer is, before that matters: to find the address of a name takes time. It tries again while that cannot be known.
func (p *peers) locate(peer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked[peer] {
		return
	}
	if p.asked == nil {
		p.asked, p.far = map[string]bool{}, map[string]bool{}
	}
	p.asked[peer] = true
	go func() {
		for pause := time.Second; ; pause = min(2*pause, time.Minute) {
			far, err := onAnotherMachine(peer)
			if err == nil {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.far[peer] = far
				return
			}
			time.Sleep(pause)
		}
	}()
}

// isFar reports whether a peer is on another machine, as far as that is known.
func (p *peers) isFar(peer string) (far, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	far, known = p.far[peer]
	return far, known
}

// onAnotherMachine reports whether what is sent to an address leaves this machine. It sends nothing.
func onAnotherMachine(address string) (bool, error) {
	conn, err := net.Dial("udp", address)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	from, to := conn.LocalAddr().(*net.UDPAddr), conn.RemoteAddr().(*net.UDPAddr)
	return !to.IP.IsLoopback() && !to.IP.Equal(from.IP), nil
}

// writesOn reports whether the kernel may write to files for a program whose threads have ended: what it was given by io_submit(2). It tells only how
// many requests all programs may have at a time. It waits for those of io_uring(7) before a thread gives up its memory.
func writesOn() bool {
	text, err := os.ReadFile("/proc/sys/fs/aio-nr")
	if errors.Is(err, fs.ErrNotExist) {
		return false // this kernel has no such requests
	}
	return strings.TrimSpace(string(text)) != "0"
}

// relax lets the threads of the program run as ordinary ones.
func (p *program) relax() {
	for _, thread := range p.threads() {
		_ = kernel.RelaxThread(number(thread)) // if nothing hurries, there is nothing to take back
	}
}

// rehearse does for a program that runs what is done at its end, so that its code and memory are there then: each page that is missing costs as much as
// all that is done in it.
func (p *program) rehearse() {
	p.ended()
	p.state(strconv.Itoa(p.pid))
	p.nothingLeft(func(int) bool { return true })
	writesOn()
	if nobody, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		nobody.Close()
		ctx, cancel := context.WithTimeout(context.Background(), again)
		defer cancel()
		_ = transport.SendProof(ctx, nobody.Addr().String(), transport.Proof{})
	}
}

// waiting reads what a pipe has, and does not wait for more.
type waiting struct{ pipe *os.File }

func (w waiting) Read(b []byte) (n int, err error) {
	raw, err := w.pipe.SyscallConn()
	if err != nil {
		return 0, err
	}
	failed := raw.Read(func(fd uintptr) bool {
		n, err = syscall.Read(int(fd), b)
		return true
	})
	switch {
	case failed != nil:
		return 0, failed
	case err != nil || n == 0: // it is empty, or its end
		return 0, io.EOF
	}
	return n, nil
}
