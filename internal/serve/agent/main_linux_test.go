package agent_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/internal/serve/agent"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/serve/warden"
)

// The variables of the environment by which this binary knows that it is not a test, and where the processes of a command
// write their beats.
const (
	role  = "AGENT_TEST"
	beats = "AGENT_TEST_BEATS"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") { // those of a test
		os.Unsetenv(role) // a command of a member is none
		agent.Be()
	}
	switch as := os.Getenv(role); {
	case strings.HasPrefix(as, "{"):
		beMember(as)
	case len(os.Args) > 1 && os.Args[1] == "trace":
		trace()
	case len(os.Args) > 2 && os.Args[1] == "command":
		beCommand(os.Args[2:])
	}
	rig.Environment()
	// What a member leaves behind becomes a child of this process, where a test finds it.
	if err := warden.Adopt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	flag.Parse()
	parallel := "12"     // tests wait for processes more than for cores
	if testing.Short() { // CI searches for races so: eight groups of slow processes that start together did not elect within a minute
		parallel = "3"
	}
	_ = flag.Set("test.parallel", parallel)
	os.Exit(m.Run())
}

// spec is what a process of a member is told.
type spec struct {
	ID      uint64
	Members []ringleader.MemberAddress
	Listen  string
	Data    string
	Timing  ringleader.Timing
	Command []string
	OnExit  agent.OnExit
	Hooks   agent.Hooks
	Health  agent.Health
	Stop    time.Duration
	Warden  bool

	Interval    time.Duration // of health checks; 0: a tenth of a lease
	Patience    time.Duration // with a health check; 0: two leases
	NoNamespace bool
	User        string
	Warm        string
	Ready       agent.Ready
}

// beMember runs a member with its command.
func beMember(text string) {
	var s spec
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	if s.Warden {
		if err := ringleader.Warden(); err != nil {
			panic(err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	member := ringleader.Config{ID: s.ID, Members: s.Members, Listen: s.Listen, Data: s.Data, Timing: s.Timing}
	member.Health = ringleader.HealthCheck{Interval: cmp.Or(s.Interval, lease/10), Timeout: cmp.Or(s.Patience, 2*lease), Rise: 2, Fall: 2}
	member.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	a, life, err := agent.Start(ctx, agent.Config{
		Member: member, Command: s.Command, OnExit: s.OnExit, Backoff: 20 * time.Millisecond, StopTimeout: s.Stop, Hooks: s.Hooks, Health: s.Health,
		NoNamespace: s.NoNamespace, User: s.User, Warm: s.Warm, Ready: s.Ready,
	}, ringleader.Join)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status, err := a.Exec(life)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	a.Close()
	os.Exit(status)
}

// beat is a sign of life of a process of a command.
type beat struct {
	At   time.Duration // a reading of CLOCK_BOOTTIME
	Term uint64
	Kind string
	PID  int

	within int // what PID was in its own namespace, once that has been found outside of it
}

// awaitFile returns when a file is there.
func awaitFile(name string) {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for _, err := os.Stat(name); err != nil; _, err = os.Stat(name) {
		<-ticker.C
	}
}

// trace traces a process whose parent has ended, until the input ends.
func trace() {
	runtime.LockOSThread()
	child, err := exec.Command("/bin/sh", "-c", "sleep 1234 >/dev/null 2>&1 & echo $!").Output()
	pid, _ := strconv.Atoi(strings.TrimSpace(string(child)))
	const seize = 0x4206
	if _, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, seize, uintptr(pid), 0, 0, 0, 0); err != nil || errno != 0 {
		fmt.Println(err, errno)
		os.Exit(1)
	}
	fmt.Println("traces", pid)
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// beCommand is a process of a command. Its words are what it does before it beats for ever.
func beCommand(words []string) {
	for _, word := range words {
		word, value, _ := strings.Cut(word, "=")
		switch word {
		case "await": // a file
			awaitFile(value)
		case "notify": // as sd_notify does
			conn, err := net.Dial("unixgram", os.Getenv("NOTIFY_SOCKET"))
			if err != nil {
				panic(err)
			}
			fmt.Fprint(conn, "READY=1")
		case "warm": // and not beat
			for {
				_ = syscall.Pause()
			}
		case "listen": // at an address
			if _, err := net.Listen("tcp", value); err != nil {
				panic(err)
			}
		case "deaf":
			signal.Ignore(syscall.SIGTERM)
		case "status":
			os.Exit(7)
		case "fork": // and leave a process in a session of its own
			daemon := exec.Command(os.Args[0], "command", "deaf", "daemon")
			daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := daemon.Start(); err != nil {
				panic(err)
			}
			os.Exit(0)
		case "forks":
			if err := exec.Command(os.Args[0], "command", "fork").Run(); err != nil {
				panic(err)
			}
		case "copy": // pass the standard input on
			io.Copy(os.Stdout, os.Stdin)
			os.Exit(3)
		}
	}
	b := beat{Kind: words[len(words)-1], PID: os.Getpid()}
	fmt.Sscan(os.Getenv("RINGLEADER_TERM"), &b.Term)
	file, err := os.OpenFile(os.Getenv(beats), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	system := clock.System()
	for ticker := time.NewTicker(5 * time.Millisecond); ; <-ticker.C {
		b.At = system.Boottime()
		line, err := json.Marshal(b)
		if err != nil {
			panic(err)
		}
		// A kill may cut the line of another process short, before its end.
		if _, err := fmt.Fprintf(file, "\n%s\n", line); err != nil {
			os.Exit(1)
		}
	}
}
