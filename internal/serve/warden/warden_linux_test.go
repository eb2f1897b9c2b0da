package warden_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/serve/kernel"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/serve/warden"
	"ringleader.example/ringleader/leasefile"
	"ringleader.example/ringleader/transport"
)

const (
	// long is a lease whose end no test awaits: what happens before it happens without it.
	long = 50 * time.Minute
	// limit ends a test that would wait for ever.
	limit = 60 * time.Second

	asked = "WARDEN_ASKED" // set if the program has been asked to end

	role = "WARDEN_TEST" // the variable by which this binary knows that it is not a test
)

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "program":
		program()
	case "beginner":
		beginner()
	case "member":
		member()
	case "parent": // starts a process that leaves its session, and ends
		work := start("work", &syscall.SysProcAttr{Setsid: true})
		fmt.Println(work.Process.Pid)
	case "work":
		for { // where nothing but Go is linked, its runtime ends a program that waits for no event
			_ = syscall.Pause()
		}
	default:
		os.Exit(m.Run())
	}
}

// start starts this binary in a role.
func start(as string, attributes *syscall.SysProcAttr) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), role+"="+as)
	c.SysProcAttr = attributes
	if as == "parent" {
		c.Stdout = os.Stdout
	}
	if err := c.Start(); err != nil {
		panic(err)
	}
	return c
}

// program is a program with a warden, which obeys lines. It tells its process, and the hash of the secret.
func program() {
	if err := warden.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	terminate := make(chan os.Signal, 10)
	signal.Notify(terminate, syscall.SIGTERM)
	if err := warden.Joined(7, []string{os.Args[1]}, long, ""); err != nil {
		panic(err)
	}
	fmt.Println(os.Getpid(), fmt.Sprintf("%x", warden.Hash()))
	go func() {
		<-terminate
		fmt.Println("terminated")
	}()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		verb, argument, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "exit":
			status, _ := strconv.Atoi(argument)
			os.Exit(status)
		case "leave":
			warden.Left(7)
		case "lead":
			w, err := leasefile.Create(argument, "", 7)
			if err != nil {
				panic(err)
			}
			w.Show(true, 1, func() time.Duration { return long }, "")
			if err := warden.Joined(7, []string{os.Args[1]}, long, w.Handle()); err != nil {
				panic(err)
			}
			fmt.Println("leads")
		case "work":
			start("parent", nil).Wait()
		case "spared":
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), role+"=work")
			if _, err := warden.StartSpared(c); err != nil {
				panic(err)
			}
			fmt.Println(c.Process.Pid)
		}
	}
}

// beginner is a program that takes its time before it knows of its warden, and expects signals only then.
func beginner() {
	if os.Getenv("RINGLEADER_WARDEN_PIPE") != "" {
		fmt.Println("begins")
		bufio.NewScanner(os.Stdin).Scan()
	}
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	if os.Getenv(asked) != "" { // before there is a warden
		ended := make(chan struct{})
		close(ended)
		warden.Expect(ended)
	}
	if err := warden.Start(); err != nil {
		panic(err)
	}
	<-terminate
	fmt.Println("terminated")
}

// supervised is a program with a warden, and a peer of its member.
type supervised struct {
	*exec.Cmd // the warden
	stdin     io.Writer
	lines     *bufio.Scanner
	pid       int    // of the program
	hash      string // of the secret
	peer      net.Listener
	lease     string // its lease file
	leads     uint64 // whom it knows to lead; 0: none
	term      uint64 // in which term
}

func supervise(t *testing.T) *supervised {
	t.Helper()
	peer, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return superviseBy(t, peer)
}

// superviseBy starts the warden by a command that replaces itself by it.
func superviseBy(t *testing.T, peer net.Listener, command ...string) *supervised {
	t.Helper()
	t.Cleanup(func() { peer.Close() })
	peer.(*net.TCPListener).SetDeadline(time.Now().Add(limit))
	command = append(command, os.Args[0], peer.Addr().String())
	s := &supervised{Cmd: exec.Command(command[0], command[1:]...), peer: peer}
	s.Env = append(os.Environ(), role+"=program")
	// The Go tool may run tests in the foreground of a terminal, and a warden there passes on less.
	s.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.stdin, s.lines = pipes(t, s.Cmd)
	if n, err := fmt.Sscan(s.line(t), &s.pid, &s.hash); n != 2 {
		t.Fatal(err)
	}
	program, err := os.FindProcess(s.pid)
	if err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(limit, func() { program.Kill() })
	t.Cleanup(func() {
		if !overdue.Stop() {
			t.Errorf("the program has not ended within %s", limit)
		}
		program.Kill()
	})
	return s
}

