// Package postgrestest starts a server of PostgreSQL for tests.
package postgrestest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ringleader.example/ringleader/internal/core/needs"
)

// Start runs a server with an empty database until the end of the test, and returns the address of its socket for drivers. Its default settings are
// the least safe ones, so a guard has to set its own. It skips the test where the programs of the server are missing, unless CI=true.
func Start(t testing.TB) (address string) {
	t.Helper()
	initdb, control := find(t, "initdb"), find(t, "pg_ctl")
	dir, err := os.MkdirTemp(temporary, "postgres")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	command := unprivileged(t, dir)
	run := func(name string, arguments ...string) {
		t.Helper()
		c := command(exec.Command(name, arguments...))
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("%s: %v\n%s%s", name, err, out, log)
		}
	}
	data := filepath.Join(dir, "data")
	run(initdb, "-D", data, "-U", "postgres", "-A", "trust", "--locale=C", "-E", "UTF8", "--no-sync")
	run(control, "-D", data, "-w", "-t", "120", "-l", filepath.Join(dir, "log"), "-o", "-c listen_addresses='' -c fsync=off -c synchronous_commit=off -c deadlock_timeout=50ms -c default_transaction_isolation=serializable -k "+dir, "start")
	t.Cleanup(func() { run(control, "-D", data, "-w", "-m", "immediate", "stop") })
	return "host=" + dir + " user=postgres dbname=postgres"
}

// find returns the path of a program of the server. Debian does not put all of them on PATH.
func find(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name) // the pattern is right
	if len(found) == 0 {
		needs.Missing(t, "PostgreSQL is missing, so its test is left out; on Debian: apt-get install postgresql")
	}
	return found[len(found)-1]
}
