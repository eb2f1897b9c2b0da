package plan

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/network"
)

// FaultFlags are the flags for faults: lines of faults, and short forms of some.
type FaultFlags struct {
	Called          string // the exhibit of the gallery that runs; empty: an algorithm of the catalogue
	file, dead      string
	leaderDead      bool
	lines           []string
	crash, recover  []string
	lose, duplicate string
	unordered       bool
	program         string         // as it is called in a shell
	Of              *pflag.FlagSet // all flags of the command, for the replay command
	read            []faultLine
}

// faultLine is a line of faults, and where it was read.
type faultLine struct{ from, text string }

// Flags adds the flags. The program is what the command line is called.
func (o *FaultFlags) Flags(command *cobra.Command, program string) {
	o.program = program
	f := command.Flags()
	o.Of = f
	f.StringVar(&o.file, "faults", "", "file of faults, one per line; - is stdin")
	f.StringArrayVar(&o.lines, "fault", nil, `a fault, such as "crash 5 at 30"; repeated`)
	f.StringVar(&o.dead, "dead", "", "ID,…: processes that are crashed from the start; messages to them count")
	f.BoolVar(&o.leaderDead, "leader-dead", false, "the rightful leader is crashed from the start, and one process initiates: --start, or else the lowest in rank")
	f.StringSliceVar(&o.crash, "crash", nil, "ID@TIME,…: processes that crash")
	f.StringSliceVar(&o.recover, "recover", nil, "ID@TIME,…: processes that recover")
	f.StringVar(&o.lose, "lose", "0", "probability that a message is lost: 1/10 or 0.1")
	f.StringVar(&o.duplicate, "duplicate", "0", "probability that a message arrives twice")
	f.BoolVar(&o.unordered, "non-fifo", false, "links are not FIFO: messages may overtake each other")
}

// FaultNames are the names of the flags for faults; resultNames are those for results.
var FaultNames = []string{"faults", "fault", "dead", "leader-dead", "crash", "recover", "lose", "duplicate", "non-fifo"}

// LeaderDies sets --dead and --start by --leader-dead: the process that would lead has crashed, and one process
// notices.
func (o *FaultFlags) LeaderDies(e *catalogue.Entry, i network.Setup) error {
	if !o.leaderDead {
		return nil
	}
	if e.Winner != election.Largest && e.Winner != election.Smallest || e.Identifiers == election.Anonymous {
		return fmt.Errorf("--leader-dead is for algorithms that elect by rank; %s elects %s", e.Name, e.Winner)
	}
	if i.IDs.Len() < 2 {
		return errors.New("--leader-dead needs at least 2 processes: one of them initiates")
	}
	least, most := i.IDs.At(0), i.IDs.At(0)
	for q := range i.IDs.Len() {
		least, most = min(least, i.IDs.At(q)), max(most, i.IDs.At(q))
	}
	leader, last := most, least
	if e.Winner == election.Smallest {
		leader, last = least, most
	}
	dead := fmt.Sprint(leader)
	if o.dead != "" {
		dead = o.dead + "," + dead
	}
	if err := o.Of.Set("dead", dead); err != nil {
		return err
	}
	if !o.Of.Changed("start") {
		return o.Of.Set("start", fmt.Sprint(last))
	}
	return nil
}

// Faults reads the faults among the processes of a setup.
func (o *FaultFlags) Faults(i network.Setup, stdin io.Reader) (faults.Script, error) {
	if err := o.gather(stdin); err != nil {
		return faults.Script{}, err
	}
	r := faults.NewReader(i.IDs)
	for _, line := range o.read {
		if err := r.Line(line.text); err != nil {
			return faults.Script{}, fmt.Errorf("%s: %w", line.from, err)
		}
	}
	return r.Script, nil
}

// gather collects the lines of all flags and of the file.
func (o *FaultFlags) gather(stdin io.Reader) error {
	if o.file != "" {
		if err := o.readFile(stdin); err != nil {
			return err
		}
	}
	add := func(from, text string) { o.read = append(o.read, faultLine{from, text}) }
	for _, line := range o.lines {
		add("--fault "+option.Excerpt(line), line)
	}
	if o.dead != "" {
		add("--dead", "dead "+o.dead)
	}
	for _, f := range []struct {
		verb string
		list []string
	}{{"crash", o.crash}, {"recover", o.recover}} {
		for _, text := range f.list {
			at := strings.LastIndexByte(text, '@')
			if at < 0 {
				return fmt.Errorf("--%s: %s is not ID@TIME, such as 5@30", f.verb, option.Excerpt(text))
			}
			add("--"+f.verb, f.verb+" "+text[:at]+" at "+text[at+1:])
		}
	}
	for _, f := range []struct{ verb, chance string }{{"lose", o.lose}, {"duplicate", o.duplicate}} {
		if o.Of.Changed(f.verb) {
			add("--"+f.verb, f.verb+" "+f.chance)
		}
	}
	if o.unordered {
		add("--non-fifo", "reorder")
	}
	return nil
}

// mostFaults is the largest size of a file of faults, in bytes.
const mostFaults = 1 << 24

// readFile reads the file of faults: a line each; # begins a comment.
func (o *FaultFlags) readFile(stdin io.Reader) error {
	name, in := o.file, stdin
	if name == "-" {
		name = "stdin"
	} else {
		file, err := os.Open(o.file)
		if err != nil {
			return fmt.Errorf("cannot read the faults in %s: %w", name, report.Reason(err))
		}
		defer file.Close()
		in = file
	}
	text, err := option.ReadAtMost(in, mostFaults)
	switch {
	case err != nil:
		return fmt.Errorf("cannot read the faults in %s: %w", name, report.Reason(err))
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return fmt.Errorf("%s is not text; faults are lines such as crash 5 at 30", name)
	}
	lines := bufio.NewScanner(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	lines.Buffer(nil, mostFaults+1)
	for number := 1; lines.Scan(); number++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(line) != "" {
			o.read = append(o.read, faultLine{fmt.Sprintf("%s:%d", name, number), line})
		}
	}
	return lines.Err()
}

// Locate adds to an error of the simulator where its fault was read.
func (o *FaultFlags) Locate(err error, e *catalogue.Entry, i network.Setup) error {
	var wrong *faults.Error
	if !errors.As(err, &wrong) {
		return err
	}
	p, refused := network.Prepare(e.Declaration, i)
	if refused != nil {
		return err
	}
	verb, _, _ := strings.Cut(wrong.Line, " ")
	from, same := "", false
	for _, line := range o.read { // of several, the last: what came before was right without it
		r := faults.NewReader(i.IDs)
		if r.Line(line.text) != nil {
			continue
		}
		if slices.Contains(r.Script.Lines(p), wrong.Line) {
			from, same = line.from, true
		} else if !same && strings.HasPrefix(strings.TrimSpace(line.text), verb) {
			from = line.from // of its sort
		}
	}
	if from == "" {
		return err
	}
	if from == "--fault "+option.Excerpt(wrong.Line) {
		return fmt.Errorf("%s: %s", from, wrong.Why)
	}
	return fmt.Errorf("%s: %w", from, wrong)
}

// Replay returns the command line that repeats the run, with these faults.
func (o *FaultFlags) Replay(e *catalogue.Entry, lines []string) string {
	call := []string{o.program, "run", cmp.Or(o.Called, e.Name)}
	call = append(call, flagWords(o.Of, slices.Concat(FaultNames, ResultNames, StoryNames, []string{"save", "scenario"}))...)
	for _, line := range lines {
		call = append(call, "--fault", report.ShellWord(line))
	}
	return strings.Join(call, " ")
}
