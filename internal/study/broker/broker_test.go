package broker_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/core/leaks"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/brokertest"
)

// commandVariable makes this program start a server as a command does. Its value is the settings.
const commandVariable = "RINGLEADER_BROKER_TEST"

func TestMain(m *testing.M) {
	if text := os.Getenv(commandVariable); text != "" {
		command(text)
	}
	leaks.Main(m)
}

// command starts a server, prints its URL, and waits to be killed.
func command(text string) {
	var s broker.Settings
	err := json.Unmarshal([]byte(text), &s)
	if err != nil {
		panic(err)
	}
	e, err := broker.Start(os.Args[1], s)
	if err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(e.URL() + "\n")
	panic(<-e.Failed())
}

func settings(t *testing.T) broker.Settings {
	t.Helper()
	return broker.Settings{Listen: "127.0.0.1:0", Store: filepath.Join(t.TempDir(), "new", "store")}
}

func start(t *testing.T, s broker.Settings) *broker.Server {
	t.Helper()
	e, err := broker.Start(brokertest.Program(t), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// address returns the host and the port of a URL.
func address(url string) string {
	_, address, _ := strings.Cut(url, "://")
	return address
}

func TestAServerThatCannotStart(t *testing.T) {
	program, s := brokertest.Program(t), settings(t)
	e := start(t, s)
	other := settings(t)
	other.Listen = address(e.URL())
	for what, c := range map[string]struct {
		settings broker.Settings
		says     string
	}{
		"a store that is in use":       {s, "store " + s.Store + ": another server uses it: " + e.URL()},
		"an address that is in use":    {other, other.Listen},
		"an address without a port":    {broker.Settings{Listen: "127.0.0.1", Store: t.TempDir()}, "127.0.0.1"},
		"an address with another port": {broker.Settings{Listen: "127.0.0.1:x", Store: t.TempDir()}, "has no port such as 4222"},
		"no certificate":               {broker.Settings{Listen: "127.0.0.1:0", Store: t.TempDir(), Certificate: "no.pem"}, "no.pem"},
	} {
		if _, err := broker.Start(program, c.settings); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", what, err, c.says)
		}
	}
	if _, err := broker.Start(os.Args[0], s); err == nil || strings.Contains(err.Error(), "\n") { // this test takes no such flag
		t.Errorf("another program: %v", err)
	}
	e.Close()
	start(t, s)
}

func TestAServerIsFoundWhereItIsNamedOrInPATH(t *testing.T) {
	program := brokertest.Program(t)
	t.Setenv("PATH", filepath.Dir(program))
	for _, named := range []string{"", program} {
		if found, err := broker.Find(named); err != nil || found != program {
			t.Errorf("%q is found in %s, %v; want %s", named, found, err, program)
		}
	}
	if found, err := broker.Find(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Errorf("%s is found", found)
	}
	t.Setenv("PATH", t.TempDir())
	if found, err := broker.Find(""); !errors.Is(err, broker.ErrNotFound) {
		t.Errorf("%s is found, %v", found, err)
	}
}

// A command that is killed leaves no server: another command gets the address and the store.
func TestAServerEndsWithTheCommandThatIsKilled(t *testing.T) {
	s := settings(t)
	addresses, err := rig.FreeAddresses(1) // no other process of a test gets the port meanwhile
	if err != nil {
		t.Fatal(err)
	}
	s.Listen = addresses[0]
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], brokertest.Program(t))
	c.Env = append(os.Environ(), commandVariable+"="+string(text))
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = bufio.NewReader(out).ReadString('\n')
	if killed := c.Process.Kill(); err != nil || killed != nil {
		t.Fatal(err, killed)
	}
	_ = c.Wait() // it was killed
	e, err := broker.Start(brokertest.Program(t), s)
	limit := time.After(time.Minute)
	for err != nil {
		select {
		case <-limit:
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond):
			e, err = broker.Start(brokertest.Program(t), s)
		}
	}
	e.Close()
}

func TestAServerThatDiesIsAFailure(t *testing.T) {
	s := settings(t)
	e, err := broker.Start(brokertest.Program(t), s)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.Kill()
	select {
	case err := <-e.Failed():
		if !strings.HasPrefix(err.Error(), "the embedded server has ended: ") {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("its end is not noticed")
	}
	if c, err := e.Dial(); err == nil {
		c.Close()
		t.Error("it still answers")
	}
	start(t, s)
}

func TestAServerAnswersAtItsDoor(t *testing.T) {
	e := start(t, settings(t))
	for name, dial := range map[string]func() (net.Conn, error){
		"URL":  func() (net.Conn, error) { return net.Dial("tcp", address(e.URL())) },
		"door": e.Dial,
	} {
		c, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "INFO {") {
			t.Errorf("the %s answers %q, %v", name, line, err)
		}
		c.Close()
	}
}
