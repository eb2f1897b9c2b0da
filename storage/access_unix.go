//go:build unix

package storage

import (
	"fmt"
	"os"
)

// CheckAccess returns an error if the directory of a store may be written by every user of this machine, or if the file of
// a private key may be read or written by them: they could take a member's votes, or its place. The error names the chmod
// that mends it. What is missing, or cannot be looked at, is no error: its use is one. An empty name stands for none.
//
// Members of a file's group are trusted. Users have groups of their own where directories are made writable for the
// group; keys are read through a group such as ssl-cert; and Kubernetes gives volumes and secrets to the group of a pod.
func CheckAccess(directory, key string) error {
	for _, of := range []struct {
		name   string
		others os.FileMode
		may    string
		mends  string
	}{
		{directory, 0o002, "write to it", "o-w"},
		{key, 0o006, "read the key or replace it", "o-rw"},
	} {
		if of.name == "" {
			continue
		}
		info, err := os.Stat(of.name)
		if err == nil && info.Mode()&of.others != 0 {
			return fmt.Errorf("%s has mode %04o, so every user of this machine may %s: chmod %s %[1]s", of.name, info.Mode().Perm(), of.may, of.mends)
		}
	}
	return nil
}
