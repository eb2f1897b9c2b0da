package warden

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ringleader.example/ringleader/internal/serve/aside"
	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/leasefile"
	"ringleader.example/ringleader/transport"
)

// forwarded are the signals that the warden passes on.
var forwarded = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}

// keep prevents that a process inherits the pipe.
func keep(pipe uintptr) { syscall.CloseOnExec(int(pipe)) }

// watch runs the warden. It returns only if the program cannot be started.
func watch() error {
	if own, err := os.Readlink("/proc/self"); err != nil || own != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("%w: /proc is that of another PID namespace", ErrNone)
	}
	var secret [32]byte
	rand.Read(secret[:])
	signals := make(chan os.Signal, 16)
	shared := Foreground()
	for _, s := range forwarded {
		if !signal.Ignored(s) { // what this process ignores the program ignores, too
			signal.Notify(signals, s)
		}
	}
	// The kernel kills the program at the end of the thread that started it. This one lives as long as the process.
	runtime.LockOSThread()
	page, alarm, memory := newPulses()
	pid, notes, err := begin(sha256.Sum256(secret[:]), page, alarm, shared)
	if err != nil {
		runtime.UnlockOSThread()
		signal.Stop(signals)
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		panic(err) // it is our child, and not reaped
	}
	all := roll{begun: make(chan struct{}), buried: make(chan struct{}), secret: secret}
	go pass(signals, process, shared, all.begun)
	if memory != nil {
		go watchPulses(process, memory, alarm)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		all.hear(pid, notes)
	}()
	var left error // processes that may not be dead
	status := reap(pid, all.bury, func() {
		<-read // only the program could write
		for _, group := range all.confined {
			left = errors.Join(left, KillGroup(group))
		}
	}, all.spares)
	switch {
	case left != nil:
		say("the warden proves no death: %v", left)
	default:
		if status.Signaled() {
			say("the warden: process %d was killed by signal %d (%v), and nothing of it is left", pid, status.Signal(), status.Signal())
		}
		close(all.buried)
		all.prove()
	}
	said.Close()
	os.Exit(ExitStatus(status))
	return nil
}

// said has the lines that the warden prints on stderr. The warden does not wait until they are read, since other members wait for its proof.
var said = aside.New(os.Stderr, func(missing int) string {
	return fmt.Sprintf("%s: the warden: %d lines are left out here: nothing took them\n", filepath.Base(os.Args[0]), missing)
})

// say prints a line with the name of the program.
func say(format string, args ...any) {
	fmt.Fprintf(said, "%s: %s\n", filepath.Base(os.Args[0]), fmt.Sprintf(format, args...))
}

// begin starts the program: with the arguments, environment and descriptors of this process, and with the marker.
func begin(hash [sha256.Size]byte, page *os.File, alarm *kernel.Alarm, shared bool) (pid int, notes *os.File, err error) {
	path, err := os.Executable()
	if err != nil {
		return 0, nil, err
	}
	if err := Adopt(); err != nil {
		return 0, nil, err
	}
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], 0); err != nil {
		return 0, nil, err
	}
	defer syscall.Close(pipe[1])
	syscall.CloseOnExec(pipe[0])
	var inherited [2]uintptr
	if page != nil {
		inherited = [2]uintptr{page.Fd(), alarm.Descriptor}
		for _, descriptor := range inherited {
			if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, descriptor, syscall.F_SETFD, 0); errno != 0 {
				return 0, nil, os.NewSyscallError("fcntl", errno)
			}
		}
	}
	if err := syscall.SetNonblock(pipe[0], true); err != nil { // so that a deadline ends a read
		return 0, nil, os.NewSyscallError("fcntl", err)
	}
	pid, err = syscall.ForkExec(path, os.Args, &syscall.ProcAttr{
		Env:   append(without(os.Environ()), fmt.Sprintf("%s=%d %d %d %d %x", marker, os.Getpid(), pipe[1], inherited[0], inherited[1], hash)),
		Files: []uintptr{0, 1, 2}, // and all others that are not to be closed
		Sys:   &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: !shared},
	})
	if err != nil {
		syscall.Close(pipe[0])
		return 0, nil, err
	}
	return pid, os.NewFile(uintptr(pipe[0]), "the pipe of the program"), nil
}

