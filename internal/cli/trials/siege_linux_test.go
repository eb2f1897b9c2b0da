package trials

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/cli/clitest"
)

// siege is an attack on the ports of members.
type siege struct {
	idle, busy, slow, watching int
	noise                      int64 // bytes
}

// mostGrowth is by how many bytes a siege may raise the largest memory that a member has ever used.
const mostGrowth = 20 << 20

// mostFiles is how many files a leader may have open: 64 connections at each of its three listeners for clients and twice for
// peers, which are closed a moment later than the next ones are taken, and some more.
const mostFiles = 480

// besieged are the places at which a member listens.
type besieged struct{ peer, http, https, socket place }

type place struct{ network, address string }

func (p place) dial() (net.Conn, error) { return net.DialTimeout(p.network, p.address, clitest.Limit) }

func TestManyClientsAndNoiseChangeNeitherTheLeaderNorTheMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has memory of its own, and the members run nothing of this test's process")
	}
	s, timing := siege{idle: 1200, busy: 60, slow: 20, watching: 20, noise: 32 << 20}, []string{"--lease", "1m", "--stall", "1m", "--hang", "0"}
	if *long {
		s, timing = siege{idle: 10_000, busy: 1000, slow: 200, watching: 100, noise: 1 << 30}, []string{"--lease", "500ms", "--stall", "1s"}
	}
	var files syscall.Rlimit // Go has raised it as far as it may
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	if needed := uint64(s.idle+s.busy+s.slow+s.watching) + 500; files.Cur < needed {
		t.Skipf("the clients need %d open files, and this process may have %d: ulimit -Hn", needed, files.Cur)
	}
	g := newTrio(t)
	var members []besieged
	var processes [][]string
	for i := range 3 {
		command := exec.Command("ringleader", append(append([]string{"join"}, g.flags(i+1)...), timing...)...)
		command.SysProcAttr, command.Stderr = &syscall.SysProcAttr{Setpgid: true}, t.Output()
		command.Env = append(os.Environ(), "GOGC=100", "GOMEMLIMIT=off", "GOMAXPROCS=4") // else the limit would be one of the machine
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		defer command.Wait()
		defer command.Process.Kill()
		processes = append(processes, []string{strconv.Itoa(command.Process.Pid)})
		members = append(members, besieged{
			place{"tcp", strings.TrimPrefix(g.members[2*i+1], fmt.Sprintf("%d=", i+1))},
			place{"tcp", g.http[i]},
			place{"tcp", g.https[i]},
			place{"unix", filepath.Join(g.data[i], "control.sock")},
		})
	}
	before := g.agreed()
	for i, warden := range processes {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%s/task/*/children", warden[0]))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range threads {
			processes[i] = append(processes[i], strings.Fields(string(clitest.Contents(t, file)))...)
		}
		if len(processes[i]) != 2 {
			t.Fatalf("a member and its warden are the processes %q", processes[i])
		}
	}
	least := peaks(t, processes)
	if *long {
		stepBack(t)
	}
	begun := time.Now()
	leader := int(*before.Leader - 1)
	answers := s.lay(t, members, leader, func() {
		if files, err := filepath.Glob("/proc/" + processes[leader][1] + "/fd/*"); err != nil || len(files) > mostFiles || len(files) < 10 {
			t.Errorf("the leader has %d files open: %v", len(files), err)
		}
	})
	t.Logf("%v, %d answers", time.Since(begun).Round(time.Second), answers)
	if answers == 0 {
		t.Error("no busy client has had an answer")
	}
	if after := g.agreed(); *after.Leader != *before.Leader || after.Term != before.Term {
		t.Errorf("member %d leads in term %d; before, member %d in term %d", *after.Leader, after.Term, *before.Leader, before.Term)
	}
	for i, peak := range peaks(t, processes) {
		t.Logf("member %d: %.1f MB before, %.1f MB at most", i+1, float64(least[i])/1e6, float64(peak)/1e6)
		if peak-least[i] > mostGrowth {
			t.Errorf("member %d takes %d bytes more", i+1, peak-least[i])
		}
	}
}

// peaks returns the largest memory that each member has had, with its warden, in bytes.
func peaks(t *testing.T, processes [][]string) (peaks []int64) {
	t.Helper()
	for _, pids := range processes {
		peak := int64(0)
		for _, pid := range pids {
			_, line, _ := strings.Cut(string(clitest.Contents(t, "/proc/"+pid+"/status")), "VmHWM:")
			kb, err := strconv.ParseInt(strings.Fields(line + " none")[0], 10, 64)
			if err != nil {
				t.Fatalf("process %s: %v", pid, err)
			}
			peak += kb << 10
		}
		peaks = append(peaks, peak)
	}
	return peaks
}

// stepBack lets this process run only when no other one wants to. Clients would be on other machines; here they are to take
// no time of the members.
func stepBack(t *testing.T) {
	t.Helper()
	threads, err := filepath.Glob("/proc/self/task/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(filepath.Base(thread))
		if err != nil {
			t.Fatal(err)
		}
		_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, 19) // fails if the thread has ended meanwhile
	}
}

// lay lays the siege until all noise is made and a busy client has had an answer, and returns the number of answers. Clients call the leader; noise
// is made at all ports. At the end, with all clients there, it looks.
func (s siege) lay(t *testing.T, members []besieged, leader int, look func()) int64 {
	ctx, end := context.WithCancel(t.Context())
	defer end()
	at := members[leader]
	var clients, connected, noisy sync.WaitGroup
	dialing := make(chan struct{}, 64)
	connected.Add(s.idle)
	for i := range s.idle {
		dialing <- struct{}{}
		clients.Go(func() {
			conn, err := []place{at.http, at.https, at.peer, at.http}[i%4].dial()
			<-dialing
			connected.Done()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			<-ctx.Done()
		})
	}
	connected.Wait()
	var answers atomic.Int64
	answered := make(chan struct{})
	for range s.busy {
		clients.Go(func() {
			ask(ctx, at.http, func() {
				if answers.Add(1) == 1 {
					close(answered)
				}
			})
		})
	}
	for range s.slow {
		clients.Go(func() { dawdle(ctx, at.http) })
	}
	for i := range s.watching {
		clients.Go(func() { watchUnread(ctx, []place{at.http, at.socket}[i%2]) })
	}
	var left atomic.Int64
	left.Store(s.noise)
	for i, m := range members {
		for j, p := range []place{m.peer, m.http, m.https, m.socket} {
			random := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			noisy.Go(func() { noise(t, p, random, &left) })
		}
	}
	noisy.Wait()
	select {
	case <-answered: // the server paces new connections, and takes the idle ones first
	case <-time.After(clitest.Limit):
	}
	look()
	end()
	clients.Wait()
	return answers.Load()
}

// ask asks again and again, over a new connection when the member closes one, and tells each answer.
func ask(ctx context.Context, p place, answered func()) {
	client := &http.Client{Transport: &http.Transport{}, Timeout: clitest.Limit}
	defer client.CloseIdleConnections()
	for i := 0; ctx.Err() == nil; i++ {
		path := []string{"/leader", "/status", "/metrics", "/healthz", "/readyz"}[i%5]
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+path, nil)
		if err != nil {
			panic(err)
		}
		response, err := client.Do(request)
		if err != nil {
			continue
		}
		if _, err := io.Copy(io.Discard, response.Body); err == nil {
			answered()
		}
		response.Body.Close()
	}
}

// dawdle sends a request byte by byte, and begins again when the member closes the connection.
func dawdle(ctx context.Context, p place) {
	for ctx.Err() == nil {
		conn, err := p.dial()
		if err != nil {
			return
		}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		_, err = io.WriteString(conn, "GET /status HTTP/1.1\r\nHost: localhost\r\nX: ")
		for tick := time.NewTicker(100 * time.Millisecond); err == nil; <-tick.C {
			_, err = conn.Write([]byte("x"))
		}
		stop()
		conn.Close()
	}
}

// watchUnread asks for a stream of changes, and reads none of it but the first line.
func watchUnread(ctx context.Context, p place) {
	conn, err := p.dial()
	if err != nil {
		return
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	io.WriteString(conn, "GET /watch HTTP/1.1\r\nHost: localhost\r\n\r\n")
	bufio.NewReaderSize(conn, 16).ReadString('\n')
	<-ctx.Done()
}

// prefixes begin what a listener could take for its protocol: nothing, HTTP, a header without end, records of TLS, and the
// protocol of members, each before random bytes.
var prefixes = []string{
	"", "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n", "POST /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n",
	"GET / HTTP/1.1\r\nX: ", "\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03", "\x16\x03\x03\xff\xff", "\x17\x03\x03\x40\x00", "ringldr\x04",
}

// noise writes random bytes to a place, over a new connection whenever the member has closed one, until no bytes are left to
// write.
func noise(t *testing.T, p place, random *rand.Rand, left *atomic.Int64) {
	chunk := make([]byte, 1<<16)
	for i := 0; left.Load() > 0; i++ {
		conn, err := p.dial()
		if errors.Is(err, syscall.EAGAIN) { // a socket whose queue is full
			continue
		}
		if err != nil {
			t.Error(err)
			return
		}
		n, err := io.WriteString(conn, prefixes[i%len(prefixes)])
		for total := n; err == nil && total < 1<<20 && left.Add(-int64(n)) > 0; total += n {
			for j := range chunk {
				chunk[j] = byte(random.Uint32())
			}
			conn.SetWriteDeadline(time.Now().Add(time.Second)) // a listener need not read
			n, err = conn.Write(chunk)
		}
		conn.Close()
	}
}