// pipes starts a process that ends with the test, or within limit.
func pipes(t *testing.T, c *exec.Cmd) (stdin io.Writer, lines *bufio.Scanner) {
	t.Helper()
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = cmp.Or(c.Stderr, t.Output())
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(limit, func() { c.Process.Kill() })
	t.Cleanup(func() {
		overdue.Stop()
		c.Process.Kill()
		c.Wait()
	})
	return stdin, bufio.NewScanner(stdout)
}

func (s *supervised) line(t *testing.T) string {
	t.Helper()
	if !s.lines.Scan() {
		t.Fatal("the program has ended")
	}
	return s.lines.Text()
}

func (s *supervised) say(line string) { fmt.Fprintln(s.stdin, line) }

// receive takes a proof of death. Who showed it waits on the connection for an acknowledgement.
func (s *supervised) receive(t *testing.T) (p transport.Proof, from net.Conn) {
	t.Helper()
	from, err := s.peer.Accept()
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]byte, transport.ProofSize)
	if _, err := io.ReadFull(from, raw); err != nil {
		t.Fatal(err)
	}
	p, ok := transport.DecodeProof(raw)
	if hash := fmt.Sprintf("%x", sha256.Sum256(p.Secret[:])); !ok || p.Member != 7 || hash != s.hash {
		t.Errorf("the proof is that of member %d, with hash %s; want %s", p.Member, hash, s.hash)
	}
	return p, from
}

// proof takes a proof of death, and acknowledges nothing.
func (s *supervised) proof(t *testing.T) transport.Proof {
	t.Helper()
	p, from := s.receive(t)
	from.Close()
	return p
}

// take takes a proof of death, and acknowledges it.
func (s *supervised) take(t *testing.T) transport.Proof {
	t.Helper()
	p, from := s.receive(t)
	defer from.Close()
	from.Write([]byte{1})
	return p
}