// mostBeginning is how long signals wait for a program that begins.
const mostBeginning = 10 * time.Second

// pass passes signals on, when the program has begun: before, it does not expect them. What a terminal sends has reached it already.
func pass(signals <-chan os.Signal, program *os.Process, shared bool, begun <-chan struct{}) {
	select {
	case <-begun:
	case <-time.After(mostBeginning):
	}
	for asked := asked; ; {
		select {
		case s := <-signals:
			if !shared || s != syscall.SIGINT && s != syscall.SIGQUIT {
				_ = program.Signal(s) // it may have ended
			}
			if s == syscall.SIGTERM || s == syscall.SIGINT {
				asked = nil
			}
		case <-asked:
			asked = nil
			if time.Sleep(again); len(signals) == 0 { // what comes now is there as well
				_ = program.Signal(syscall.SIGTERM)
			}
		}
	}
}

// reap waits for the end of the program, kills and reaps all that it has left, and returns how the program ended. Before it reaps the program it
// calls bury, and before it kills, confined. It does nothing to those that it spares.
func reap(program int, bury, confined func(), spares func(pid int) bool) (status syscall.WaitStatus) {
	ended := false
	for options := 0; ; {
		which := -1 // any
		if !ended {
			switch dead, err := kernel.AwaitChild(); {
			case errors.Is(err, syscall.EINTR):
				continue
			case err == nil: // else this host does not allow that
				which = dead
			}
			if which == program {
				bury()
			}
		}
		var s syscall.WaitStatus
		pid, err := kernel.Wait(which, &s, options)
		switch {
		case err == syscall.ECHILD:
			return status
		case err != nil: // EINTR
			continue
		case pid == program:
			status, ended = s, true
			confined()
		}
		options = 0
		switch {
		case ended && pid != 0:
			options = syscall.WNOHANG // usually none is left
		case ended:
			// Each process that is left has an ancestor among the children of this one, since nothing is reaped while they are listed.
			spared := 0
			killed := KillChildren(func(pid int) bool {
				is := spares(pid)
				if is {
					spared++
				}
				return is
			})
			if spared > 0 && len(killed) == 0 {
				return status
			}
		}
	}
}

// roll has the last note of each member, and the control groups of the program.
type roll struct {
	members  map[uint64]note
	confined []string
	spared   map[int]string      // when each has started
	files    map[uint64]*os.File // the lease files, by member; nil: it cannot be opened
	begun    chan struct{}       // closed when the program has begun
	secret   [32]byte
	left     atomic.Bool // all members that have told of themselves have left
	peers    peers
	buried   chan struct{} // closed when the kernel has reaped the program
	proven   sync.Once
	burial   sync.Once // after it, the threads of the dead program run as they do
}

// bury is called when the program is dead, before it is reaped. The kernel reaps it as what its threads are then: see [kernel.Wait].
func (r *roll) bury() { r.burial.Do(func() {}) }

// relax lets what the kernel still does for the program wait for those that elect, unless the program is being reaped.
func (r *roll) relax(p *program) { r.burial.Do(p.relax) }

