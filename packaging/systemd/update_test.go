package systemd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hosts stand in for ssh: a script that notes what is to run on which host. Of the questions to members, each is ready but sick, and leads if its
// name is leader.
const hosts = `#!/bin/sh
case $2 in
*/readyz) [ "$1" != "$SICK" ] ;;
*/leader) [ "$1" = leader ] ;;
*) echo "$1: $2" >>"$NOTES" ;;
esac
`

// update runs the script for three hosts, and returns what has run on them.
func update(t *testing.T, sick string) (notes []string, err error) {
	t.Helper()
	folder := t.TempDir()
	ssh, file := filepath.Join(folder, "ssh"), filepath.Join(folder, "notes")
	if err := os.WriteFile(ssh, []byte(hosts), 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("/bin/sh", "rolling-update.sh", "jobs", "install", "first", "leader", "last")
	limit := 60
	if sick != "" {
		limit = 1 // it waits for so long in any case
	}
	c.Env = append(os.Environ(), "SSH=ssh", "PATH="+folder+":"+os.Getenv("PATH"), "NOTES="+file, "SICK="+sick, fmt.Sprint("LIMIT=", limit))
	c.Stderr = t.Output()
	err = c.Run()
	text, _ := os.ReadFile(file) // none: nothing has run
	return strings.Split(strings.TrimSpace(string(text)), "\n"), err
}

func TestARollingUpdateRestartsTheLeaderLast(t *testing.T) {
	notes, err := update(t, "")
	want := []string{
		"first: install", "first: systemctl restart ringleader@jobs", "last: install", "last: systemctl restart ringleader@jobs",
		"leader: install", "leader: systemctl restart ringleader@jobs",
	}
	if err != nil || !slices.Equal(notes, want) {
		t.Errorf("%v: %q", err, notes)
	}
}

func TestARollingUpdateStopsNoMemberWhileAnotherIsNotReady(t *testing.T) {
	if notes, err := update(t, "last"); err == nil || !slices.Equal(notes, []string{""}) {
		t.Errorf("%v: %q", err, notes)
	}
}
