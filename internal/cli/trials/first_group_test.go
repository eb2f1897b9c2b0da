//go:build unix

package trials

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/rig"
)

// shellBlock is a block of lines for a shell in a page.
var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// The lines that newcomers copy make a group with TLS: those before the members, those of each member, and those to look.
func TestTheLinesOfPagesMakeAGroup(t *testing.T) {
	t.Parallel()
	for _, page := range []struct{ file, from, to string }{
		{"../../../README.md", "## Elect among your own processes", "Or let it run"},
		{"../../../docs/operate.md", "## A first group", "## Install"},
		{"../../../docs/start.md", "## A command", "## Python"},
	} {
		_, text, _ := strings.Cut(string(clitest.Contents(t, page.file)), page.from)
		text, _, found := strings.Cut(text, page.to)
		blocks := shellBlock.FindAllStringSubmatch(text, -1)
		if !found || len(blocks) != 3 {
			t.Fatalf("%s has %d blocks from %q to %q", page.file, len(blocks), page.from, page.to)
		}
		addresses, err := rig.FreeAddresses(6)
		if err != nil {
			t.Fatal(err)
		}
		free := func(script string) string {
			for i, address := range addresses {
				script = strings.ReplaceAll(script, "127.0.0.1:"+strconv.Itoa([]int{7001, 7002, 7003, 8001, 8002, 8003}[i]), address)
			}
			return script
		}
		directory := t.TempDir()
		shell := func(script string) *exec.Cmd {
			command := exec.Command("sh", "-ec", free(script))
			command.Dir, command.SysProcAttr = directory, &syscall.SysProcAttr{Setpgid: true}
			return command
		}
		if out, err := shell(blocks[0][1]).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", page.file, err, out)
		}
		lines := strings.Split(strings.TrimSpace(blocks[1][1]), "\n")
		if _, script, one := strings.Cut(blocks[1][1], "ID=1\n"); one { // for each of three terminals
			lines = nil
			for _, id := range []string{"1", "2", "3"} {
				lines = append(lines, strings.ReplaceAll(script, "$ID", id))
			}
		}
		for _, line := range lines {
			member := shell("exec " + line)
			member.Stderr = t.Output() // Wait waits for all that have it
			if err := member.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				syscall.Kill(-member.Process.Pid, syscall.SIGKILL)
				member.Wait()
			})
		}
		look := strings.Split(blocks[2][1], "\n")
		status := slices.IndexFunc(look, func(line string) bool { return strings.HasPrefix(line, "ringleader status") })
		clitest.Eventually(t, func() error {
			if out, _ := shell(look[status]).CombinedOutput(); !strings.Contains(string(out), "in term") || strings.Count(string(out), "reachable") != 2 {
				return fmt.Errorf("%s: the lines make no group with a leader: %s", page.file, out)
			}
			return nil
		})
	}
}
