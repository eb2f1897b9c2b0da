package trials

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/brokertest"
	"ringleader.example/ringleader/internal/study/cluster"
	"ringleader.example/ringleader/internal/study/work"
)

// natsServer starts a server, and returns its URL. Without other settings it has the token of this user, as the servers that commands start.
func natsServer(t *testing.T, s broker.Settings) string {
	t.Helper()
	if s.Token == "" {
		var err error
		if s.Token, err = labour.OwnToken(); err != nil {
			t.Fatal(err)
		}
	}
	s.Listen, s.Store = "127.0.0.1:0", t.TempDir()
	server, err := broker.Start(brokertest.Program(t), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server.URL()
}

// embeds lets commands of tests, in this process and in others, start servers.
func embeds(t *testing.T) {
	t.Helper()
	folder := filepath.Dir(brokertest.Program(t))
	inPath.Do(func() { _ = os.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH")) })
}

var inPath sync.Once

func TestScriptsOfWorkers(t *testing.T) {
	t.Parallel()
	clitest.OnlyComputes(t)
	embeds(t)
	testscript.Run(t, clitest.Scripts("testdata/workers", nil))
}

// stream takes what is printed, and can be read meanwhile.
type stream struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (s *stream) Write(b []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.Write(b)
}

func (s *stream) String() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.String()
}

// background is a command that runs in this process.
type background struct {
	stdout, stderr stream
	interrupt      context.CancelFunc
	ended          chan int // its exit status
}

func runs(t *testing.T, args ...string) *background {
	t.Helper()
	r := &background{ended: make(chan int, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	r.interrupt = cancel
	over := make(chan struct{})
	go func() {
		r.ended <- cli.Run(ctx, "ringleader", all.Algorithms, args, strings.NewReader(""), &r.stdout, &r.stderr, func(string) string { return "" })
		close(over)
	}()
	t.Cleanup(func() { cancel(); <-over })
	return r
}

// labourer starts a worker, and waits until it computes.
func labourer(t *testing.T, url string, args ...string) *background {
	t.Helper()
	r := runs(t, append([]string{"worker", "--nats", url, "--cores", "2"}, args...)...)
	clitest.Await(t, "the worker does not begin", func() bool { return strings.Contains(r.stdout.String(), "worker of version") })
	return r
}

// listed is a job as jobs list --json prints it.
type listed struct {
	Job, State string
	Units      uint64
	Done       uint64 `json:"units_done"`
}

// list returns what jobs list --json prints of a server.
func list(url string) (jobs []listed, err error) {
	code, stdout, stderr := clitest.Call("jobs", "list", "--json", "--nats", url)
	found := struct{ Jobs *[]listed }{&jobs}
	if err := json.Unmarshal([]byte(stdout), &found); err != nil || code != report.ExitFine {
		return nil, fmt.Errorf("exit status %d, %s%s: %w", code, stdout, stderr, err)
	}
	return jobs, nil
}

// jobsOf returns the jobs of a server.
func jobsOf(t *testing.T, url string) (jobs []listed) {
	t.Helper()
	var err error
	for range 5 { // a machine without a processor to spare may let a connection time out, and to list jobs changes none
		if jobs, err = list(url); err == nil {
			return jobs
		}
	}
	t.Fatal(err)
	return nil
}

func TestWorkOfEveryKindByWorkersPrintsWhatTheCommandPrints(t *testing.T) {
	clitest.OnlyComputes(t)
	t.Parallel()
	url := natsServer(t, broker.Settings{})
	labourer(t, url)
	for _, line := range append(worked, "compare itai-rodeh --n 4,8 --until 20%", "verify peterson --n 3 --start all") {
		args := append(strings.Fields(line), "--json")
		wantCode, want, wantErr := once(line + " --json")
		if code, stdout, stderr := clitest.Call(append(args, "--nats", url)...); code != wantCode || stdout != want || orderly(stderr) != wantErr {
			t.Errorf("%s: exit status %d, %s%s\nwant %d, %s%s", args, code, stdout, stderr, wantCode, want, wantErr)
		}
	}
	if jobs := jobsOf(t, url); len(jobs) > 0 {
		t.Errorf("commands have printed their output, and the server has %v", jobs)
	}
}

// slowNotice is a line that a command or a worker prints where it has had no processor for seconds.
var slowNotice = regexp.MustCompile(`(?m)^ringleader: (no workers; start some with: .*|the connection to NATS server .* is lost.*|connected to NATS server .* again)\n`)

// orderly is what was printed, without what depends on the machine.
func orderly(stderr string) string { return slowNotice.ReplaceAllString(stderr, "") }

func TestAJobThatIsInterruptedIsResumed(t *testing.T) {
	t.Parallel()
	url := natsServer(t, broker.Settings{})
	line := strings.Fields("verify chang-roberts --n 6 " + narrow) // the job is of lcr, and its call is shown
	command := runs(t, append(line, "--nats", url)...)
	clitest.Await(t, "there is no job", func() bool { return len(jobsOf(t, url)) == 1 })
	key := jobsOf(t, url)[0].Job
	if code, _, stderr := clitest.Call(append(line, "--nats", url)...); code != report.ExitNo || !strings.Contains(stderr, "this job runs already, on ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("the same job once more: exit status %d, %q", code, stderr)
	}
	command.interrupt()
	says := fmt.Sprintf("ringleader: stopped with 0 of 120 orders, which the server keeps; the same command continues, or ringleader jobs resume %.12s --nats %s\n", key, url)
	code, said := <-command.ended, orderly(command.stderr.String())
	if code != report.ExitIncomplete || command.stdout.String() != "" || said != says {
		t.Errorf("exit status %d, %q and %q; want %q", code, command.stdout.String(), said, says)
	}
	if code, stdout, _ := clitest.Call("jobs", "show", key[:4], "--nats", url); code != report.ExitFine || !strings.Contains(stdout, "stopped: no command gathers its results") ||
		!strings.Contains(stdout, "ringleader verify chang-roberts --n 6 "+narrow+"\n") {
		t.Errorf("exit status %d, %s", code, stdout)
	}
	labourer(t, url)
	if code, _, stderr := clitest.Call("jobs", "resume", key[:4], "--nats", url, "--", "--n", "5"); code != report.ExitUsage || !strings.Contains(stderr, "flags after -- choose how results are shown") {
		t.Errorf("another job: exit status %d, %q", code, stderr)
	}
	_, want, _ := clitest.Call(append(line, "--json")...)
	if code, stdout, stderr := clitest.Call("jobs", "resume", key[:4], "--nats", url, "--", "--json"); code != report.ExitFine || stdout != want || orderly(stderr) != "" {
		t.Errorf("exit status %d, %s%s\nwant %s", code, stdout, stderr, want)
	}
	if code, _, stderr := clitest.Call("jobs", "resume", key[:4], "--nats", url); code != report.ExitNo || !strings.Contains(stderr, "no such job: "+key[:4]) {
		t.Errorf("a job that is done: exit status %d, %q", code, stderr)
	}
}

// Results are worth hours: the job stays until its output is written.
func TestAJobStaysUntilItsOutputIsWritten(t *testing.T) {
	t.Parallel()
	url := natsServer(t, broker.Settings{})
	labourer(t, url)
	args := append(strings.Fields("compare lcr --n 4..16 --orders 10 --nats"), url)
	if code := cli.Run(t.Context(), "ringleader", all.Algorithms, args, strings.NewReader(""), clitest.Full{}, io.Discard, os.Getenv); code != report.ExitNo {
		t.Errorf("exit status %d", code)
	}
	jobs := jobsOf(t, url)
	if len(jobs) != 1 || jobs[0].State != "complete" {
		t.Fatalf("the server has %v", jobs)
	}
	code, stdout, stderr := clitest.Call("jobs", "resume", jobs[0].Job, "--nats", url)
	if _, want, _ := clitest.Call(args[:len(args)-2]...); code != report.ExitFine || stdout != want {
		t.Errorf("exit status %d, %s%s\nwant %s", code, stdout, stderr, want)
	}
}

func TestAJobThatIsCancelledIsGone(t *testing.T) {
	t.Parallel()
	url := natsServer(t, broker.Settings{})
	command := runs(t, append(strings.Fields("verify lcr --n 6 "+narrow), "--nats", url)...)
	clitest.Await(t, "there is no job", func() bool { return len(jobsOf(t, url)) == 1 })
	key := jobsOf(t, url)[0].Job
	code, stdout, _ := clitest.CallWith(map[string]string{"COLUMNS": "200"}, "jobs", "cancel", key[:6], "--nats", url)
	if want := fmt.Sprintf("job %.12s is removed, with the results of 0 units: ringleader verify lcr --n 6 %s\n", key, narrow); code != report.ExitFine || stdout != want {
		t.Errorf("exit status %d, %q; want %q", code, stdout, want)
	}
	if code, want := <-command.ended, fmt.Sprintf("ringleader: job %.12s was cancelled\n", key); code != report.ExitIncomplete || orderly(command.stderr.String()) != want {
		t.Errorf("exit status %d, %q; want %q", code, command.stderr.String(), want)
	}
	if jobs := jobsOf(t, url); len(jobs) > 0 {
		t.Errorf("the server has %v", jobs)
	}
}

// connected returns a connection to a server.
func connected(t *testing.T, url string) *cluster.Conn {
	t.Helper()
	token, err := labour.OwnToken()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := cluster.Connect(t.Context(), cluster.Access{URL: url, Token: token}, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// left returns a job of a version, whose command has died.
func left(t *testing.T, url, version string) work.Job {
	t.Helper()
	commander := cluster.Commander{Conn: connected(t, url)}
	job := work.Job{Kind: "verify", Spec: json.RawMessage(`["lcr","--n=4","--reorder=true","--start=any"]`), Version: version}
	if err := commander.Begin(t.Context(), job, 6, "ringleader verify lcr --n 4 --reorder --start any"); err != nil {
		t.Fatal(err)
	}
	commander.Leave()
	return job
}

func TestAJobOfAnotherVersionIsListedAndNotResumed(t *testing.T) {
	t.Parallel()
	url := natsServer(t, broker.Settings{})
	job := left(t, url, "old")
	code, _, stderr := clitest.Call("jobs", "resume", job.Key()[:5], "--nats", url)
	if want := "is of version old, and this is version " + labour.Version(plan.VersionName()); code != report.ExitNo || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit status %d, %q; want %q", code, stderr, want)
	}
	conn := connected(t, url)
	ctx, stop := context.WithCancel(t.Context())
	worker := cluster.Worker{Conn: conn, Cores: 3, Version: "old"}
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	defer func() { stop(); <-ended }()
	clitest.Await(t, "the worker is not listed", func() bool {
		_, stdout, _ := clitest.Call("jobs", "list", "--nats", url)
		return strings.HasSuffix(stdout, "\n1 worker with 3 cores, of version old, which compute nothing for this version\n")
	})
}

func TestAWorkerWaitsForItsServerAndForItsPieces(t *testing.T) {
	t.Parallel()
	embeds(t)
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		t.Fatal(err)
	}
	url := "nats://" + addresses[0]
	worker := runs(t, "worker", "--nats", url)
	says := "ringleader: NATS server " + url + ": no server answers there; the worker waits for it\n"
	clitest.Await(t, "the worker does not wait", func() bool { return worker.stderr.String() == says })
	line := strings.Fields("compare lcr peterson --n 8..64 --orders 50 --csv")
	_, want, _ := clitest.Call(line...)
	store := filepath.Join(t.TempDir(), "new", "store")
	code, stdout, stderr := clitest.Call(append(line, "--nats", "embed", "--nats-listen", addresses[0], "--nats-store", store)...)
	if code != report.ExitFine || stdout != want || orderly(stderr) != "ringleader: workers connect with: ringleader worker --nats "+url+"\n" {
		t.Errorf("exit status %d, %s%s\nwant %s", code, stdout, stderr, want)
	}
	worker.interrupt()
	if code := <-worker.ended; code != report.ExitFine || !regexp.MustCompile(`\nstopped after \d+ pieces?\n$`).MatchString(worker.stdout.String()) {
		t.Errorf("exit status %d, %s%s", code, worker.stdout.String(), worker.stderr.String())
	}
}

func TestWhatAServerRefusesIsOneLine(t *testing.T) {
	t.Parallel()
	embeds(t)
	url := natsServer(t, broker.Settings{Token: "secret"})
	folder := t.TempDir()
	diary := filepath.Join(folder, "diary")
	empty, secret := filepath.Join(folder, "empty"), filepath.Join(folder, "secret")
	for path, text := range map[string]string{diary: "my diary\n", empty: "\n", secret: "secret\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		t.Fatal(err)
	}
	for line, says := range map[string]string{
		"URL":                                   "it refuses the credentials or the token",
		"URL --nats-token wrong":                "it refuses the credentials or the token",
		"nats://" + addresses[0]:                "no server answers there",
		"nats://host.invalid:4222":              "NATS server nats://host.invalid:4222",
		"http://127.0.0.1:4222":                 "NATS server http://127.0.0.1:4222",
		"URL --nats-credentials FOLDER/none":    "FOLDER/none",
		"URL --nats-token-file FOLDER/none":     "FOLDER/none",
		"URL --nats-token-file EMPTY":           "EMPTY holds no token",
		"URL --nats-token ringleader-token-x":   "this is none",
		"URL --nats-credentials DIARY":          "DIARY",
		"URL --nats-ca FOLDER/none":             "FOLDER/none",
		"URL --nats-certificate D --nats-key D": "NATS server",
		"tls://" + strings.TrimPrefix(url, "nats://") + " --nats-token secret":             "NATS server tls://",
		"embed --nats-store FOLDER --nats-listen " + strings.TrimPrefix(url, "nats://"):    strings.TrimPrefix(url, "nats://"),
		"embed --nats-store DIARY --nats-listen 127.0.0.1:0":                               "DIARY",
		"embed --nats-listen 127.0.0.1:0 --nats-certificate DIARY --nats-key DIARY":        "DIARY",
		"embed --nats-listen 127.0.0.1:0 --nats-certificate FOLDER/no --nats-key FOLDER/x": "FOLDER/no",
	} {
		place := strings.NewReplacer("URL", url, "FOLDER", folder, "DIARY", diary, "EMPTY", empty)
		flags := strings.Fields(place.Replace(line))
		says = place.Replace(says)
		for _, command := range []string{"compare lcr --n 4 --orders 2", "jobs list"} {
			code, stdout, stderr := clitest.Call(append(append(strings.Fields(command), "--nats"), flags...)...)
			if code != report.ExitNo || stdout != "" || !strings.Contains(stderr, says) || strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "bug") {
				t.Errorf("%s --nats %s: exit status %d, %q and %q; want %q", command, flags, code, stdout, stderr, says)
			}
		}
	}
	labourer(t, url, "--nats-token", "secret")
	labourer(t, url, "--nats-token-file", secret)
	for name, value := range map[string]string{"RINGLEADER_NATS_TOKEN": "secret", "RINGLEADER_NATS_TOKEN_FILE": secret} {
		if code, _, stderr := clitest.CallWith(map[string]string{name: value, "RINGLEADER_NATS": url}, "jobs", "list"); code != report.ExitFine {
			t.Errorf("with %s: exit status %d, %s", name, code, stderr)
		}
	}
	wrong := map[string]string{"RINGLEADER_NATS_TOKEN": "wrong", "RINGLEADER_NATS": url}
	if code, _, stderr := clitest.CallWith(wrong, "jobs", "list", "--nats-token-file", secret); code != report.ExitFine {
		t.Errorf("with a flag in place of the environment: exit status %d, %s", code, stderr)
	}
}

// Nothing is begun without the server. The line has commands that bring it.
func TestACommandThatDoesNotFindItsServerNamesTheLineThatMakesIt(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	line := append(strings.Fields("verify lcr --n 4 --nats embed --nats-listen 127.0.0.1:4223 --nats-store"), t.TempDir())
	want := "ringleader: --nats embed: ringleader-broker is neither beside this program nor in PATH; in a clone, go install -C cluster ./cmd/ringleader-broker installs it, " +
		"and go run -C cluster ./cmd/ringleader-broker --listen 127.0.0.1:4223 starts it for --nats nats://127.0.0.1:4223\n"
	if code, stdout, stderr := clitest.Call(line...); code != report.ExitNo || stdout != "" || stderr != want {
		t.Errorf("exit status %d, %q and %q; want %q", code, stdout, stderr, want)
	}
	none := filepath.Join(t.TempDir(), "none")
	code, _, stderr := clitest.CallWith(map[string]string{"RINGLEADER_BROKER": none}, line...)
	if says := "RINGLEADER_BROKER names no program: "; code != report.ExitNo || !strings.Contains(stderr, says) || !strings.Contains(stderr, none) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit status %d, %q; want %q", code, stderr, says)
	}
}

func TestFlagsOfNATSThatDoNotGoTogetherAreWrong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for line, says := range map[string]string{
		"verify lcr --n 4 --nats-token x":                                     "--nats-token needs --nats",
		"verify lcr --n 4 --nats nats://h --nats-token x --nats-token-file x": "--nats-token and --nats-token-file are both given",
		"reproduce S3 --nats-store x":                                         "--nats-store needs --nats",
		"verify lcr --n 4 --nats nats://h --nats-listen :1":                   "--nats-listen is for --nats embed",
		"verify lcr --n 4 --nats embed --nats-listen 4222 --nats-token x":     "--nats-listen wants HOST:PORT",
		"verify lcr --n 4 --nats embed --nats-listen 0.0.0.0:4222":            "is open to other machines: give --nats-token-file, or",
		"verify lcr --n 4 --nats embed --nats-listen :4222":                   "is open to other machines: give --nats-token-file, or",
		"verify lcr --n 4 --nats embed --nats-credentials x":                  "--nats-credentials is for a server that runs already",
		"verify lcr --n 4 --nats embed --nats-key x":                          "--nats-certificate and --nats-key go together",
		"verify lcr --n 4 --nats embed --nats-ca x":                           "--nats-ca needs --nats-certificate and --nats-key",
		"verify lcr --n 4 --nats nats://h --shard 1/2 --out FILE":             "give one of them",
		"verify lcr --n 4 --nats nats://h --wardens":                          "leave it out with --probabilities, --random and --wardens",
		"verify lcr --n 2..4 --extremes --nats nats://h":                      "--nats is for the results of one size",
		"worker":                                "ringleader worker needs --nats",
		"worker --nats embed":                   "it prints the URL for them",
		"worker --nats nats://h --cores -1":     "--cores is at least 1",
		"worker --nats nats://h --metrics 9100": "--metrics wants HOST:PORT",
		"jobs list":                             "ringleader jobs list needs --nats",
		"jobs sho":                              `ringleader jobs has no command "sho"; did you mean show?`,
		"jobs show --nats nats://h":             "takes one argument, the key of a job",
		"jobs show lcr --nats nats://h":         "the key of a job is hexadecimal",
		"jobs cancel EMPTY --nats nats://h":     `the key of a job is hexadecimal, as jobs list prints it, not ""`,
		"jobs resume --nats nats://h -- --json": "takes one argument, the key of a job",
		"compare lcr --n 4 --orders 2 --nats nats://h --nats-certificate x --out FILE": "--nats-certificate and --nats-key go together",
	} {
		words := strings.Fields(strings.ReplaceAll(line, "FILE", path))
		for i, word := range words {
			words[i] = strings.ReplaceAll(word, "EMPTY", "")
		}
		code, stdout, stderr := clitest.Call(words...)
		if code != report.ExitUsage || stdout != "" || !strings.Contains(stderr, says) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit status %d, %q and %q; want %s", line, code, stdout, stderr, says)
		}
	}
}

