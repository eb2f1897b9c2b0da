package clients

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/leasefile"
)

// The program on the page for Node runs as it is printed, in a module beside the installed package.
func TestTheProgramOnThePageForNodeRuns(t *testing.T) {
	needs.Program(t, "node", "nodejs")
	if err := sources(); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("node/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(page), "```js\n")
	program, _, _ = strings.Cut(program, "```")
	dir := t.TempDir()
	client, err := filepath.Abs("node")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "node_modules"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(client, filepath.Join(dir, "node_modules", "ringleader-lease")); err != nil {
		t.Fatal(err)
	}
	const work = "\nasync function work(term) { console.log(`term ${term}`); await new Promise((done) => setTimeout(done, 1)); }\n"
	script, path := filepath.Join(dir, "worker.mjs"), filepath.Join(dir, "lease")
	if err := os.WriteFile(script, []byte(program+work), 0o600); err != nil {
		t.Fatal(err)
	}
	member, err := leasefile.Create(path, "jobs", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer member.Close()
	member.Show(true, 5, func() time.Duration { return time.Hour }, "")
	c := exec.CommandContext(t.Context(), "node", script)
	c.Env, c.Stderr = append(os.Environ(), "RINGLEADER_LEASE="+path), t.Output()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Process.Kill() // it goes on for ever
		_ = c.Wait()
	}()
	said := bufio.NewScanner(out)
	if !said.Scan() || said.Text() != "term 5" {
		t.Fatalf("it prints %q", said.Text())
	}
	member.Show(false, 5, nil, "")
	for said.Scan() && said.Text() == "term 5" {
	}
	if said.Text() != "not leader" || said.Err() != nil {
		t.Errorf("it prints %q when the member leads no more: %v", said.Text(), said.Err())
	}
}
