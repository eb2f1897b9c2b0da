//go:build unix

package trials

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/certificates"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/show/report"
)

// certified makes the certificates of members, and returns the flags with their files.
func certified(t *testing.T, group string, ids ...uint64) (flags [][]string) {
	t.Helper()
	directory := t.TempDir()
	if _, err := certificates.Make(certificates.Order{Directory: directory, Group: group, IDs: ids, Lasts: time.Hour}); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		file := filepath.Join(directory, fmt.Sprint(id))
		flags = append(flags, []string{"--cert", file + ".pem", "--key", file + ".key", "--ca", filepath.Join(directory, "ca.pem")})
	}
	return flags
}

func TestMembersWithCertificatesElect(t *testing.T) {
	t.Parallel()
	addresses, err := rig.FreeAddresses(2)
	if err != nil {
		t.Fatal(err)
	}
	made := certified(t, "jobs", 1, 2)
	both := []string{"--member", "1=" + addresses[0], "--member", "2=" + addresses[1]}
	arguments := func(id string, data uint64, certificate []string) []string {
		directory := filepath.Join(t.TempDir(), "new")
		if err := ringleader.Init(directory, "jobs", data); err != nil {
			t.Fatal(err)
		}
		return append(append([]string{"join", "--json", "--group", "jobs", "--id", id, "--data", directory}, both...), certificate...)
	}
	start(t, arguments("1", 1, made[0])...)
	_, lines := start(t, arguments("2", 2, made[1])...)
	for { // two of two are needed
		var e report.JoinEvent
		if err := lines.Decode(&e); err != nil {
			t.Fatal(err)
		}
		if e.Leader != 0 {
			break
		}
	}
	const want = "it names ringleader:jobs/2, not ringleader:jobs/1"
	if says := wrongJoin(t, arguments("1", 1, made[1])[2:]...); !strings.Contains(says, want) {
		t.Errorf("with the certificate of another member it says %q, want %q", says, want)
	}
}
