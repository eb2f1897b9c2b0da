// Package clients has readers of the lease file in other languages. Its tests give all of them the same files, written here
// byte by byte, and compare what they say.
package clients

import (
	"bufio"
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"ringleader.example/ringleader/internal/core/needs"
	"ringleader.example/ringleader/leasefile"
)

// language is a client, driven by a program of testdata.
type language struct {
	name, tool, debian string
	command            func(dir string) []string // what runs the driver
	compile            func(dir string) []string // what compiles it into a folder, once; nil: nothing
	compiled           sync.Once

	resting *driver // a driver that no test uses, and that the next one may; nil: none
}

// quick makes a virtual machine of Java start with less work. It runs for a second, which its better compiler is not worth.
const quick = "-XX:TieredStopAtLevel=1"

var languages = []*language{
	{name: "python", tool: "python3", debian: "python3", command: func(string) []string {
		return []string{"env", "PYTHONPATH=python", "PYTHONDONTWRITEBYTECODE=1", "python3", "testdata/driver.py"}
	}},
	{name: "c", tool: "cc", debian: "gcc libc6-dev", command: func(dir string) []string {
		return []string{filepath.Join(dir, "driver")}
	}, compile: func(dir string) []string {
		return []string{"cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-Ic", "-o", filepath.Join(dir, "driver"), "testdata/driver.c"}
	}},
	{name: "node", tool: "node", debian: "nodejs", command: func(string) []string {
		return []string{"node", "testdata/driver.js"}
	}},
	{name: "java", tool: "javac", debian: "default-jdk-headless", command: func(dir string) []string {
		return []string{"java", "-XX:+UseSerialGC", quick, "-cp", dir, "Driver"}
	}, compile: func(dir string) []string {
		return []string{"javac", "-J-XX:+UseSerialGC", "-J" + quick, "--release", "11", "-Xlint:all", "-Werror", "-d", dir, "java/src/main/java/ringleader/lease/Lease.java", "testdata/Driver.java"}
	}},
}

// binaries is the folder of compiled drivers.
var binaries string

func TestMain(m *testing.M) {
	var err error
	if binaries, err = os.MkdirTemp("", "clients"); err != nil {
		panic(err)
	}
	status := m.Run()
	for _, l := range languages {
		if l.resting == nil {
			continue
		}
		if err := l.resting.end(); err != nil {
			fmt.Fprintf(os.Stderr, "the driver of %s: %v\n", l.name, err)
			status = max(status, 1)
		}
	}
	os.RemoveAll(binaries)
	os.Exit(status)
}

func run(t testing.TB, name string, arguments ...string) {
	t.Helper()
	if out, err := exec.Command(name, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// driver is a running program that uses a client.
type driver struct {
	t       testing.TB
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// end lets the driver end.
func (d *driver) end() error {
	d.in.Close()
	return d.command.Wait()
}

// inEach runs a test with each client, at the same time. What the test defers comes before that, and its cleanups come after. Before the
// command of the driver stands a prefix. Without one, the driver is the one of the test before.
func inEach(t *testing.T, test func(*testing.T, *driver), prefix ...string) {
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			if len(prefix) > 0 {
				test(t, l.start(t, prefix...))
			} else {
				test(t, l.rested(t))
			}
		})
	}
}

