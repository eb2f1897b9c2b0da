//go:build unix

package trials

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/internal/show/report"
)

// filed is a group whose members have files of settings, each a process of its own.
type filed struct {
	t         *testing.T
	directory string
	addresses []string
	secure    bool
	running   map[int]*exec.Cmd
}

// newFiled starts the members 1 to 3 of a group that has some addresses.
func newFiled(t *testing.T, addresses int, secure bool) *filed {
	t.Helper()
	g := &filed{t: t, directory: t.TempDir(), secure: secure, running: map[int]*exec.Cmd{}}
	var err error
	if g.addresses, err = rig.FreeAddresses(addresses); err != nil {
		t.Fatal(err)
	}
	for id := 1; id <= 3; id++ {
		g.settings(id, "1 2 3")
		g.start(id)
	}
	return g
}

// settings writes the file of a member, with the lines of some members; a star marks one on standby. A machine whose disk is busy changes
// no leader, and no warden takes a leader for one that hangs.
func (g *filed) settings(id int, members string) {
	g.t.Helper()
	text := fmt.Sprintf("group = 'jobs'\nid = %d\ndata = '%s'\nlease = '1m'\nstall = '1m'\nhang = '0s'\n", id, g.data(id))
	if g.secure {
		text += fmt.Sprintf("cert = '%[1]s/%[2]d.pem'\nkey = '%[1]s/%[2]d.key'\nca = '%[1]s/ca.pem'\n", g.directory, id)
	}
	text += "member = ["
	for _, member := range strings.Fields(members) {
		number, standby := strings.CutSuffix(member, "*")
		place, _ := strconv.Atoi(number)
		line := number + "=" + g.addresses[place-1]
		if standby {
			line += ",standby"
		}
		text += "'" + line + "', "
	}
	if err := os.WriteFile(g.file(id), []byte(text+"]\n"), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

func (g *filed) file(id int) string { return filepath.Join(g.directory, fmt.Sprintf("%d.toml", id)) }
func (g *filed) data(id int) string { return filepath.Join(g.directory, fmt.Sprint("data", id)) }

// start starts a member with a new store.
func (g *filed) start(id int) {
	g.t.Helper()
	g.initialize(id)
	g.restart(id)
}

// initialize makes the store of a member.
func (g *filed) initialize(id int) {
	g.t.Helper()
	if err := ringleader.Init(g.data(id), "jobs", uint64(id)); err != nil {
		g.t.Fatal(err)
	}
	if g.secure {
		if code, _, stderr := clitest.Call("cert", "--directory", g.directory, "--group", "jobs", "--id", fmt.Sprint(id)); code != 0 {
			g.t.Fatal(stderr)
		}
	}
}

func (g *filed) restart(id int) {
	g.running[id], _ = launch(g.t, "join", "--config", g.file(id))
}

// reload gives members new lists.
func (g *filed) reload(members string, ids ...int) {
	g.t.Helper()
	for _, id := range ids {
		g.settings(id, members)
		if err := g.running[id].Process.Signal(syscall.SIGHUP); err != nil { // the warden passes it on
			g.t.Fatal(err)
		}
	}
}

// until waits until the state of a member is as wanted.
func (g *filed) until(id int, what string, holds func(s ringleader.Status) bool) (s ringleader.Status) {
	g.t.Helper()
	clitest.Eventually(g.t, func() error {
		_, out, stderr := clitest.Call("status", "--json", "--data", g.data(id))
		s = ringleader.Status{}
		if json.Unmarshal([]byte(out), &s) != nil || !holds(s) {
			return fmt.Errorf("member %d: not %s: %s%s", id, what, out, stderr)
		}
		return nil
	})
	return s
}

// vote changes a vote.
func (g *filed) vote(at int, verb string, id int, voters ...uint64) {
	g.t.Helper()
	clitest.Eventually(g.t, func() error {
		code, out, stderr := clitest.Call("members", verb, strconv.Itoa(id), "--json", "--data", g.data(at))
		var s ringleader.Status
		if code == report.ExitFine && json.Unmarshal([]byte(out), &s) == nil && slices.Equal(s.Voters.Members, voters) {
			return nil
		}
		err := fmt.Errorf("members %s %d: exit status %d, %s%s", verb, id, code, out, stderr)
		if code != report.ExitIncomplete { // 3: on a slow machine it is not known yet
			g.t.Fatal(err)
		}
		return err
	})
}

// completes checks the words that a shell offers after others.
func (g *filed) completes(want string, words ...string) {
	g.t.Helper()
	if _, got, _ := clitest.Call(append(append([]string{"__complete"}, words...), "")...); !strings.HasPrefix(got, want) {
		g.t.Errorf("the shell completes %q by %q, want %q", words, got, want)
	}
}

// outlivesARestart restarts a follower: what has changed outlives that, with a file that knows member 1 no more. Before that, --check
// explains it.
func (g *filed) outlivesARestart(follower int) {
	g.t.Helper()
	_, out, _ := clitest.Call("join", "--config", g.file(follower), "--check")
	if want := "# a member runs with this directory"; !strings.Contains(out, want) {
		g.t.Errorf("--check prints %q, and not %q", out, want)
	}
	g.running[follower].Process.Signal(os.Interrupt)
	if err := g.running[follower].Wait(); err != nil {
		g.t.Error(err)
	}
	_, out, _ = clitest.Call("join", "--config", g.file(follower), "--check")
	if want := "# the members have agreed on the voters 2, 3, 4, version 2 of term "; !strings.Contains(out, want) {
		g.t.Errorf("--check prints %q, and not %q", out, want)
	}
	g.settings(follower, "2 3")
	if code, _, stderr := clitest.Call("join", "--config", g.file(follower), "--check"); code != report.ExitUsage || !strings.Contains(stderr, "it lacks member 4, which votes") {
		g.t.Errorf("--check of a list without a voter: %d, %s", code, stderr)
	}
	g.settings(follower, "2 3 4*")
	g.restart(follower)
}

// A fourth member at a new address takes the place of the first, without a stop. The lease would lapse, and the term rise, in an
// election.
func TestAMemberAtANewAddressTakesThePlaceOfAnother(t *testing.T) {
	for name, secure := range map[string]bool{"in clear text": false, "with certificates": true} {
		t.Run(name, func(t *testing.T) {
			g := newFiled(t, 4, secure)
			first := g.until(1, "of another leader", func(s ringleader.Status) bool {
				if s.Role == ringleader.Leader { // it is to leave, and may lead again on a slow machine
					clitest.Call("resign", "--data", g.data(1))
				}
				return s.Leader != nil && *s.Leader != 1
			})
			leader := int(*first.Leader)
			same := func(s ringleader.Status) bool {
				return s.Leader != nil && *s.Leader == *first.Leader && s.Term == first.Term
			}

			g.settings(4, "1 2 3 4*")
			g.start(4)
			g.until(4, "refused", func(s ringleader.Status) bool {
				return strings.Contains(s.Members[0].Problem, "the list of member 1 has no member 4")
			})
			g.reload("1 2 3 4*", 1, 2, 3)
			g.until(4, "a follower", same)
			g.completes("4\n:", "members", "add", "--data", g.data(leader))
			g.vote(leader, "add", 4, 1, 2, 3, 4)
			g.vote(leader, "remove", 1, 2, 3, 4)
			g.completes("1\n:", "members", "add", "--data", g.data(leader))
			g.completes(fmt.Sprintf("%d\n4\n:", 5-leader), "members", "remove", "--data", g.data(leader))
			g.completes(fmt.Sprintf("%d\n4\n:", 5-leader), "transfer", "--data", g.data(leader))
			g.reload("2 3 4*", 2, 3, 4) // one may learn of the change only now
			for id := 2; id <= 4; id++ {
				g.until(id, "without member 1", func(s ringleader.Status) bool {
					return same(s) && len(s.Members) == 3 && s.Members[0].ID == 2 && s.Members[2].Reachable
				})
			}
			g.until(1, "refused", func(s ringleader.Status) bool {
				return strings.Contains(s.Members[1].Problem, "the list of member 2 has no member 1")
			})

			g.outlivesARestart(5 - leader)
			g.until(5-leader, "a follower again", same)
			g.until(leader, "the leader in its term", same)
		})
	}
}