// hear reads all that the program tells. As soon as that executes nothing any more, and has told all, its death is proven, if it leaves nothing.
func (r *roll) hear(pid int, notes *os.File) {
	r.members, r.spared, r.files = map[uint64]note{}, map[int]string{}, map[uint64]*os.File{}
	p, err := newProgram(pid)
	if err != nil { // the death is proven when the program has been reaped
		r.read(notes)
		return
	}
	foreseen, over := make(chan bool, 1), make(chan struct{})
	go func() {
		select {
		case <-r.begun:
		case <-over:
		}
		if !r.hasBegun() { // it has ended before it knew of its warden
			foreseen <- false
			return
		}
		p.rehearse()
		ended := p.foresee(r.left.Load)
		if ended {
			_ = notes.SetReadDeadline(time.Unix(0, 1)) // an error is that the last note has been read
		}
		foreseen <- ended
	}()
	rest := r.read(notes)
	close(over)
	if !<-foreseen {
		return
	}
	_ = notes.SetReadDeadline(time.Time{})
	rest = r.read(io.MultiReader(rest, waiting{notes}))
	if r.aloneWas(p) && !writesOn() {
		if r.allFar() { // else some wait for the kernel
			r.relax(p)
		}
		go r.prove()
	}
	r.read(io.MultiReader(rest, notes))
}

// hasBegun reports whether the program has begun. One that has may end before anybody looks.
func (r *roll) hasBegun() bool {
	select {
	case <-r.begun:
		return true
	default:
		return false
	}
}

// allFar reports whether all peers are known to be on other machines.
func (r *roll) allFar() bool {
	for _, n := range r.members {
		for _, peer := range n.Peers {
			if far, _ := r.peers.isFar(peer); !far {
				return false
			}
		}
	}
	return true
}

// aloneWas reports whether a program that has ended leaves nothing that is to be killed first.
func (r *roll) aloneWas(p *program) bool {
	return len(r.confined) == 0 && p.nothingLeft(r.spares)
}

// read reads notes to the end of what can be read. It returns what is left of the last one.
func (r *roll) read(notes io.Reader) (rest io.Reader) {
	for lines := json.NewDecoder(notes); ; {
		var n note
		switch {
		case lines.Decode(&n) != nil:
			return lines.Buffered()
		case n.Begun:
			close(r.begun)
		case n.Confined != "":
			r.confined = append(r.confined, n.Confined)
		case n.Spared != 0:
			r.spared[n.Spared] = n.Started
		default:
			r.members[n.Member] = n
			for _, peer := range n.Peers {
				r.peers.locate(peer)
			}
			left := true
			for _, m := range r.members {
				left = left && len(m.Peers) == 0
			}
			r.left.Store(left)
			r.files[n.Member].Close() // there may be none
			if delete(r.files, n.Member); n.File != "" {
				r.files[n.Member], _ = os.OpenFile(n.File, os.O_RDWR, 0) // endLeases tells that there is none
			}
		}
	}
}

// endLeases writes into the lease files of members that these do not lead. What reads the files does not end with the program, so without that no death
// is proven.
func (r *roll) endLeases() {
	for id, n := range r.members {
		if n.File == "" {
			continue
		}
		if err := leasefile.End(r.files[id]); err != nil {
			say("the warden proves no death of member %d, whose lease file may say that it leads: %v", id, err)
			delete(r.members, id)
		}
	}
}

// again is the pause between two attempts to show a proof.
const again = 10 * time.Millisecond

// prove ends the lease files of all members that have not left, and proves their death to all others. What has been done once is not done again.
func (r *roll) prove() {
	r.proven.Do(func() {
		r.endLeases()
		var all sync.WaitGroup
		for _, n := range r.members {
			ctx, cancel := context.WithTimeout(context.Background(), n.Lease)
			defer cancel()
			for _, peer := range n.Peers {
				all.Go(func() { r.show(ctx, n.Member, peer) })
			}
		}
		all.Wait()
		_ = kernel.Retire() // what is left to do would take a processor from those that elect; if nothing hurries, there is nothing to take back
	})
}

// show proves a death to a peer, again and again until it has taken the proof, or until ctx ends with the lease in which that would be of use. A peer on this
// machine hears of it when the program is reaped.
func (r *roll) show(ctx context.Context, member uint64, peer string) {
	far, known := r.peers.isFar(peer)
	if !known {
		far, _ = onAnotherMachine(peer)
	}
	if !far {
		<-r.buried
	}
	for transport.SendProof(ctx, peer, transport.Proof{Member: member, Secret: r.secret}) != nil {
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return
		}
	}
}