// noProof checks, after the end of the warden, that it has sent none. A connection that it has made waits in the queue of the listener, and a deadline that is
// over would let Accept look at no queue.
func (s *supervised) noProof(t *testing.T) {
	t.Helper()
	raw, err := s.peer.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(descriptor uintptr) {
		switch conn, _, err := syscall.Accept4(int(descriptor), syscall.SOCK_CLOEXEC); {
		case err == nil:
			syscall.Close(conn)
			t.Error("there was a proof of death")
		case !errors.Is(err, syscall.EAGAIN):
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// status returns the exit status of the warden.
func (s *supervised) status() int {
	s.Wait()
	return s.ProcessState.ExitCode()
}

func TestADeathIsProvenAndTheWardenEndsAsTheProgramDid(t *testing.T) {
	for how, want := range map[string]int{"exit 7": 7, "exit 0": 0, "SIGKILL": 128 + 9} {
		s := supervise(t)
		if how == "SIGKILL" {
			syscall.Kill(s.pid, syscall.SIGKILL)
		} else {
			s.say(how)
		}
		first := s.proof(t)
		if again := s.take(t); again != first { // that one was not acknowledged
			t.Error("the proof is another one now")
		}
		if status := s.status(); status != want {
			t.Errorf("%s: exit status %d, want %d", how, status, want)
		}
		s.noProof(t)
	}
}

// superviseElsewhere is supervise, with the warden and its program in a network namespace, as on another machine.
func superviseElsewhere(t *testing.T) *supervised {
	t.Helper()
	name := fmt.Sprintf("w%x", os.Getpid()) // an interface has 15 characters
	ip := func(command ...string) error {
		if out, err := exec.Command("ip", command...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(command, " "), err, out)
		}
		return nil
	}
	if err := ip("netns", "add", name); err != nil {
		needs.Missing(t, "only root can make networks: %v", err)
	}
	t.Cleanup(func() { _ = ip("netns", "del", name) }) // with both ends
	const here, there = "192.0.2.1", "192.0.2.2"
	var peer net.Listener
	made := make(chan error)
	go func() { // the peer is in another one: a firewall of this machine may drop what comes
		runtime.LockOSThread() // and never unlocks it: the thread ends, and the socket has the namespace
		err := os.NewSyscallError("unshare", syscall.Unshare(syscall.CLONE_NEWNET))
		for _, command := range []string{
			"link add outer type veth peer name inner netns " + name,
			"address add " + here + "/30 dev outer", "link set outer up",
			"-netns " + name + " address add " + there + "/30 dev inner", "-netns " + name + " link set inner up",
		} {
			if err == nil {
				err = ip(strings.Fields(command)...)
			}
		}
		if err == nil {
			peer, err = net.Listen("tcp", here+":0")
		}
		made <- err
	}()
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	// Where a program, such as the nginx of another test, has requests of io_submit, the warden waits for the kernel. This one sees none.
	none := filepath.Join(t.TempDir(), "aio-nr")
	if err := os.WriteFile(none, []byte("0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const bind = `mount --bind "$0" /proc/sys/fs/aio-nr && exec "$@"` // ip has made a namespace of mounts
	return superviseBy(t, peer, "ip", "netns", "exec", name, "sh", "-c", bind, none)
}

// hold keeps the kernel from telling the warden that the program has ended: a parent cannot reap what another process traces. It returns what ends that.
func (s *supervised) hold(t *testing.T) (release func()) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	const seize = 0x4206 // PTRACE_SEIZE
	if _, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, seize, uintptr(s.pid), 0, 0, 0, 0); errno != 0 {
		t.Skipf("this system lets no process trace another one: %v", errno)
	}
	return func() {
		if _, err := syscall.Wait4(s.pid, nil, syscall.WALL, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// The kernel takes milliseconds to take back the memory of a program, or seconds for gigabytes. The program does nothing then.
func TestADeathIsProvenBeforeTheProgramCanBeReaped(t *testing.T) {
	own, err := kernel.OpenThread(syscall.Gettid())
	if err != nil {
		t.Skipf("this kernel does not report the end of a thread, as Linux does since 6.9: %v", err)
	}
	own.Close()
	s := superviseElsewhere(t)
	release := s.hold(t)
	syscall.Kill(s.pid, syscall.SIGKILL)
	s.proof(t)
	if gone(s.pid) {
		t.Error("the program was reaped, although it is traced")
	}
	release()
	s.take(t)
	if status := s.status(); status != 128+9 {
		t.Errorf("exit status %d", status)
	}
	s.noProof(t)
}

// Work on the same machine may need a port or the lock of a file that the dead have not given back.
func TestAPeerOnThisMachineHearsOfADeathWhenNothingIsLeft(t *testing.T) {
	s := supervise(t)
	release := s.hold(t)
	syscall.Kill(s.pid, syscall.SIGKILL)
	listener := s.peer.(*net.TCPListener)
	listener.SetDeadline(time.Now().Add(100 * time.Millisecond)) // a proof that comes too early comes within ten
	if conn, err := s.peer.Accept(); err == nil {
		conn.Close()
		t.Error("there is a proof, and the program was not reaped")
	}
	listener.SetDeadline(time.Now().Add(limit))
	release()
	s.proof(t)
	if !gone(s.pid) {
		t.Error("the program was not reaped")
	}
}

func TestAMemberThatHasLeftNeedsNoProof(t *testing.T) {
	s := supervise(t)
	s.say("leave")
	s.say("exit 0")
	if status := s.status(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	s.noProof(t)
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for begun := time.Now(); !holds(); <-tick.C {
		if time.Since(begun) > limit {
			t.Fatalf("it does not come to this: %s", what)
		}
	}
}

// lead lets a program lead with a lease file, and returns the file's path.
func (s *supervised) lead(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "lease")
	s.say("lead " + path)
	s.line(t)
	eventually(t, "the warden has the lease file", func() bool {
		all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.Process.Pid))
		return slices.ContainsFunc(all, func(fd string) bool {
			file, _ := os.Readlink(fd)
			return file == path
		})
	})
	return path
}

// Other processes have mapped the file, whatever has its path.
func TestALeaseFileEndsBeforeADeathIsProven(t *testing.T) {
	s := supervise(t)
	path := s.lead(t)
	r, err := leasefile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, _, valid := r.Valid(); !valid {
		t.Fatal("the program does not lead")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(s.pid, syscall.SIGKILL)
	s.proof(t)
	if _, _, valid := r.Valid(); valid {
		t.Error("the file says that a member leads whose death is proven")
	}
}

func TestNoDeathIsProvenOfAMemberWhoseLeaseFileDoesNotEnd(t *testing.T) {
	s := supervise(t)
	if err := os.Truncate(s.lead(t), 0); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(s.pid, syscall.SIGKILL)
	if status := s.status(); status != 128+9 {
		t.Errorf("exit status %d", status)
	}
	s.noProof(t)
}

func TestNoDescendantIsLeftWhenADeathIsProven(t *testing.T) {
	s := supervise(t)
	s.say("work")
	work, err := strconv.Atoi(s.line(t))
	if err != nil || gone(work) {
		t.Fatalf("the work does not run: %v", err)
	}
	syscall.Kill(s.pid, syscall.SIGKILL)
	s.proof(t)
	if !gone(work) {
		t.Error("a process that left the session outlives the proof")
	}
}

// Its end may take for ever, and in any case the processor from those that elect.
func TestAProcessThatIsSparedOutlivesTheProof(t *testing.T) {
	s := supervise(t)
	var pids [2]int
	for i, kind := range []string{"spared", "work"} {
		s.say(kind)
		pid, err := strconv.Atoi(s.line(t))
		if err != nil || gone(pid) {
			t.Fatalf("the %s does not run: %v", kind, err)
		}
		pids[i] = pid
	}
	defer syscall.Kill(pids[0], syscall.SIGKILL)
	syscall.Kill(s.pid, syscall.SIGKILL)
	s.proof(t)
	if gone(pids[0]) || !gone(pids[1]) {
		t.Errorf("a process that is spared is gone: %v; the work: %v", gone(pids[0]), gone(pids[1]))
	}
}

func TestTheProgramEndsWithItsWardenWithoutAProof(t *testing.T) {
	s := supervise(t)
	syscall.Kill(s.pid, syscall.SIGSTOP) // it would not notice by itself
	s.Process.Kill()
	for s.lines.Scan() { // until no process can write
	}
	s.Wait()
	s.noProof(t)
}

func TestTheWardenPassesSignalsOn(t *testing.T) {
	s := supervise(t)
	s.Process.Signal(syscall.SIGTERM)
	if line := s.line(t); line != "terminated" {
		t.Error(line)
	}
}

func TestASignalWaitsForAProgramThatBegins(t *testing.T) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), role+"=beginner")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdin, lines := pipes(t, c)
	if !lines.Scan() || lines.Text() != "begins" {
		t.Fatalf("%q", lines.Text())
	}
	c.Process.Signal(syscall.SIGTERM)
	for { // the warden has taken the signal
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(status), "ShdPnd:\t0000000000000000") {
			break
		}
	}
	fmt.Fprintln(stdin, "go on")
	if !lines.Scan() || lines.Text() != "terminated" {
		t.Errorf("%q", lines.Text())
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

func TestTheWardenPassesOnWhatCameBeforeIt(t *testing.T) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), role+"=beginner", asked+"=1")
	stdin, lines := pipes(t, c)
	fmt.Fprintln(stdin, "go on")
	if !lines.Scan() || lines.Text() != "begins" || !lines.Scan() || lines.Text() != "terminated" {
		t.Errorf("%q", lines.Text())
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

func TestTheWardenAloneKnowsTheSecret(t *testing.T) {
	s := supervise(t)
	for _, file := range []string{"environ", "cmdline"} {
		of, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.pid, file))
		if err != nil {
			t.Fatal(err)
		}
		syscall.Kill(s.pid, syscall.SIGSTOP)
		if file == "environ" && !strings.Contains(string(of), s.hash) {
			t.Error("the program does not get the hash")
		}
		defer func() {
			if proof := s.proof(t); strings.Contains(string(of), fmt.Sprintf("%x", proof.Secret)) {
				t.Errorf("%s has the secret", file)
			}
		}()
	}
	syscall.Kill(s.pid, syscall.SIGKILL)
}