func TestAWorkerServesItsNumbersAndThoseOfJobs(t *testing.T) {
	t.Parallel()
	url := natsServer(t, broker.Settings{})
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		t.Fatal(err)
	}
	labourer(t, url, "--metrics", addresses[0])
	command := runs(t, append(strings.Fields("verify lcr --n 12 "+narrow), "--nats", url)...)
	sample := func(name string) string {
		response, err := http.Get("http://" + addresses[0] + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(?m)^ringleader_` + name + ` (\S+)$`).FindStringSubmatch(string(text))
		if found == nil {
			return ""
		}
		return found[1]
	}
	for name, value := range map[string]string{
		"worker_connected": "1", "worker_slots": "2", "worker_busy": "[12]", "worker_pieces_total": "[1-9].*", "worker_units_total": "[1-9].*",
		"worker_jobs_refused_total": "0", `job_units{job="[0-9a-f]{12}",kind="verify"}`: `3\.99168e\+07`, `job_units_done{.*}`: "[1-9].*",
		`job_units_per_second{.*}`: "[1-9].*", `job_workers{.*}`: "1", `job_seconds_left{.*}`: "[1-9].*", `job_has_commander{.*}`: "1",
	} {
		clitest.Await(t, name+" is not "+value, func() bool { return regexp.MustCompile("^" + value + "$").MatchString(sample(name)) })
	}
	command.interrupt()
	<-command.ended
	request, err := http.NewRequest(http.MethodGet, "http://"+addresses[0]+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "attacker.example"
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("a name that leads here is answered with %s", response.Status)
	}
}

// A server of others asks for no token. Commands say so, unless the call gives them one to seal with.
func TestAServerThatAsksForNoTokenIsWarnedOf(t *testing.T) {
	t.Parallel()
	server, err := broker.Start(brokertest.Program(t), broker.Settings{Listen: "127.0.0.1:0", Store: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	for token, warned := range map[string]bool{"": true, "any": false} {
		args := []string{"--nats", server.URL()}
		if token != "" {
			args = append(args, "--nats-token", token)
		}
		labourer(t, server.URL(), args[2:]...)
		code, _, stderr := clitest.Call(append(strings.Fields("verify lcr --n 4"), args...)...)
		if says := "warning: without a token"; code != report.ExitFine || strings.Contains(stderr, says) != warned {
			t.Errorf("with the token %q: exit status %d, %s", token, code, stderr)
		}
	}
}
