package warden

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/serve/kernel/kerneltest"
)

// A thread that ends is not the end of its process, whose others have memory.
func TestAProgramThatLosesAThreadHasNotEnded(t *testing.T) {
	p, err := newProgram(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan int)
	thread := os.Getpid()
	for thread == os.Getpid() { // Go keeps the first one
		go func() {
			runtime.LockOSThread() // and never unlocks it, so the thread ends
			gone <- syscall.Gettid()
		}()
		thread = <-gone
	}
	for deadline := time.Now().Add(time.Minute); syscall.Kill(thread, 0) == nil && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if p.ended() {
		t.Error("a process that runs has ended")
	}
}

// A zombie has no memory. What it has left are its children, whoever is their parent now.
func TestAProgramThatHasEndedLeavesChildren(t *testing.T) {
	c := exec.Command("/bin/sh", "-c", "sleep 1000 & echo $!; wait")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	t.Cleanup(func() {
		syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		c.Wait()
		for child != 0 { // it is ours now
			if _, err := syscall.Wait4(child, nil, 0, nil); err != syscall.EINTR {
				return
			}
		}
	})
	p, err := newProgram(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscan(out, &child); err != nil {
		t.Fatal(err)
	}
	if p.ended() || p.nothingLeft(func(int) bool { return false }) {
		t.Errorf("a shell that waits for its child has ended: %v; or has none: %v", p.ended(), !p.ended())
	}
	if err := Adopt(); err != nil {
		t.Fatal(err)
	}
	c.Process.Kill()
	for deadline := time.Now().Add(time.Minute); !p.ended() && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if !p.ended() {
		t.Fatal("a process that was killed does not end")
	}
	if p.nothingLeft(func(pid int) bool { return pid != child }) { // this process may have adopted others in other tests
		t.Error("the child is forgotten")
	}
	if !p.nothingLeft(func(int) bool { return true }) {
		t.Error("a child that is to be spared counts")
	}
	for _, group := range []string{"", "one"} { // what is in a control group need not be a child
		r := roll{spared: map[int]string{child: Started(child)}}
		for _, other := range children() {
			r.spared[other] = Started(other)
		}
		if group != "" {
			r.confined = []string{group}
		}
		if alone := r.aloneWas(p); alone != (group == "") {
			t.Errorf("with the control group %q the program was alone: %v", group, alone)
		}
	}
}

// Requests of io_submit may be under way when no thread is left. The system knows only how many there may be.
func TestAProgramMayWriteOnAfterItsEnd(t *testing.T) {
	if writesOn() {
		t.Skip("another program has requests of io_submit")
	}
	var requests uintptr
	if _, _, errno := syscall.Syscall(syscall.SYS_IO_SETUP, 1, uintptr(unsafe.Pointer(&requests)), 0); errno != 0 {
		t.Skipf("there are no such requests here: %v", errno)
	}
	if !writesOn() {
		t.Error("a program that may write is forgotten")
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_IO_DESTROY, requests, 0, 0); errno != 0 {
		t.Fatal(errno)
	}
}

// The last notes of a program may be in its pipe, in part, when the warden sees that it has ended.
func TestTheNotesOfAProgramThatHasEndedAreReadToTheirEnd(t *testing.T) {
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	notes, program := os.NewFile(uintptr(pipe[0]), "notes"), os.NewFile(uintptr(pipe[1]), "program")
	defer notes.Close()
	defer program.Close()
	r := roll{members: map[uint64]note{}, spared: map[int]string{}, files: map[uint64]*os.File{}}
	io.WriteString(program, `{"member":7}`+"\n"+`{"member":8,"pe`)
	ended := make(chan io.Reader)
	go func() { ended <- r.read(notes) }()
	for deadline := time.Now().Add(time.Minute); !r.left.Load() && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	notes.SetReadDeadline(time.Unix(0, 1))
	rest := <-ended
	if len(r.members) != 1 {
		t.Fatalf("%d members", len(r.members))
	}
	io.WriteString(program, `ers":["b"]}`+"\n"+`{"member":7,"peers":["a"]}`+"\n")
	notes.SetReadDeadline(time.Time{})
	r.read(io.MultiReader(rest, waiting{notes})) // the pipe is open, and nothing more comes
	if len(r.members) != 2 || len(r.members[7].Peers) != 1 || len(r.members[8].Peers) != 1 || r.left.Load() {
		t.Errorf("the members are %v", r.members)
	}
}

func TestAddressesOfThisMachineAreNotFar(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1:9": false, "127.8.8.8:9": false, "localhost:9": false, "[::1]:9": false} {
		if far, err := onAnotherMachine(address); err == nil && far != want {
			t.Errorf("%s is on another machine: %v", address, far)
		}
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range own {
		at := address.(*net.IPNet).IP
		if far, err := onAnotherMachine(net.JoinHostPort(at.String(), "9")); err == nil && far {
			t.Errorf("the own address %v is on another machine", at)
		}
	}
	if _, err := onAnotherMachine("no address"); err == nil {
		t.Error("a text that is no address has a location")
	}
	var all peers
	all.locate("127.0.0.1:9")
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); runtime.Gosched() {
		if far, known := all.isFar("127.0.0.1:9"); known {
			if far {
				t.Error("127.0.0.1 is on another machine")
			}
			return
		}
	}
	t.Error("after a minute, the location of 127.0.0.1 is not known")
}

// What the kernel still does for a program of which nobody waits for the end does not go before others. Once the warden reaps it, nothing changes: a
// thread that reaps runs as those do that it reaps.
func TestWhatNobodyWaitsForIsReapedAsOrdinaryProcessesAre(t *testing.T) {
	kerneltest.NeedPriority(t)
	const ordinary, before = 0, 2
	for name, c := range map[string]struct {
		happens func(*roll, *program)
		want    int
	}{
		"its peers are elsewhere": {func(r *roll, p *program) { r.relax(p); r.bury() }, ordinary},
		"its peers are here":      {func(r *roll, _ *program) { r.bury() }, before},
		"it is being reaped":      {func(r *roll, p *program) { r.bury(); r.relax(p) }, before},
	} {
		child := exec.Command("sleep", "1000")
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if err := kernel.HurryProcess(child.Process.Pid); err != nil {
			t.Fatal(err)
		}
		p, err := newProgram(child.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		c.happens(new(roll), p)
		if got := kerneltest.Policies(child.Process.Pid); !slices.Equal(got, []int{c.want}) {
			t.Errorf("%s: policies %v, want %d", name, got, c.want)
		}
		_ = child.Process.Kill() // it may have ended
		_ = child.Wait()         // by a signal
		p.tasks.Close()
	}
}