// setup is the configuration of a member in a process of its own.
type setup struct {
	ID      uint64
	Members []ringleader.MemberAddress
	Data    string
	Hangs   string // what its loop does when it leads and misses another member: nothing, or wait, spin or halt
	unread  bool   // nothing reads what it and its warden say on stderr
	Beside  string // the address of a member that leads a group of its own, in the process of the leader; empty: there is none
}

// hangs is a log in whose handler the loop of a leader blocks or spins.
type hangs struct {
	slog.Handler
	how   string
	leads *atomic.Bool
}

func (h *hangs) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h *hangs) Handle(ctx context.Context, r slog.Record) error {
	if !h.leads.Load() || r.Message != "member is not reachable" {
		return nil
	}
	fmt.Println("hangs")
	switch h.how {
	case "wait":
		select {}
	case "halt": // nothing interrupts the loop, so the collector waits for it, and all else for the collector
		go runtime.GC()
	}
	for h.leads != nil { // spin: it is never nil
		runtime.KeepAlive(h)
	}
	return nil
}

// member runs a member with a warden, and tells each View.
func member() {
	if err := ringleader.Warden(); err != nil {
		panic(err)
	}
	var s setup
	if err := json.Unmarshal([]byte(os.Args[1]), &s); err != nil {
		panic(err)
	}
	timing := ringleader.LAN()
	timing.Lease, timing.LongestLease, timing.Preempt, timing.Stall, timing.Hang = long, long, long, long, 60*time.Millisecond
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	c := ringleader.Config{ID: s.ID, Members: s.Members, Data: s.Data, Timing: timing, LeaseFile: s.lease()}
	var leads atomic.Bool
	if s.Hangs != "" {
		c.Logger = slog.New(&hangs{slog.NewTextHandler(io.Discard, nil), s.Hangs, &leads})
	}
	m, err := ringleader.Join(context.Background(), c)
	if err != nil {
		panic(err)
	}
	fmt.Println(os.Getpid())
	for v := range m.Observe(ctx) {
		leads.Store(v.Role == ringleader.Leader)
		if s.Beside != "" && leads.Load() {
			if err := leadAlone(s.Beside, s.Data+"-beside"); err != nil {
				panic(err)
			}
			s.Beside = ""
		}
		fmt.Println(v.Role, v.Leader, v.Term)
	}
	m.Close()
}

