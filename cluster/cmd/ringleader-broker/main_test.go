package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/cluster"
	"ringleader.example/ringleader/internal/study/secret"
)

// programVariable makes this test program be the command.
const programVariable = "RINGLEADER_BROKER_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

// process is a command that runs.
type process struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// begin starts a command whose user has a directory of caches in the folder.
func begin(t *testing.T, folder string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], args...)}
	p.Env = append(os.Environ(), programVariable+"=1", "HOME="+folder, "XDG_CACHE_HOME="+folder, "LocalAppData="+folder)
	p.Stderr = &p.stderr
	var err error
	if p.stdin, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewReader(out)
	t.Cleanup(func() { _ = p.Process.Kill() }) // if it has ended, there is nothing to kill
	return p
}

func (p *process) line(t *testing.T) string {
	t.Helper()
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, &p.stderr)
	}
	return strings.TrimSuffix(line, "\n")
}

// ends waits for the end of a command that is asked to end.
func (p *process) ends(t *testing.T) {
	t.Helper()
	rest, err := io.ReadAll(p.stdout)
	if err := p.Wait(); err != nil || p.stderr.Len() > 0 {
		t.Errorf("it ends with %v: %s%s", err, rest, &p.stderr)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestItPrintsItsURLAndTheFileOfTheTokenAndEndsAfterASignal(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		folder := t.TempDir()
		p := begin(t, folder, "--listen", "127.0.0.1:0")
		url, found := strings.CutPrefix(p.line(t), "listens on ")
		if want := filepath.Join(folder, "ringleader", "nats"); !found || p.line(t) != "store: "+want {
			t.Errorf("it listens on %q, and its store is not %s", url, want)
		}
		token := filepath.Join(folder, "ringleader", "nats-token")
		if got := p.line(t); got != "token: "+token {
			t.Errorf("got %q, want the token in %s", got, token)
		}
		text, err := secret.Own(token)
		if err != nil {
			t.Fatal(err)
		}
		for _, token := range []string{text, ""} {
			c, err := cluster.Connect(t.Context(), cluster.Access{URL: url, Token: token}, "test", nil)
			if (err == nil) != (token != "") {
				t.Errorf("with the token %q: %v", token, err)
			}
			if err == nil {
				c.Close()
			}
		}
		if err := p.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		p.ends(t)
	}
}

// Ctrl-C reaches the server of a command, too. The command still needs it.
func TestTheServerOfACommandEndsWithItsInputAlone(t *testing.T) {
	p := begin(t, t.TempDir(), broker.Child)
	if err := json.NewEncoder(p.stdin).Encode(broker.Settings{Listen: "127.0.0.1:0", Store: t.TempDir(), Token: "a token"}); err != nil {
		t.Fatal(err)
	}
	var ready, over broker.Message
	if err := json.Unmarshal([]byte(p.line(t)), &ready); err != nil {
		t.Fatal(err)
	}
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if err := p.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	c, err := cluster.Connect(t.Context(), cluster.Access{URL: ready.URL, Token: "a token"}, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	// The server counts a request after it has answered it, and before it reads the next one of the connection.
	if _, err := c.Jobs(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Close()
	p.stdin.Close()
	if err := json.Unmarshal([]byte(p.line(t)), &over); err != nil || over.Traffic == nil || over.Traffic.MessagesIn == 0 {
		t.Errorf("it ends with %+v, %v", over, err)
	}
	p.ends(t)
}

func TestHelpHasAnExampleAndEachFlag(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"--help"}, strings.NewReader(""), &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Errorf("exit status %d, %s", code, &stderr)
	}
	for _, says := range []string{"Examples:\n  ringleader-broker\n", "--listen", "--store", "--token-file", "--certificate", "--key", "--ca", broker.Child} {
		if !strings.Contains(stdout.String(), says) {
			t.Errorf("the help lacks %s", says)
		}
	}
}

func TestWrongCallsAreOneLine(t *testing.T) {
	for _, c := range []struct {
		line, says string
		code       int
	}{
		{"--lisen x", "lisen", exitUsage},
		{"x", "there are no arguments, such as x", exitUsage},
		{"--listen 4222", "--listen wants HOST:PORT", exitUsage},
		{"--listen :4222", "is open to other machines: give --token-file, or", exitUsage},
		{"--key x", "--certificate and --key go together", exitUsage},
		{"--ca x", "--ca needs --certificate and --key", exitUsage},
		{"--listen 127.0.0.1:0 --token-file FOLDER/none", "FOLDER/none", exitFailed},
		{"--listen 127.0.0.1:0 --token-file FOLDER/empty", "FOLDER/empty holds no token", exitFailed},
		{"--listen 127.0.0.1:0 --token-file FOLDER/token --store FOLDER/token", "FOLDER/token", exitFailed},
	} {
		folder := t.TempDir()
		for name, text := range map[string]string{"empty": "\n", "token": "a token\n"} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		place := strings.NewReplacer("FOLDER", folder)
		var stdout, stderr bytes.Buffer
		code := run(strings.Fields(place.Replace(c.line)), strings.NewReader(""), &stdout, &stderr)
		if code != c.code || stdout.Len() > 0 || !strings.Contains(stderr.String(), place.Replace(c.says)) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: exit status %d, %q and %q; want %d and %q", c.line, code, &stdout, &stderr, c.code, c.says)
		}
	}
}
