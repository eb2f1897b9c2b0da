package recipes_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/workbench"
)

// limit ends a wait that would be for ever.
const limit = 60 * time.Second

// TestMain lets this test binary be the programs that the recipes are about.
func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "6") // tests wait for programs more than for cores
	testscript.Main(suite{m}, map[string]func(){"ringleader": func() { workbench.Main() }, "service": serve, "fetch": fetch})
}

// suite is the tests, with no variables that members obey.
type suite struct{ *testing.M }

func (s suite) Run() int {
	rig.Environment()
	return s.M.Run()
}

// serve serves a text: service ADDRESS TEXT.
func serve() {
	signal.Ignore(syscall.SIGHUP)
	text := os.Args[2]
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		io.WriteString(w, text)
	})))
	os.Exit(1)
}

// fetch prints what a server answers: fetch URL.
func fetch() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	text, err := get(ctx, os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	fmt.Print(text)
}

// get returns the body of an answer with status 200, over a connection of its own.
func get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return string(text), err
}

// start starts a program, which ends with the test.
func start(t *testing.T, name string, arguments ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(name, arguments...)
	c.Stdout, c.Stderr = t.Output(), t.Output()
	c.WaitDelay = time.Second // for what a killed process leaves
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(c) })
	return c
}

// end kills a program with the processes of its group.
func end(c *exec.Cmd) {
	syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	c.Wait()
}

// await waits for a condition.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	const look = 20 * time.Millisecond
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for waited := time.Duration(0); !holds(); waited += look { // a machine that stands still makes no looks
		if waited > limit {
			t.Fatalf("not within %v: %s", limit, what)
		}
		<-ticker.C
	}
}

// ports of the recipes, and free ones in their place.
type ports map[string]string

func newPorts(t *testing.T) ports {
	t.Helper()
	names := []string{":7001", ":8001", ":9000", ":8000"}
	addresses, err := rig.FreeAddresses(len(names))
	if err != nil {
		t.Fatal(err)
	}
	p := ports{}
	for i, name := range names {
		_, port, _ := net.SplitHostPort(addresses[i])
		p[name] = ":" + port
	}
	return p
}

// here returns the text of a recipe with addresses of this machine: 127.0.0.N in place of 10.0.0.N.
func (p ports) here(text string) string {
	text = strings.ReplaceAll(text, "10.0.0.", "127.0.0.")
	for name, port := range p {
		text = strings.ReplaceAll(text, name, port)
		text = strings.ReplaceAll(text, "port "+name[1:], "port "+port[1:])
	}
	return text
}

