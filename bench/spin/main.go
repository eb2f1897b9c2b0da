//go:build unix

// Spin measures Spin and ringleader verify on the same elections, in one run: states, processor time, memory. It needs
// spin, gcc and go. README.md beside it explains what is compared, and the counts of states.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"
)

// study is an election that both check.
type study struct {
	Algorithm string `json:"algorithm"`
	N         int    `json:"n"`
	Orders    string `json:"orders"` // "all", or "decreasing"
}

// side is what one of the two did.
type side struct {
	States        int     `json:"states"`
	Seconds       float64 `json:"cpu_seconds"` // of all runs, the least
	Resident      int     `json:"resident_bytes"`
	BytesPerState float64 `json:"bytes_per_state"`
}

// comparison is one line of the table.
type comparison struct {
	study
	Spin  side    `json:"spin"`
	Ours  side    `json:"ringleader"`
	Ratio float64 `json:"cpu_ratio"` // ours by Spin's
}

// bench holds what the runs share.
type bench struct {
	folder string // for what Spin generates
	binary string // ringleader
	times  int
}

func main() {
	times := flag.Int("times", 3, "how often both run; the least processor time counts")
	large := flag.Bool("large", false, "also all orders of dolev-klawe-rodeh with n = 7, for which Spin takes 4 GB")
	out := flag.String("json", "", "write the results into this file")
	flag.Parse()
	if err := run(*times, *large, *out); err != nil {
		fmt.Fprintln(os.Stderr, "spin:", err)
		os.Exit(1)
	}
}

func run(times int, large bool, out string) error {
	folder, err := os.MkdirTemp("", "bench-spin")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	b := &bench{folder: folder, binary: filepath.Join(folder, "ringleader"), times: max(1, times)}
	if err := command("../..", "go", "build", "-o", b.binary, "./cmd/ringleader").Run(); err != nil {
		return fmt.Errorf("building ringleader, from its folder bench/spin: %w", err)
	}
	var all []comparison
	for _, s := range studies(large) {
		c, err := b.compare(s)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	table(os.Stdout, all)
	if out == "" {
		return nil
	}
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(out, append(text, '\n'), 0o600)
}

func studies(large bool) (all []study) {
	for n := 5; n <= 7; n++ {
		all = append(all, study{"lcr", n, "all"})
	}
	if large {
		all = append(all, study{"dolev-klawe-rodeh", 7, "all"})
	}
	for _, algorithm := range []string{"lcr", "dolev-klawe-rodeh"} {
		for n := 3; n <= 8; n++ {
			all = append(all, study{algorithm, n, "decreasing"})
		}
	}
	return all
}

// compare lets both run in turn, so that they meet the same load.
func (b *bench) compare(s study) (c comparison, err error) {
	c.study = s
	if err := b.generate(s); err != nil {
		return c, err
	}
	for range b.times {
		if err := c.Spin.measure(command(b.folder, "./pan", "-m1000000", s.hash(), "-c0", "-n"), spinStates); err != nil {
			return c, err
		}
		if err := c.Ours.measure(command("", b.binary, s.verify()...), ourStates); err != nil {
			return c, err
		}
	}
	c.Ratio = c.Ours.Seconds / c.Spin.Seconds
	return c, nil
}

// generate makes Spin's checker of an election.
func (b *bench) generate(s study) error {
	model, order := map[string]string{"lcr": "lcr.pml", "dolev-klawe-rodeh": "dkr.pml"}[s.Algorithm], "0"
	if s.Orders == "all" {
		order = "1"
	}
	here, err := filepath.Abs(model)
	if err != nil {
		return err
	}
	for _, c := range []*exec.Cmd{
		command(b.folder, "spin", "-a", "-DN="+strconv.Itoa(s.N), "-DORDER="+order, here),
		command(b.folder, "gcc", "-O2", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"),
	} {
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(c.Args, " "), err, text)
		}
	}
	return nil
}

// hash returns the size of Spin's table: without it, clearing the table takes most of the time of a small search.
func (s study) hash() string {
	if s.Orders == "all" && s.N >= 7 {
		return "-w24"
	}
	return "-w18"
}

// verify returns the arguments of ringleader for an election: no reduction, one core, and each process starts when the
// schedule decides, as in the models.
func (s study) verify() []string {
	arguments := []string{"verify", s.Algorithm, "--start", "each", "--reduce", "none", "--cores", "1", "--json"}
	if s.Orders == "all" {
		return append(arguments, "--n", strconv.Itoa(s.N), "--rotations")
	}
	var ids []string
	for id := s.N; id > 0; id-- {
		ids = append(ids, strconv.Itoa(id))
	}
	return append(arguments, "--ids", strings.Join(ids, ","))
}

func command(folder, name string, arguments ...string) *exec.Cmd {
	c := exec.Command(name, arguments...)
	c.Dir = folder
	return c
}

var errCount = errors.New("it prints no number of states")

func spinStates(out []byte) (int, error) {
	found := regexp.MustCompile(`(\d+) states, stored`).FindSubmatch(out)
	if found == nil || !strings.Contains(string(out), "errors: 0") {
		return 0, errCount
	}
	return strconv.Atoi(string(found[1]))
}

func ourStates(out []byte) (int, error) {
	var result struct {
		States int
		Holds  bool
	}
	if err := json.Unmarshal(out, &result); err != nil || !result.Holds {
		return 0, errors.Join(errCount, err)
	}
	return result.States, nil
}

// measure runs a command once, and keeps the least processor time.
func (s *side) measure(c *exec.Cmd, states func([]byte) (int, error)) error {
	out, err := c.Output()
	if err == nil {
		s.States, err = states(out)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(c.Args, " "), err)
	}
	used := c.ProcessState.SysUsage().(*syscall.Rusage)
	if s.Resident = int(used.Maxrss); runtime.GOOS != "darwin" { // in KiB
		s.Resident <<= 10
	}
	s.BytesPerState = float64(s.Resident) / float64(s.States)
	seconds := (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	if s.Seconds == 0 || seconds < s.Seconds {
		s.Seconds = seconds
	}
	return nil
}

// table prints the results for people.
func table(to io.Writer, all []comparison) {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "election\tn\torders\tSpin: states\tCPU s\tbytes a state\tringleader: states\tCPU s\tbytes a state\tCPU ratio\t")
	for _, c := range all {
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%.2f\t%.1f\t%d\t%.2f\t%.1f\t%.2f\t\n", c.Algorithm, c.N, c.Orders,
			c.Spin.States, c.Spin.Seconds, c.Spin.BytesPerState, c.Ours.States, c.Ours.Seconds, c.Ours.BytesPerState, c.Ratio)
	}
	w.Flush()
}
