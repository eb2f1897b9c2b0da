// Package systemd_test compares the unit with what the program does, and runs it under a systemd in namespaces.
package systemd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/workbench"
)

// TestMain lets this test binary be the program, and one that crashes.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ringleader": func() { workbench.Main() },
		"crashes":    func() { panic("a defect") },
	})
}

// settings returns the values of each setting of a unit, or of a drop-in, in order.
func settings(t *testing.T, name string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		setting, value, is := strings.Cut(strings.TrimSpace(line), "=")
		if is && !strings.HasPrefix(setting, "#") {
			all[setting] = append(all[setting], value)
		}
	}
	return all
}

// status returns the exit status of a command that fails.
func status(t *testing.T, name string, args ...string) string {
	t.Helper()
	command := exec.Command(name, args...)
	if out, err := command.CombinedOutput(); command.ProcessState == nil || err == nil {
		t.Fatalf("%v: %v, %s", command, err, out)
	}
	return strconv.Itoa(command.ProcessState.ExitCode())
}

const unit = "ringleader@.service"

// The watchdog and a crash must lead to another start, and a wrong call must not.
func TestTheUnitStartsAMemberAnewUnlessTheCallIsWrong(t *testing.T) {
	of := settings(t, unit)
	if !slices.Equal(of["Restart"], []string{"always"}) || of["RestartForceExitStatus"] != nil || of["SuccessExitStatus"] != nil {
		t.Errorf("Restart=%q, RestartForceExitStatus=%q, SuccessExitStatus=%q", of["Restart"], of["RestartForceExitStatus"], of["SuccessExitStatus"])
	}
	wrong := status(t, "ringleader", "join")
	if got := of["RestartPreventExitStatus"]; !slices.Equal(got, []string{wrong}) {
		t.Errorf("RestartPreventExitStatus=%q, but a wrong call exits with status %s", got, wrong)
	}
	if crashed := status(t, "crashes"); crashed == wrong {
		t.Errorf("a crash and a wrong call both exit with status %s", crashed)
	}
	// A Go program that gets systemd's own choice, SIGABRT, exits like one that panics, or not at all if it is stopped.
	if got := of["WatchdogSignal"]; !slices.Equal(got, []string{"SIGKILL"}) {
		t.Errorf("WatchdogSignal=%q", got)
	}
}

// A lease file and the tail of a record need the name of this start of the system, which is in /proc/sys. The tail of a member that was killed must
// outlive it: RemoveIPC deletes what the user has in /dev/shm. Other users read the lease file, and the folder of the members is not for them.
func TestTheUnitLeavesWhatLeaseFileAndRecordNeed(t *testing.T) {
	of := settings(t, unit)
	if of["ProcSubset"] != nil || of["RemoveIPC"] != nil {
		t.Errorf("ProcSubset=%q, RemoveIPC=%q", of["ProcSubset"], of["RemoveIPC"])
	}
	if got := of["RuntimeDirectory"]; !slices.Equal(got, []string{"ringleader/%i"}) || of["RuntimeDirectoryMode"] != nil {
		t.Errorf("RuntimeDirectory=%q, with the mode %q", got, of["RuntimeDirectoryMode"])
	}
}

func TestSystemdFindsNoFaultInTheUnitAndItsDropIns(t *testing.T) {
	analyze := needs.Program(t, "systemd-analyze", "systemd")
	program, err := os.Executable() // the commands of a unit must exist
	if err != nil {
		t.Fatal(err)
	}
	examples, err := filepath.Glob("*.conf")
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range append(examples, "") {
		if example != "" && settings(t, example)["ExecStart"] == nil {
			continue // not of a unit
		}
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			units := t.TempDir()
			put := func(from, to string) {
				text, err := os.ReadFile(from)
				if err == nil {
					err = os.WriteFile(filepath.Join(units, to), []byte(strings.ReplaceAll(string(text), "/usr/bin/ringleader ", strconv.Quote(program)+" ")), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			put(unit, "ringleader@jobs.service")
			if example != "" {
				if err := os.Mkdir(filepath.Join(units, "ringleader@jobs.service.d"), 0o700); err != nil {
					t.Fatal(err)
				}
				put(example, "ringleader@jobs.service.d/"+example)
			}
			command := exec.Command(analyze, "verify", "--man=no", "--recursive-errors=no", filepath.Join(units, "ringleader@jobs.service"))
			command.Env = append(os.Environ(), "SYSTEMD_UNIT_PATH="+units+":")
			if out, err := command.CombinedOutput(); err != nil || len(out) > 0 { // it complains by printing
				t.Errorf("%v, %s", err, out)
			}
		})
	}
}