// recipe writes a recipe with addresses of this machine into a file.
func (p ports) recipe(t *testing.T, name string) (file string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(p.here(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// member returns the arguments that run member id: those of join or, with a command, of exec.
func member(t *testing.T, id int, command ...string) []string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "new")
	if err := ringleader.Init(data, "jobs", uint64(id)); err != nil {
		t.Fatal(err)
	}
	verb := "join"
	if len(command) > 0 {
		verb, command = "exec", append([]string{"--"}, command...)
	}
	return append([]string{
		verb, "--group", "jobs", "--id", strconv.Itoa(id), "--data", data, "--http", fmt.Sprintf("10.0.0.%d:8001", id), "--http-host", "localhost",
		"--member", "1=10.0.0.1:7001", "--member", "2=10.0.0.2:7001", "--member", "3=10.0.0.3:7001",
	}, command...)
}

// local starts member id on this machine.
func (p ports) local(t *testing.T, id int, command ...string) *exec.Cmd {
	t.Helper()
	arguments := member(t, id, command...)
	for i := range arguments {
		arguments[i] = p.here(arguments[i])
	}
	return start(t, "ringleader", arguments...)
}

// leader waits until one of the members leads, other than a given one, and returns it.
func (p ports) leader(t *testing.T, other int) (id int) {
	t.Helper()
	await(t, "a member leads", func() bool {
		for id = 1; id <= 3; id++ {
			if _, err := get(t.Context(), p.here(fmt.Sprintf("http://10.0.0.%d:8001/leader", id))); err == nil && id != other {
				return true
			}
		}
		return false
	})
	return id
}

// follows checks that a front end sends requests to the leader only, before and after its death.
func (p ports) follows(t *testing.T, members []*exec.Cmd) {
	t.Helper()
	front := p.here("http://10.0.0.10:8000/")
	answers := func(id int) bool {
		text, err := get(t.Context(), front)
		return err == nil && text == fmt.Sprintf("member %d", id)
	}
	first := 0
	await(t, "only the leader answers", func() bool { // a front end takes all for live before its first checks
		first = p.leader(t, 0) // on a machine that stalls it may be another one now
		for range 30 {
			if !answers(first) {
				return false
			}
		}
		return true
	})
	end(members[first-1])
	await(t, "the next leader answers", func() bool { return answers(p.leader(t, first)) })
}

func TestHAProxySendsConnectionsToTheLeader(t *testing.T) {
	t.Parallel()
	needs.Program(t, "haproxy", "haproxy")
	p := newPorts(t)
	var members []*exec.Cmd
	for id := 1; id <= 3; id++ {
		members = append(members, p.local(t, id))
		start(t, "service", p.here(fmt.Sprintf("10.0.0.%d:9000", id)), fmt.Sprintf("member %d", id))
	}
	start(t, "haproxy", "-db", "-f", p.recipe(t, "haproxy.cfg"))
	p.follows(t, members)
}

func TestHAProxySendsRequestsToTheServiceThatRunsOnTheLeaderOnly(t *testing.T) {
	t.Parallel()
	needs.Program(t, "haproxy", "haproxy")
	p := newPorts(t)
	var members []*exec.Cmd
	for id := 1; id <= 3; id++ {
		members = append(members, p.local(t, id, "service", fmt.Sprintf("10.0.0.%d:9000", id), fmt.Sprintf("member %d", id)))
	}
	start(t, "haproxy", "-db", "-f", p.recipe(t, "haproxy-http.cfg"))
	p.follows(t, members)
}

func TestNginxFindsTheServiceThatRunsOnTheLeaderOnly(t *testing.T) {
	t.Parallel()
	needs.Program(t, "nginx", "nginx-light")
	p := newPorts(t)
	var members []*exec.Cmd
	for id := 1; id <= 3; id++ {
		members = append(members, p.local(t, id, "service", fmt.Sprintf("10.0.0.%d:9000", id), fmt.Sprintf("member %d", id)))
	}
	p.nginx(t)
	p.follows(t, members)
}

// nginx starts nginx with its recipe, in which each second text of changes takes the place of the one before it, and returns the file of its errors.
func (p ports) nginx(t *testing.T, changes ...string) (errorLog string) {
	t.Helper()
	file := p.recipe(t, "nginx.conf")
	folder := filepath.Dir(file)
	config, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// As a package has it, nginx writes where only root may.
	const own = "http {\n    access_log off; error_log own/errors; client_body_temp_path own/body; proxy_temp_path own/proxy; fastcgi_temp_path own/fastcgi; scgi_temp_path own/scgi; uwsgi_temp_path own/uwsgi;\n"
	for change := range slices.Chunk(append(changes, "http {\n", own), 2) {
		if bytes.Count(config, []byte(change[0])) != 1 {
			t.Fatalf("the recipe does not have %q once", change[0])
		}
		config = bytes.Replace(config, []byte(change[0]), []byte(change[1]), 1)
	}
	if err := errors.Join(os.WriteFile(file, config, 0o600), os.Mkdir(filepath.Join(folder, "own"), 0o700)); err != nil {
		t.Fatal(err)
	}
	start(t, "nginx", "-e", "stderr", "-p", folder, "-c", file, "-g", "daemon off; pid nginx.pid; user root;") // workers of another user have no way into the folder
	await(t, "nginx listens", func() bool {
		c, err := net.Dial("tcp", p.here("10.0.0.10:8000"))
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
	return filepath.Join(folder, "own", "errors")
}

// send sends a request to the front end, over a connection of its own, and returns the status of the answer.
func (p ports) send(t *testing.T, method, path, body string) (status int) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, p.here("http://10.0.0.10:8000")+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: limit}
	response, err := client.Do(request)
	if err != nil {
		t.Error(err)
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// atLeast is how long a request waits in nginx that no member takes: three seconds, less what the clock of nginx may be late, which it reads once for
// many requests.
const atLeast = 2500 * time.Millisecond

// leads lets member 2 take requests until the test ends, and the others refuse them.
func (p ports) leads(t *testing.T, handler http.HandlerFunc) {
	t.Helper()
	l, err := net.Listen("tcp", p.here("10.0.0.2:9000"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}
	server.Start()
	t.Cleanup(server.Close)
}

func TestARequestWaitsInNginxUntilAMemberTakesIt(t *testing.T) {
	t.Parallel()
	needs.Program(t, "nginx", "nginx-light")
	p := newPorts(t)
	errorLog := p.nginx(t, "auth_delay 2s", "auth_delay 60s") // a machine that stalls comes in time, too
	const path = "/a%2Fb?c=d"
	body := strings.Repeat("a body that is no part of the header in memory ", 10000)
	status := make(chan int)
	go func() { status <- p.send(t, http.MethodPost, path, body) }()
	await(t, "all members have refused the request", func() bool {
		text, err := os.ReadFile(errorLog)
		return err == nil && bytes.Count(text, []byte("Connection refused")) >= 3
	})
	var taken atomic.Int64
	p.leads(t, func(w http.ResponseWriter, r *http.Request) {
		taken.Add(1)
		if text, err := io.ReadAll(r.Body); err != nil || string(text) != body || r.Method != http.MethodPost || r.RequestURI != path {
			t.Errorf("%s %s arrived with %d bytes, error %v; sent were %d", r.Method, r.RequestURI, len(text), err, len(body))
		}
		w.WriteHeader(http.StatusAccepted)
	})
	if got := <-status; got != http.StatusAccepted || taken.Load() != 1 {
		t.Errorf("the request arrived %d times, and the answer is %d", taken.Load(), got)
	}
}

func TestRequestsThatNoMemberTakesFailInNginxAfterThreeSeconds(t *testing.T) {
	t.Parallel()
	needs.Program(t, "nginx", "nginx-light")
	p := newPorts(t)
	errorLog := p.nginx(t)
	const requests = 600 // more than the connections that nginx has by itself
	var all sync.WaitGroup
	for range requests {
		all.Go(func() {
			begun := time.Now()
			status := p.send(t, http.MethodPost, "/", "a write")
			if took := time.Since(begun); status != http.StatusBadGateway || took < atLeast {
				t.Errorf("the answer is %d after %v", status, took)
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(errorLog)
	if lines := bytes.Count(text, []byte("Connection refused")); err != nil || lines != 6*requests {
		t.Errorf("nginx tells of %d refused connections, error %v; those of the first and the last try are %d", lines, err, 6*requests)
	}
	if status := p.send(t, http.MethodGet, "/.wait", ""); status != http.StatusNotFound {
		t.Errorf("a client that asks for the pause gets %d", status)
	}
}

func TestARequestWaitsInNginxForMembersWhoseMachinesDoNotAnswer(t *testing.T) {
	t.Parallel()
	needs.Program(t, "nginx", "nginx-light")
	p := newPorts(t)
	p.nginx(t, "proxy_connect_timeout 500ms", "proxy_connect_timeout 50ms")
	for id := 1; id <= 3; id++ {
		silent(t, p.here(fmt.Sprintf("10.0.0.%d:9000", id)))
	}
	begun := time.Now()
	status := p.send(t, http.MethodPost, "/", "a write")
	if took := time.Since(begun); status != http.StatusGatewayTimeout || took < atLeast {
		t.Errorf("the answer is %d after %v", status, took)
	}
}

// silent lets an address answer no connection, as that of a machine without power does: the queue of its listener is full.
func silent(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	const room = 0 // for one connection
	if err := raw.Control(func(fd uintptr) { err = syscall.Listen(int(fd), room) }); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
}

func TestNginxSendsARequestThatBrokeAgainOnlyIfItMayArriveTwice(t *testing.T) {
	t.Parallel()
	needs.Program(t, "nginx", "nginx-light")
	breaking := func(t *testing.T) (p ports, taken *atomic.Int64) {
		t.Helper()
		p, taken = newPorts(t), &atomic.Int64{}
		p.nginx(t)
		p.leads(t, func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			taken.Add(1)
			panic(http.ErrAbortHandler) // closes the connection
		})
		return p, taken
	}
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		p, taken := breaking(t)
		for _, method := range []string{http.MethodPost, http.MethodPatch, "LOCK", "CHARGE"} { // nginx does not know the last one
			taken.Store(0)
			if status := p.send(t, method, "/", "a write"); status != http.StatusBadGateway || taken.Load() != 1 {
				t.Errorf("%s that broke was sent %d times, and the answer is %d", method, taken.Load(), status)
			}
		}
	})
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		t.Run(method, func(t *testing.T) { // each waits for seconds
			t.Parallel()
			p, taken := breaking(t)
			await(t, method+" that broke is sent six times", func() bool { // in five seconds, which a machine that stalls may not have
				taken.Store(0)
				return p.send(t, method, "/", "") == http.StatusBadGateway && taken.Load() == 6
			})
		})
	}
}

func TestNginxSendsARequestThatHungNotAgain(t *testing.T) {
	t.Parallel()
	needs.Program(t, "nginx", "nginx-light")
	p := newPorts(t)
	p.nginx(t, "[0-4]", "[0]", "proxy_connect_timeout 500ms;", "proxy_connect_timeout 500ms; proxy_read_timeout 1100ms;")
	var taken atomic.Int64
	p.leads(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		taken.Add(1)
		<-r.Context().Done()
	})
	if status := p.send(t, http.MethodPut, "/", "a write"); status != http.StatusBadGateway || taken.Load() != 1 {
		t.Errorf("the request was sent %d times, and the answer is %d", taken.Load(), status)
	}
}