// leadAlone joins a group of one member, which its warden watches, too, and returns when that leads.
func leadAlone(address, data string) error {
	if err := ringleader.Init(data, "beside", 1); err != nil {
		return err
	}
	timing := ringleader.LAN()
	timing.Hang = 60 * time.Millisecond
	m, err := ringleader.Join(context.Background(), ringleader.Config{
		Group: "beside", ID: 1, Members: []ringleader.MemberAddress{{ID: 1, Address: address}}, Data: data, Timing: timing,
	})
	if err != nil {
		return err
	}
	_, err = m.WaitLeader(context.Background()) // it is alone
	return err
}

// A lease would run for almost an hour.
func TestALeaderThatEndsOrDoesNothingIsReplacedWithoutWaitingForItsLease(t *testing.T) {
	for _, how := range []string{"killed", "terminated", "stopped", "wait", "spin", "halt", "wait beside one that works", "killed where nothing reads"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			base := addresses(t, 6)
			beside := base.Members[3:]
			base.Members = base.Members[:3]
			does, where, _ := strings.Cut(how, " ")
			if slices.Contains([]string{"wait", "spin", "halt"}, does) {
				base.Hangs = does
			}
			var members []*supervised
			for id := range uint64(3) {
				switch where {
				case "beside one that works":
					base.Beside = beside[id].Address
				case "where nothing reads":
					base.unread = true
				}
				members = append(members, base.start(t, id+1))
			}
			first := agreed(t, members, 0)
			others := slices.Delete(slices.Clone(members), int(first-1), int(first))
			wrong := transport.Proof{Member: first, Secret: [32]byte{1}}
			eventually(t, "a wrong secret is rejected", func() bool { // a member that is late gives no answer
				err := transport.SendProof(t.Context(), base.Members[first%3].Address, wrong)
				if err == nil {
					t.Error("a wrong secret is taken")
				}
				return err == nil || errors.Is(err, transport.ErrProof)
			})
			read := map[uint64]*leasefile.Reader{}
			for id, m := range members {
				r, err := leasefile.Open(m.lease)
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				read[uint64(id+1)] = r
			}
			if _, _, valid := read[first].Valid(); !valid {
				t.Error("the lease file of the leader is not valid")
			}
			switch leader := members[first-1]; does {
			case "killed":
				syscall.Kill(leader.pid, syscall.SIGKILL)
			case "terminated":
				leader.Process.Signal(syscall.SIGTERM) // to the warden, which passes it on
			case "stopped":
				syscall.Kill(leader.pid, syscall.SIGSTOP)
			default:
				syscall.Kill(others[0].pid, syscall.SIGSTOP) // no leader, so its warden lets it be
				for leader.line(t) != "hangs" {
				}
				syscall.Kill(others[0].pid, syscall.SIGCONT)
			}
			others[0].leader(t, first)
			if _, _, valid := read[first].Valid(); valid {
				t.Error("the lease file of the first leader is valid when another one leads")
			}
			second := agreed(t, others, first)
			eventually(t, "the lease file of the second leader is valid", func() bool {
				_, _, valid := read[second].Valid()
				return valid
			})
		})
	}
}

