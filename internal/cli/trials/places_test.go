//go:build unix

package trials

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/report"
)

// joining starts a member that knows one other one, and where it is itself, or else that it listens there.
func (g *filed) joining(id, seed int, own ...string) {
	g.t.Helper()
	args := []string{"join", "--group", "jobs", "--id", fmt.Sprint(id), "--data", g.data(id), "--lease", "1m", "--stall", "1m", "--hang", "0", "--join", g.addresses[seed-1]}
	if g.secure {
		at := filepath.Join(g.directory, fmt.Sprint(id))
		args = append(args, "--cert", at+".pem", "--key", at+".key", "--ca", filepath.Join(g.directory, "ca.pem"))
	}
	g.running[id], _ = launch(g.t, append(args, own...)...)
}

// at changes the address book at a member, and wants a status, and a text in what is printed.
func (g *filed) at(id, status int, want string, words ...string) {
	g.t.Helper()
	code, out, stderr := clitest.Call(append(append([]string{"members"}, words...), "--data", g.data(id))...)
	if code != status || !strings.Contains(out+stderr, want) {
		g.t.Fatalf("members %v at member %d: exit status %d, want %d and %q: %s%s", words, id, code, status, want, out, stderr)
	}
}

// stops ends a member.
func (g *filed) stops(id int) {
	g.t.Helper()
	g.running[id].Process.Signal(os.Interrupt)
	if err := g.running[id].Wait(); err != nil {
		g.t.Error(err)
	}
}

func votersAre(voters ...uint64) func(ringleader.Status) bool {
	return func(s ringleader.Status) bool {
		return s.Leader != nil && (s.Voters == nil && len(s.Members) == len(voters) || s.Voters != nil && slices.Equal(s.Voters.Members, voters))
	}
}

func isAt(id uint64, address string) func(ringleader.Status) bool {
	return func(s ringleader.Status) bool {
		return slices.ContainsFunc(s.Members, func(m ringleader.MemberStatus) bool {
			return m.ID == id && m.Address == address && m.Reachable
		})
	}
}

// A member is added at a follower, learns the rest from one other member, moves, and is removed. No list and no process of the others changes.
func TestOneCommandAddsAMember(t *testing.T) {
	t.Parallel()
	for name, secure := range map[string]bool{"in clear text": false, "with certificates": true} {
		t.Run(name, func(t *testing.T) {
			g := newFiled(t, 7, secure)
			knows := func(s ringleader.Status) bool { return s.Leader != nil }
			leader := 0
			for id := 1; id <= 3; id++ {
				leader = int(*g.until(id, "of a leader", knows).Leader)
			}
			follower := leader%3 + 1

			g.at(follower, report.ExitNo, "is not host:port", "add", "--id", "4", "--address", "nowhere") // a name without a port needs --srv
			g.at(follower, report.ExitNo, "members 1 and 4 have the same address", "add", "--id", "4", "--address", g.addresses[0])
			g.at(follower, report.ExitNo, "there is no member 4", "remove", "--id", "4")
			g.at(follower, report.ExitFine, "", "add", "--id", "4", "--address", g.addresses[3])
			g.at(follower, report.ExitFine, "", "add", "--id", "4", "--address", g.addresses[3])
			g.initialize(4)
			g.joining(4, leader, "--listen", g.addresses[3])
			for id := 1; id <= 4; id++ {
				g.until(id, "a group of four", votersAre(1, 2, 3, 4))
			}
			before, err := os.ReadFile(filepath.Join(g.data(4), "state"))
			if err != nil {
				t.Fatal(err)
			}
			for _, place := range []int{4, 5} { // it moves twice
				g.stops(4)
				if place == 5 { // and its directory comes from a backup
					if err := os.WriteFile(filepath.Join(g.data(4), "state"), before, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				g.joining(4, follower, "--member", "4="+g.addresses[place])
				for id := 1; id <= 3; id++ {
					g.until(id, "following member 4", isAt(4, g.addresses[place]))
				}
				g.until(4, "a follower", knows)
			}

			g.at(4, report.ExitFine, "", "remove", "--id", fmt.Sprint(follower))
			for id := 1; id <= 4; id++ {
				if id != follower {
					g.until(id, "a group of three", func(s ringleader.Status) bool { return len(s.Members) == 3 && len(s.Voters.Members) == 3 && knows(s) })
				}
			}
			g.until(follower, "refused", func(s ringleader.Status) bool {
				return slices.ContainsFunc(s.Members, func(m ringleader.MemberStatus) bool {
					return strings.Contains(m.Problem, fmt.Sprintf("has no member %d", follower))
				})
			})
			g.stops(4)
			g.at(leader, report.ExitFine, "", "remove", "--id", "4")
			g.until(leader, "a group of two", func(s ringleader.Status) bool { return len(s.Members) == 2 && knows(s) })
		})
	}
}
