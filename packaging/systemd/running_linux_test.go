package systemd_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/internal/serve/kernel/kerneltest"
)

// boot makes a root of its own, over that of this machine, and begins systemd in it. The folder, the program and this package are its arguments.
const boot = `set -eu
mount --make-rprivate /
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
mount -t proc proc proc
mount --rbind /dev dev
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
install -m 755 "$2" usr/bin/ringleader
install -m 644 "$3/ringleader@.service" etc/systemd/system/
install -D -m 644 "$3/sysusers.conf" usr/lib/sysusers.d/ringleader.conf
install -D -m 644 "$3/tmpfiles.conf" usr/lib/tmpfiles.d/ringleader.conf
install -D -m 644 "$3/exec.conf" usr/share/doc/ringleader/examples/exec.conf
printf '[Unit]\nDescription=what the test starts\n' >etc/systemd/system/tested.target
mkdir before
pivot_root . before
umount -l before
ip link set lo up
export container=test SYSTEMD_PROC_CMDLINE=systemd.unit=tested.target
exec /lib/systemd/systemd --system
`

// machine is a system of its own, in namespaces, with systemd as its first process.
type machine struct {
	*testing.T
	first int
}

// newMachine boots one, which ends with the test, or with this process.
func newMachine(t *testing.T) *machine {
	t.Helper()
	if os.Getuid() != 0 {
		needs.Missing(t, "systemd in namespaces needs root")
	}
	needs.Program(t, "systemd-analyze", "systemd")
	needs.Program(t, "ip", "iproute2")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const held = `unshare --fork --pid --mount --uts --ipc --net --cgroup --kill-child sh -c "$0" sh "$@" >&2 & echo $!; read end; kill -9 $!; wait`
	command := exec.Command("sh", "-c", held, boot, t.TempDir(), program, here)
	command.Stderr = t.Output()
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = command.Wait() // it was killed
	})
	var outer int
	if _, err := fmt.Fscan(out, &outer); err != nil {
		t.Fatal(err)
	}
	m := &machine{T: t}
	clitest.Eventually(t, func() error {
		if !alive(outer) {
			t.Skip("systemd does not boot in namespaces of this machine")
		}
		inner := kerneltest.Children(outer)
		if len(inner) != 1 {
			return errors.New("there is no first process yet")
		}
		m.first = inner[0]
		if state, _ := m.try("systemctl is-system-running"); !slices.Contains([]string{"running", "degraded"}, state) {
			return fmt.Errorf("systemd is %q", state)
		}
		return nil
	})
	return m
}

// alive reports whether a process is there, and no zombie.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(text), ") Z ")
}

// try runs a script of the shell on the machine, and returns what it prints.
func (m *machine) try(script string) (string, error) {
	command := exec.Command("nsenter", "--target", strconv.Itoa(m.first), "--all", "sh", "-euc", script)
	var told strings.Builder
	command.Stdout, command.Stderr = &told, io.MultiWriter(&told, m.Output())
	err := command.Run()
	return strings.TrimSpace(told.String()), err
}

// do is try for what must not fail.
func (m *machine) do(script string) string {
	m.Helper()
	told, err := m.try(script)
	if err != nil {
		m.Fatalf("%s: %v, %s", script, err, told)
	}
	return told
}

// show returns a property of a service.
func (m *machine) show(service, property string) string {
	m.Helper()
	return m.do("systemctl show --property " + property + " --value ringleader@" + service)
}

// leader waits until all services name one term above before, and one of them leads in it. It returns that service and the term.
func (m *machine) leader(services []string, before int) (leader string, term int) {
	m.Helper()
	clitest.Eventually(m.T, func() error {
		var told []string
		leader, term = "", 0
		for _, s := range services {
			text := m.show(s, "StatusText")
			told = append(told, text)
			if strings.HasPrefix(text, "leader in term ") {
				leader = s
			}
			of := 0
			if _, err := fmt.Sscan(text[strings.LastIndex(text, " ")+1:], &of); err != nil || of <= before || term != 0 && of != term {
				return fmt.Errorf("the services say %q", told)
			}
			term = of
		}
		if leader == "" {
			return fmt.Errorf("the services say %q", told)
		}
		return nil
	})
	return leader, term
}

// restarts waits until a service has been started again so many times.
func (m *machine) restarts(service string, times int) {
	m.Helper()
	clitest.Eventually(m.T, func() error {
		if got := m.show(service, "NRestarts"); got != strconv.Itoa(times) {
			return fmt.Errorf("%s was started again %s times, not %d", service, got, times)
		}
		return nil
	})
}

