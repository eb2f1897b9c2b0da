package trials

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
	"ringleader.example/ringleader/internal/show/report"
)

// labAddress is the address of the lab, unless it is in use.
const labAddress = "127.0.0.1:8017"

// beginLab starts the command, and returns its page's address, and how it ends when it is stopped.
func beginLab(t *testing.T, args ...string) (address string, stop func() (code int, rest, stderr string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	out, in := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int)
	go func() {
		code := cli.Run(ctx, "ringleader", all.Algorithms, append([]string{"lab"}, args...), strings.NewReader(""), in, &stderr, func(string) string { return "" })
		in.Close()
		ended <- code
	}()
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("exit status %d, %s", <-ended, stderr.String())
	}
	return strings.TrimSpace(line), func() (int, string, string) {
		cancel()
		rest, _ := io.ReadAll(lines)
		return <-ended, string(rest), stderr.String()
	}
}

func TestTheLabServesItsPageUntilItIsStopped(t *testing.T) {
	address, stop := beginLab(t, "--listen", "127.0.0.1:0")
	page, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	page.Body.Close()
	reply, err := http.Post(address+"api/run", "application/json", strings.NewReader(`{"run":["lcr","--n=3"]}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(reply.Body)
	reply.Body.Close()
	if page.StatusCode != http.StatusOK || err != nil || !strings.HasPrefix(string(answer), `{"answer":{"run":`) {
		t.Errorf("the page has status %d, and the answer is %.100s (%v)", page.StatusCode, answer, err)
	}
	if code, rest, stderr := stop(); code != report.ExitFine || rest != "" || stderr != "" {
		t.Errorf("exit status %d, further output %q, %q", code, rest, stderr)
	}
}

func TestTheLabTakesAnotherPortOnlyIfNoneIsGiven(t *testing.T) {
	taken, err := net.Listen("tcp", labAddress)
	if err == nil { // else another process has it
		defer taken.Close()
	}
	address, stop := beginLab(t)
	if err == nil && strings.Contains(address, labAddress) {
		t.Errorf("%s is in use", address)
	}
	stop()
	named := labAddress
	if err != nil { // and may not have it for long
		other, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		named = other.Addr().String()
	}
	var stdout, stderr bytes.Buffer
	code := cli.Run(t.Context(), "ringleader", all.Algorithms, []string{"lab", "--listen", named}, strings.NewReader(""), &stdout, &stderr, func(string) string { return "" })
	if code != report.ExitNo || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "ringleader: cannot listen on "+named) {
		t.Errorf("exit status %d, %q and %q", code, stdout.String(), stderr.String())
	}
}

func TestTheLabRefusesAddressesOfOtherMachines(t *testing.T) {
	for _, address := range []string{"0.0.0.0:8017", ":8017", "[::]:0", "example.com:80", "8017"} {
		var stdout, stderr bytes.Buffer
		code := cli.Run(t.Context(), "ringleader", all.Algorithms, []string{"lab", "--listen", address}, strings.NewReader(""), &stdout, &stderr, func(string) string { return "" })
		if code != report.ExitUsage || stdout.Len() > 0 || !strings.Contains(stderr.String(), "loopback") {
			t.Errorf("%s: exit status %d, %q and %q", address, code, stdout.String(), stderr.String())
		}
	}
}
