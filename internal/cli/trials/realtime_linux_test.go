package trials

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/kernel/kerneltest"
	"ringleader.example/ringleader/internal/serve/rig"
)

// The processes of a member run before others, and what it runs for its user does not. No other test runs meanwhile: doctor, which some call in this
// process, lets it run before others for a moment, and what starts then inherits that.
func TestAMemberRunsBeforeOthersAndItsCommandAndHooksDoNot(t *testing.T) {
	kerneltest.NeedPriority(t)
	for _, realTime := range []bool{true, false} {
		hooked := filepath.Join(t.TempDir(), "hooked")
		const own = `cut -d " " -f 41 /proc/self/stat`
		exec, lines := start(t, "exec", "--id", "1", "--data", newStore(t, 1), "--member", "1="+freeAddress(t), "--lease", "1m", "--stall", "1m", "--hang", "0",
			fmt.Sprintf("--real-time=%v", realTime), "--on-leader", own+" >"+hooked+".part && mv "+hooked+".part "+hooked, "--", "sh", "-c", own+"; exec sleep 1000")
		command := -1
		if err := lines.Decode(&command); err != nil || command != 0 {
			t.Errorf("the policy of the command is %d: %v", command, err)
		}
		clitest.Eventually(t, func() error {
			text, err := os.ReadFile(hooked)
			if err == nil && string(text) != "0\n" {
				t.Errorf("the policy of the hook is %q", text)
			}
			return err
		})
		warden := exec.Process.Pid
		var members []int
		clitest.Eventually(t, func() error { // the system may list none of a process that starts or ends threads
			if members = kerneltest.Children(warden); len(members) != 1 {
				return fmt.Errorf("the warden has %d children", len(members))
			}
			return nil
		})
		canary := 0
		clitest.Eventually(t, func() error {
			for _, pid := range kerneltest.Children(members[0]) {
				if variables, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); strings.Contains(string(variables), "RINGLEADER_CANARY=") {
					canary = pid
					return nil
				}
			}
			return fmt.Errorf("the member has no canary")
		})
		for what, pid := range map[string]int{"warden": warden, "member": members[0], "canary": canary} {
			if got := kerneltest.Policies(pid); slices.Contains(got, 0) == realTime {
				t.Errorf("--real-time=%v: the threads of the %s have the policies %v", realTime, what, got)
			}
		}
	}
}

// Several members on one machine wait for each other's sweepers if each has several processors. The environment may say that they shall.
func TestAMemberThatRunsBeforeOthersHasOneProcessor(t *testing.T) {
	kerneltest.NeedPriority(t)
	t.Setenv("GODEBUG", "schedtrace=10") // each process tells its number of processors
	for _, test := range []struct{ realTime, given, want string }{{"true", "", "1"}, {"true", "3", "3"}, {"false", "3", "3"}} {
		t.Setenv("GOMAXPROCS", test.given)
		told := new(rig.Text)
		_, lines := launchTo(t, told, "join", "--id", "1", "--data", newStore(t, 1), "--member", "1="+freeAddress(t), "--json", "--hang", "0", "--real-time="+test.realTime)
		var started struct{}
		if err := lines.Decode(&started); err != nil {
			t.Fatal(err)
		}
		numbers := func() []string { return regexp.MustCompile(`gomaxprocs=\d+`).FindAllString(told.String(), -1) }
		const some = 20 // lines of member and warden
		first := len(numbers())
		clitest.Eventually(t, func() error {
			all := numbers()
			if len(all) < first+2*some { // until those from before the start have come
				return fmt.Errorf("%d lines", len(all))
			}
			if last := slices.Compact(all[len(all)-some:]); !slices.Equal(last, []string{"gomaxprocs=" + test.want}) {
				return fmt.Errorf("--real-time=%s, GOMAXPROCS=%q: %q", test.realTime, test.given, last)
			}
			return nil
		})
	}
}