// rested returns a driver that rests again after the test, unless that fails.
func (l *language) rested(t *testing.T) *driver {
	t.Helper()
	d := l.resting
	if l.resting = nil; d == nil {
		d = l.launch(t, os.Stderr)
	}
	d.t = t
	t.Cleanup(func() {
		if !t.Failed() {
			l.resting = d
		} else if err := d.end(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// sources reads all files here. Go takes the result of an earlier run if what the test has read is the same, and does not
// know what other processes read.
var sources = sync.OnceValue(func() error {
	return filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			_, err = os.ReadFile(path)
		}
		return err
	})
})

// start starts the driver, which ends with the test. Before its command stands a prefix.
func (l *language) start(t testing.TB, prefix ...string) *driver {
	t.Helper()
	d := l.launch(t, t.Output(), prefix...)
	t.Cleanup(func() {
		if err := d.end(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// launch starts the driver. The caller ends it.
func (l *language) launch(t testing.TB, complaints io.Writer, prefix ...string) *driver {
	t.Helper()
	needs.Program(t, l.tool, l.debian)
	if err := sources(); err != nil {
		t.Fatal(err)
	}
	if l.compile != nil {
		l.compiled.Do(func() {
			command := l.compile(binaries)
			run(t, command[0], command[1:]...)
		})
	}
	command := slices.Concat(prefix, l.command(binaries))
	c := exec.Command(command[0], command[1:]...)
	c.Stderr = complaints
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return &driver{t, c, in, bufio.NewReader(out)}
}

// tell sends a command, and heard returns its answer.
func (d *driver) tell(command string) {
	d.t.Helper()
	if _, err := fmt.Fprintln(d.in, command); err != nil {
		d.t.Fatal(err)
	}
}

func (d *driver) heard() string {
	d.t.Helper()
	line, err := d.out.ReadString('\n')
	if err != nil {
		d.t.Fatalf("the driver has ended: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (d *driver) ask(command string) string {
	d.t.Helper()
	d.tell(command)
	return d.heard()
}

// wants lets the client open a file, and compares its answer. With an empty path, the client reads the file that it has.
func (d *driver) wants(path, want string) {
	d.t.Helper()
	if path != "" {
		d.ask("open " + path)
	}
	if got := d.ask("read"); got != want {
		d.t.Errorf("%s says\n\t%s, want\n\t%s", cmp.Or(path, "the file"), got, want)
	}
}

func TestClientsAgreeAboutEveryFile(t *testing.T) {
	const broken = "no state in the file is whole"
	changed := func(s slot, change func(*slot)) slot {
		change(&s)
		return s
	}
	now := leads(5, 12, "here", hour)
	long := strings.Repeat("v", 1024)
	misplaced := file(t)
	copy(misplaced[first:], leads(4, 13, "there", hour).bytes())
	own := namespace(t)
	both := file(t, leads(4, 13, "there", hour))
	copy(both[first:], leads(4, 14, "here", hour).bytes())
	cases := []struct {
		name string
		file []byte // nil: there is none
		want string
	}{
		{"a leader", file(t, now), said(true, 12, "here", "")},
		{"a leader in the second slot", file(t, leads(6, 13, "", hour)), said(true, 13, "", "")},
		{"the longest value", file(t, leads(6, 13, long, hour)), said(true, 13, long, "")},
		{"a value that is too long", file(t, leads(6, 13, long+"v", hour)), said(false, 0, "", broken)},
		{"flags of the future", file(t, changed(now, func(s *slot) { s.flags |= 8 })), said(true, 12, "here", "")},
		{"the newer of two", file(t, now, leads(6, 13, "there", hour)), said(true, 13, "there", "")},
		{"the newer of two, which comes first", file(t, now, leads(4, 11, "there", hour)), said(true, 12, "here", "")},
		{"large numbers", file(t, leads(1<<63+1, 1<<63+9, "", hour), leads(1<<63, 1, "", hour)), said(true, 1<<63+9, "", "")},
		{"a late end", file(t, changed(now, func(s *slot) { s.boottime, s.monotonic = math.MaxInt64, math.MaxInt64 })), said(true, 12, "here", "")},
		{"an end on CLOCK_BOOTTIME", file(t, changed(now, func(s *slot) { s.boottime -= hour })), said(false, 0, "here", "the lease has ended")},
		{"an end on CLOCK_MONOTONIC", file(t, changed(now, func(s *slot) { s.monotonic -= hour })), said(false, 0, "here", "the lease has ended")},
		{"an early end on CLOCK_BOOTTIME", file(t, changed(now, func(s *slot) { s.boottime = math.MinInt64 })), said(false, 0, "here", "the lease has ended")},
		{"an early end on CLOCK_MONOTONIC", file(t, changed(now, func(s *slot) { s.monotonic = math.MinInt64 })), said(false, 0, "here", "the lease has ended")},
		{"no leader", file(t, changed(now, func(s *slot) { s.flags = 0 })), said(false, 0, "here", "not leader")},
		{"no leader, after one", file(t, now, changed(now, func(s *slot) { s.sequence, s.flags = 6, 0 })), said(false, 0, "here", "not leader")},
		{"a writer that has ended", file(t, changed(now, func(s *slot) { s.flags = closed })), said(false, 0, "here", "the writer has ended")},
		{"a writer that has ended as leader", file(t, changed(now, func(s *slot) { s.flags |= closed })), said(false, 0, "here", "the writer has ended")},
		{"another boot", sealed(flipped(file(t, now), 20)), said(false, 0, "", "the file is of another boot")},
		{"the time namespace of the reader", within(file(t, now), own), said(true, 12, "here", "")},
		{"another time namespace", within(file(t, now), own+1), said(false, 0, "", "the file is of another time namespace")},
		{"another boot, in another time namespace", within(flipped(file(t, now), 20), own+1), said(false, 0, "", "the file is of another boot")},
		{"a newer slot with a wrong checksum", flipped(file(t, now, leads(6, 13, "there", hour)), second+16), said(false, 0, "", broken)},
		{"a newer slot with a wrong value", flipped(file(t, now, leads(6, 13, "there", hour)), second+48), said(false, 0, "", broken)},
		{"an older slot with a wrong checksum", flipped(file(t, now, leads(4, 11, "there", hour)), second+16), said(true, 12, "here", "")},
		{"bytes behind a value", flipped(file(t, now), first+48+len("here")), said(true, 12, "here", "")},
		{"a slot that is being written", file(t, now, changed(now, func(s *slot) { s.sequence, s.flags = 0, 0 })), said(true, 12, "here", "")},
		{"an even sequence in the first slot", misplaced, said(false, 0, "", broken)},
		{"the same even sequence in both slots", both, said(false, 0, "", broken)},
		{"two slots with wrong checksums", flipped(flipped(file(t, now, leads(6, 13, "there", hour)), second+24), first+24), said(false, 0, "", broken)},
		{"no slot written", file(t), said(false, 0, "", broken)},
		{"another version", sealed(append([]byte("RLEASE02"), file(t, now)[8:]...)), unread("the version of the file is 02, not 01")},
		{"another magic", append([]byte("RLEASEXX"), file(t, now)[8:]...), unread("not a lease file")},
		{"zeros", make([]byte, size), unread("not a lease file")},
		{"a damaged group", flipped(file(t, now), 51), unread("the head of the file is damaged")},
		{"a damaged head behind the group", flipped(file(t, now), 255), unread("the head of the file is damaged")},
		{"another size", sealed(flipped(file(t, now), 13)), unread("the head of the file is damaged")},
		{"a group whose name is too long", sealed(append(append(file(t, now)[:48:48], 201, 0), file(t, now)[50:]...)), unread("the head of the file is damaged")},
		{"a short file", file(t, now)[:size-1], unread("the file is shorter than 4096 bytes")},
		{"the magic alone", []byte("RLEASE"), unread("the file is shorter than 4096 bytes")},
		{"an empty file", []byte{}, unread("the file is shorter than 4096 bytes")},
		{"a file with more behind", append(file(t, now), 1), said(true, 12, "here", "")},
		{"no file", nil, unread("no such file")},
	}
	t.Run("go", func(t *testing.T) {
		for i, c := range cases {
			path := filepath.Join(t.TempDir(), strconv.Itoa(i))
			if c.file != nil {
				place(t, path, c.file)
			}
			if got, want := inGo(path), problem(c.want); got != want {
				t.Errorf("%s: package leasefile says\n\t%s, want\n\t%s", c.name, got, want)
			}
		}
	})
	inEach(t, func(t *testing.T, d *driver) {
		for i, c := range cases {
			path := filepath.Join(t.TempDir(), strconv.Itoa(i))
			if c.file != nil {
				place(t, path, c.file)
			}
			d.ask("open " + path)
			if got := d.ask("read"); got != c.want {
				t.Errorf("%s: the client says\n\t%s, want\n\t%s", c.name, got, c.want)
			}
		}
		dir := t.TempDir()
		d.wants(dir, unread("not a lease file"))
		pipe := filepath.Join(dir, "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		d.wants(pipe, unread("not a lease file"))
	})
}

// inGo returns the answer of package leasefile for a file, in the form of a driver.
func inGo(path string) string {
	r, err := leasefile.Open(path)
	for _, known := range []error{fs.ErrNotExist, leasefile.ErrVersion, leasefile.ErrFormat, leasefile.ErrTimeNamespace, err} {
		if err != nil && errors.Is(err, known) {
			return known.Error()
		}
	}
	defer r.Close()
	term, _, valid := r.Valid()
	s, err := r.Read()
	if !valid || err != nil {
		return fmt.Sprintf("false|0|%d|%s, %v", s.Member, s.Group, err)
	}
	return fmt.Sprintf("true|%d|%x|%d|%s", term, s.Value, s.Member, s.Group)
}

// problem is the answer of a client in the words of inGo.
func problem(said string) string {
	s := strings.Split(said, "|")
	switch reason := s[5]; {
	case reason == "no such file":
		return fs.ErrNotExist.Error()
	case strings.HasPrefix(reason, "the version"):
		return leasefile.ErrVersion.Error()
	case strings.HasSuffix(reason, "time namespace"):
		return leasefile.ErrTimeNamespace.Error()
	case s[4] == "":
		return leasefile.ErrFormat.Error()
	case reason != "":
		return fmt.Sprintf("false|0|%s|%s, <nil>", s[3], s[4])
	}
	return strings.Join(s[:5], "|")
}

func TestClientsFollowTheFile(t *testing.T) {
	inEach(t, func(t *testing.T, d *driver) {
		path := filepath.Join(t.TempDir(), "lease")
		d.wants(path, unread("no such file"))
		place(t, path, file(t, leads(1, 3, "a", hour)))
		d.wants("", said(true, 3, "a", ""))
		store(t, path, slot{sequence: 2, term: 4, value: "b"})
		d.wants("", said(false, 0, "b", "not leader"))
		store(t, path, leads(3, 5, "c", hour))
		d.wants("", said(true, 5, "c", ""))

		// Another file does not end a lease: its writer may have died, and the member leads until the end.
		old := path + ".old"
		if err := os.Link(path, old); err != nil {
			t.Fatal(err)
		}
		place(t, path, file(t, leads(1, 6, "d", hour)))
		d.wants("", said(true, 5, "c", ""))
		store(t, old, slot{sequence: 4, flags: closed})
		d.wants("", said(true, 6, "d", ""))

		place(t, path, file(t, leads(1, 7, "e", hour))[:100])
		store(t, path, slot{sequence: 2})
		d.wants("", said(true, 6, "d", ""))
	})
}

func TestClientsWait(t *testing.T) {
	inEach(t, func(t *testing.T, d *driver) {
		path := filepath.Join(t.TempDir(), "lease")
		d.ask("open " + path)
		if got := d.ask("wait 0.02"); got != "timeout" {
			t.Errorf("without a file, wait returns %s", got)
		}
		d.tell("wait 1e12") // seconds: more than 64 bits have room for as nanoseconds
		place(t, path, file(t, slot{sequence: 1}))
		store(t, path, leads(2, 8, "", hour))
		if got := d.heard(); got != "8" {
			t.Errorf("wait returns %s, want the term 8", got)
		}
		for _, c := range []struct {
			s    slot
			want string
		}{
			{leads(3, 8, "", hour), said(true, 8, "", "")},
			{leads(4, 8, "x", 2*hour), said(true, 8, "x", "")},
			{slot{sequence: 6, term: 9}, said(false, 0, "", "not leader")},
			{slot{sequence: 8, term: 9, value: "y"}, said(false, 0, "y", "not leader")},
			{leads(9, 10, "y", hour), said(true, 10, "y", "")},
			{leads(11, 11, "y", hour), said(true, 11, "y", "")},
		} {
			store(t, path, c.s)
			if got := d.ask("change"); got != c.want {
				t.Errorf("the change is %s, want %s", got, c.want)
			}
		}
		store(t, path, leads(13, 0, "", hour))
		if got := d.ask("wait 60"); got != "0" {
			t.Errorf("wait returns %s, want the term 0", got)
		}
	})
}

// A suspension moves CLOCK_BOOTTIME and not CLOCK_MONOTONIC. No test suspends its machine; a namespace moves the clocks
// likewise.
func TestClientsCountSuspension(t *testing.T) {
	const boottime, monotonic = 200_000, 100_000 // seconds
	const ended = "the lease has ended"
	prefix := []string{"unshare", "--time", "--boottime", strconv.Itoa(boottime), "--monotonic", strconv.Itoa(monotonic), "--fork"}
	if os.Getuid() != 0 {
		prefix = slices.Insert(prefix, 1, "--user", "--map-root-user")
	}
	if out, err := exec.Command(prefix[0], append(prefix[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no namespace of time: %v, %s", err, bytes.TrimSpace(out))
	}
	inEach(t, func(t *testing.T, d *driver) {
		path := filepath.Join(t.TempDir(), "lease")
		for _, c := range []struct {
			boottime, monotonic int64 // how far the ends are moved
			want                string
		}{
			{0, 0, said(false, 0, "", ended)},
			{boottime, monotonic, said(true, 3, "", "")},
			{boottime, 0, said(false, 0, "", ended)},
			{0, monotonic, said(false, 0, "", ended)},
			{boottime - 3600, monotonic, said(false, 0, "", ended)},
			{boottime, monotonic - 3600, said(false, 0, "", ended)},
		} {
			s := leads(1, 3, "", hour)
			s.boottime += c.boottime * int64(time.Second)
			s.monotonic += c.monotonic * int64(time.Second)
			place(t, path, file(t, s))
			d.wants(path, c.want)
		}

		// A member outside has other clocks. Without a look at that, its lease would seem to run.
		path = filepath.Join(t.TempDir(), "lease")
		member, err := leasefile.Create(path, "grün", 7)
		if err != nil {
			t.Fatal(err)
		}
		defer member.Close()
		member.Show(true, 3, func() time.Duration { return boottime * time.Second * 2 }, "")
		d.wants(path, said(false, 0, "", "the file is of another time namespace"))
	}, prefix...)
}

// Some processors of 32 bits have no load of 64 bits. The compiler then calls a library, which a user has to link, and which may write to the mapped page.
// The test compiles for such a processor, and links nothing.
func TestTheHeaderNeedsNoLibraryOn32Bits(t *testing.T) {
	dir := t.TempDir()
	object, headers := filepath.Join(dir, "driver.o"), filepath.Join(dir, "gnu")
	if err := os.Mkdir(headers, 0o700); err != nil {
		t.Fatal(err)
	}
	// Each header of the C library includes gnu/stubs-32.h, which only the library for 32 bits has. Nothing here uses what it defines.
	if err := os.WriteFile(filepath.Join(headers, "stubs-32.h"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	compile := []string{"-m32", "-march=i486", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-I" + dir, "-isystem", "/usr/include/x86_64-linux-gnu", "-Ic", "-c", "-o", object, "-x", "c"}
	trial := exec.Command("cc", append(compile, "-")...)
	trial.Stdin = strings.NewReader("#include <stdio.h>\nint nothing;\n")
	if out, err := trial.CombinedOutput(); err != nil {
		t.Skipf("no compiler for an i486: %v, %s", err, out)
	}
	if err := sources(); err != nil {
		t.Fatal(err)
	}
	run(t, "cc", append(compile, "testdata/driver.c")...)
	file, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF && strings.HasPrefix(s.Name, "__atomic") {
			t.Errorf("it needs %s", s.Name)
		}
	}
}

// The module of Python tells in its exit status whether the member leads.
func TestTheModuleOfPythonIsACommand(t *testing.T) {
	needs.Program(t, "python3", "python3")
	path := filepath.Join(t.TempDir(), "lease")
	place(t, path, file(t, leads(1, 3, "", hour)))
	for _, c := range []struct {
		arguments []string
		status    int
		says      string
	}{
		{[]string{path}, 0, "leader, term 3, "},
		{[]string{path + " "}, 1, "no such file\n"},
		{nil, 64, "no path of a lease file, and RINGLEADER_LEASE is not set\n"},
	} {
		command := exec.Command("python3", append([]string{"-m", "ringleader_lease"}, c.arguments...)...)
		command.Env = append(os.Environ(), "PYTHONPATH=python", "PYTHONDONTWRITEBYTECODE=1", "RINGLEADER_LEASE=")
		said, err := command.CombinedOutput()
		if command.ProcessState.ExitCode() != c.status || !strings.HasPrefix(string(said), c.says) {
			t.Errorf("%q: %v, %s", c.arguments, err, said)
		}
	}
}

// The fence pattern of the page for Python is what it says.
func TestPythonFencesItsDatabase(t *testing.T) {
	needs.Program(t, "python3", "python3")
	page, err := os.ReadFile("python/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, pattern, _ := strings.Cut(string(page), "```python\nimport sqlite3\n")
	pattern, _, _ = strings.Cut(pattern, "```")
	path := filepath.Join(t.TempDir(), "lease")
	place(t, path, file(t, leads(1, 5, "", hour)))
	c := exec.Command("python3", "-c", "import sqlite3\n"+pattern+`
pay(database, lease, 3)
assert database.execute("SELECT paid, term FROM account").fetchall() == [(3, 5)]
database.execute("UPDATE account SET term = 6")  # a successor has written
try:
    pay(database, lease, 4)
except Replaced:
    print(database.execute("SELECT paid, term FROM account").fetchall())
`)
	c.Env = append(os.Environ(), "PYTHONPATH=python", "PYTHONDONTWRITEBYTECODE=1", "RINGLEADER_LEASE="+path)
	out, err := c.CombinedOutput()
	if got := string(out); err != nil || got != "[(3, 6)]\n" {
		t.Errorf("it prints %s: %v", got, err)
	}
}

// The program of the first page says when its member leads, and when no longer.
func TestTheWorkerOfTheFirstPage(t *testing.T) {
	needs.Program(t, "python3", "python3")
	page, err := os.ReadFile("../docs/start.md")
	if err != nil {
		t.Fatal(err)
	}
	_, worker, _ := strings.Cut(string(page), "```python\n")
	worker, _, _ = strings.Cut(worker, "```")
	path := filepath.Join(t.TempDir(), "lease")
	member, err := leasefile.Create(path, "jobs", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer member.Close()
	rest := func() time.Duration { return time.Hour }
	member.Show(true, 5, rest, "")
	c := exec.CommandContext(t.Context(), "python3", "-c", worker, path)
	c.Env = append(os.Environ(), "PYTHONPATH=python", "PYTHONDONTWRITEBYTECODE=1")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	wants := func(want string) {
		t.Helper()
		if line, err := said.ReadString('\n'); err != nil || line != want+"\n" {
			t.Errorf("it prints %q, and not %q: %v", line, want, err)
		}
	}
	wants("leader in term 5")
	member.Show(false, 5, rest, "")
	wants("no longer the leader")
	member.Show(true, 6, rest, "")
	wants("leader in term 6")
	_ = c.Process.Kill()
	_ = c.Wait()
}

// A writer that stores state after state is never read in two halves, and no client goes back.
func TestClientsReadNoHalves(t *testing.T) {
	value := func(term uint64) string {
		return strings.Repeat(string(rune('a'+term%26)), int(term%1024))
	}
	path := filepath.Join(t.TempDir(), "lease")
	place(t, path, file(t, leads(1, 1, value(1), hour)))
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	memory, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(memory) })
	done, ended := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() {
		close(done)
		<-ended
	})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(200 * time.Microsecond)
		defer ticker.Stop()
		for term := uint64(2); ; term++ {
			s := leads(term, term, value(term), hour)
			at := memory[s.at():]
			sequence := (*atomic.Uint64)(unsafe.Pointer(&at[0])) // tests run on little-endian machines
			sequence.Store(0)
			copy(at[12:], s.bytes()[12:])
			copy(at[8:12], s.bytes()[8:])
			sequence.Store(term)
			select {
			case <-done:
				return
			case <-ticker.C:
			}
		}
	}()
	inEach(t, func(t *testing.T, d *driver) {
		d.ask("open " + path)
		last := uint64(0)
		for range 200 {
			got := d.ask("change")
			term, err := strconv.ParseUint(strings.Split(got, "|")[1], 10, 64)
			if want := said(true, term, value(term), ""); err != nil || got != want || term <= last {
				t.Fatalf("after term %d the client says\n\t%s", last, got)
			}
			last = term
		}
	})
}

// A client that waits opens a file that is of no use 200 times a second. The mappings of a process have a limit.
func TestClientsKeepNoMappingOfAFileWithoutUse(t *testing.T) {
	inEach(t, func(t *testing.T, d *driver) {
		path := filepath.Join(t.TempDir(), "lease")
		place(t, path, sealed(flipped(file(t, leads(1, 3, "", hour)), 20)))
		for range 10 {
			d.wants(path, said(false, 0, "", "the file is of another boot"))
		}
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", d.command.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(maps), path); n > 1 {
			t.Errorf("%d mappings", n)
		}
	})
}

// lxcfs lays another file over /proc/uptime. A client that would take it for the clock takes no lease while it is there.
func TestClientsRefuseAnotherUptime(t *testing.T) {
	uptime := filepath.Join(t.TempDir(), "uptime")
	if err := os.WriteFile(uptime, []byte("1.00 1.00\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	prefix := mounted(t, `mount --bind "$0" /proc/uptime`, uptime)
	path := filepath.Join(t.TempDir(), "lease")
	place(t, path, file(t, leads(1, 3, "", hour)))
	inEach(t, func(t *testing.T, d *driver) {
		want := said(true, 3, "", "")
		if name := filepath.Base(t.Name()); name == "node" || name == "java" {
			want = said(false, 0, "", "/proc/uptime is not the clock of the machine")
		}
		d.wants(path, want)
		enter := []string{"--mount", "--target", strconv.Itoa(d.command.Process.Pid), "umount", "/proc/uptime"}
		if os.Getuid() != 0 {
			enter = slices.Insert(enter, 0, "--user", "--preserve-credentials")
		}
		run(t, "nsenter", enter...)
		d.wants("", said(true, 3, "", ""))
	}, prefix...)
}

// mounted returns the beginning of a command that runs in a namespace of mounts, after a mount in it. The mount may use a name as $0.
func mounted(t *testing.T, mount, name string) []string {
	t.Helper()
	prefix := []string{"unshare", "--mount", "sh", "-c", mount + ` && exec "$@"`, name}
	if os.Getuid() != 0 {
		prefix = slices.Insert(prefix, 1, "--user", "--map-root-user")
	}
	if out, err := exec.Command(prefix[0], append(prefix[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("no namespace of mounts: %v, %s", err, bytes.TrimSpace(out))
	}
	return prefix
}

// Without the name of this start of the system, no client takes a lease, and all tell why.
func TestClientsNeedTheBootID(t *testing.T) {
	prefix := mounted(t, "mount -t tmpfs none /proc/sys/kernel/random", "sh")
	path := filepath.Join(t.TempDir(), "lease")
	place(t, path, file(t, leads(1, 3, "", hour)))
	inEach(t, func(t *testing.T, d *driver) {
		d.wants(path, said(false, 0, "", "the boot id of this machine cannot be read"))
	}, prefix...)
}

// BenchmarkValid measures valid in the loop of a language.
func BenchmarkValid(b *testing.B) {
	for _, l := range languages {
		b.Run(l.name, func(b *testing.B) {
			d := l.start(b)
			path := filepath.Join(b.TempDir(), "lease")
			place(b, path, file(b, leads(1, 3, "10.0.0.1:7000", hour)))
			d.wants(path, said(true, 3, "10.0.0.1:7000", ""))
			d.ask("measure 20000")
			nanoseconds, err := strconv.ParseFloat(d.ask("measure "+strconv.Itoa(b.N)), 64)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(nanoseconds, "ns/op")
		})
	}
}