// installed is what the page of systemd tells to do on three machines, here on one. The lease is one that a busy machine keeps, so no leader changes by itself.
const installed = `systemd-sysusers ringleader.conf
systemd-tmpfiles --create ringleader.conf
cd /tmp
ringleader cert --directory certs --group jobs --id 1 --id 2 --id 3
install -d -m 750 -g ringleader /etc/ringleader/jobs
install -m 640 -g ringleader certs/*.pem certs/?.key /etc/ringleader/jobs/
for id in 1 2 3; do
	cat >/etc/ringleader/jobs$id.toml <<END
group = "jobs"
id = $id
data = "/var/lib/ringleader/jobs$id"
member = ["1=127.0.0.1:7001", "2=127.0.0.1:7002", "3=127.0.0.1:7003"]
cert = "/etc/ringleader/jobs/$id.pem"
key = "/etc/ringleader/jobs/$id.key"
ca = "/etc/ringleader/jobs/ca.pem"
lease-file = "/run/ringleader/jobs$id/lease"
lease = "5s"
stall = "1m"
hang = "0s"
END
	runuser -u ringleader -- ringleader init --group jobs --id $id --data /var/lib/ringleader/jobs$id
done
systemctl start ringleader@jobs1 ringleader@jobs2 ringleader@jobs3
`

// The three services are those of one group.
var services = []string{"jobs1", "jobs2", "jobs3"}

func TestServicesOfARunningSystemd(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.do(installed)
	leader, term := m.leader(services, 0)
	m.do("runuser -u nobody -- ringleader lease --check --file /run/ringleader/" + leader + "/lease")

	// The member is killed: its warden ends with it.
	killed := leader
	m.do("kill -9 $(pgrep -P " + m.show(leader, "MainPID") + ")")
	m.restarts(killed, 1)
	leader, term = m.leader(services, term)

	// All processes of the service are stopped: only the watchdog is left to see that.
	stopped, before := leader, m.show(leader, "NRestarts")
	m.do("systemctl kill --signal SIGSTOP --kill-who all ringleader@" + stopped)
	times, _ := strconv.Atoi(before)
	m.restarts(stopped, times+1)
	leader, term = m.leader(services, term)

	m.do("systemctl reload ringleader@" + leader)
	m.do("systemctl stop ringleader@" + leader)
	if result, restarts := m.show(leader, "Result"), m.show(leader, "NRestarts"); result != "success" || restarts != "0" {
		t.Errorf("a service that is stopped has the result %q, and was started again %s times", result, restarts)
	}
	left := slices.DeleteFunc(slices.Clone(services), func(s string) bool { return s == leader })
	gone := leader
	_, term = m.leader(left, term)

	m.do("echo 'lease = \"much\"' >>/etc/ringleader/" + gone + ".toml")
	if told, err := m.try("systemctl start ringleader@" + gone); err == nil {
		t.Errorf("a service with a wrong setting starts: %s", told)
	}
	if status, state := m.show(gone, "ExecMainStatus"), m.show(gone, "ActiveState"); status != "64" || state != "failed" {
		t.Errorf("a service with a wrong setting has ended with status %s, and its state is %q, not failed", status, state)
	}
	m.do("sed -i '$d' /etc/ringleader/" + gone + ".toml; systemctl start ringleader@" + gone)

	// The drop-in runs a command on the leader, confined as it is.
	for _, s := range services {
		folder := "/etc/systemd/system/ringleader@" + s + ".service.d"
		m.do("mkdir -p " + folder + "; sed 's,echo \"term.*sleep 10,echo $RINGLEADER_TERM >/run/ringleader/%i/term; sleep 1000,' /usr/share/doc/ringleader/examples/exec.conf >" + folder + "/exec.conf")
	}
	m.do("systemctl daemon-reload")
	for _, s := range services { // a majority is there all the time
		m.do("systemctl restart ringleader@" + s)
		leader, term = m.leader(services, 0)
	}
	clitest.Eventually(t, func() error {
		if written, err := m.try("cat /run/ringleader/" + leader + "/term"); err != nil || written != strconv.Itoa(term) {
			return fmt.Errorf("the command of term %d has written %q", term, written)
		}
		for _, s := range services {
			if commands, _ := m.try("pgrep -f -x 'sleep 1000' | while read p; do cat /proc/$p/cgroup; done | grep -c " + s); (commands == "1") != (s == leader) {
				return fmt.Errorf("%s runs %s commands, and %s leads", s, commands, leader)
			}
		}
		return nil
	})
	m.do("systemctl stop " + "ringleader@" + strings.Join(services, " ringleader@"))
	if left, _ := m.try("pgrep ringleader; pgrep -f -x 'sleep 1000'"); left != "" {
		t.Errorf("the services were stopped, and these processes are left: %s", left)
	}
}