// lease is the lease file of the member.
func (s setup) lease() string { return filepath.Join(filepath.Dir(s.Data), "lease") }

// addresses returns the setup of a group of n.
func addresses(t *testing.T, n int) (s setup) {
	t.Helper()
	free, err := rig.FreeAddresses(n)
	if err != nil {
		t.Fatal(err)
	}
	for i, address := range free {
		s.Members = append(s.Members, ringleader.MemberAddress{ID: uint64(i + 1), Address: address})
	}
	return s
}

// start starts a member of the group, with a store.
func (s setup) start(t *testing.T, id uint64) *supervised {
	t.Helper()
	s.ID, s.Data = id, filepath.Join(t.TempDir(), "data")
	if err := ringleader.Init(s.Data, "", id); err != nil {
		t.Fatal(err)
	}
	argument, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	m := &supervised{Cmd: exec.Command(os.Args[0], string(argument)), lease: s.lease()}
	m.Env, m.SysProcAttr = append(os.Environ(), role+"=member"), &syscall.SysProcAttr{Setpgid: true}
	if s.unread {
		r, w, err := rig.FullPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { errors.Join(r.Close(), w.Close()) })
		m.Stderr = w
	}
	if s.Hangs == "halt" {
		m.Env = append(m.Env, "GODEBUG=asyncpreemptoff=1")
	}
	_, m.lines = pipes(t, m.Cmd)
	if m.pid, err = strconv.Atoi(m.line(t)); err != nil {
		t.Fatal(err)
	}
	return m
}

// The other member does not answer, and would be asked to take a proof for almost an hour.
func TestAMemberThatWasClosedNeedsNoProof(t *testing.T) {
	m := addresses(t, 2).start(t, 1)
	m.Process.Signal(syscall.SIGTERM)
	if status := m.status(); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// leader waits until a member knows a leader other than the one before.
func (s *supervised) leader(t *testing.T, before uint64) {
	t.Helper()
	for s.leads == 0 || s.leads == before {
		s.next(t)
	}
}

// next takes what a member tells next of its leader.
func (s *supervised) next(t *testing.T) {
	t.Helper()
	var role string
	s.leads, s.term = 0, 0
	fmt.Sscan(s.line(t), &role, &s.leads, &s.term)
}

// agreed waits until members know the same leader, other than the one before. On a slow machine one may tell of an earlier leader than another.
func agreed(t *testing.T, members []*supervised, before uint64) uint64 {
	t.Helper()
	for {
		latest := members[0]
		for _, m := range members {
			m.leader(t, before)
			if m.term > latest.term {
				latest = m
			}
		}
		same := true
		for _, m := range members {
			switch {
			case m.term != latest.term:
				same = false
				m.next(t)
			case m.leads != latest.leads:
				t.Fatalf("the leader of term %d is %d and %d", m.term, m.leads, latest.leads)
			}
		}
		if same {
			return latest.leads
		}
	}
}
