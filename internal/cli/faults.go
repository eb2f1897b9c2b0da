package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// faultFlags say what goes wrong in a run: lines of faults, and short forms of some.
type faultFlags struct {
	file, dead      string
	lines           []string
	crash, recover  []string
	lose, duplicate string
	unordered       bool
	of              *pflag.FlagSet // all flags of the command, to say how a run is replayed
	read            []faultLine
}

// faultLine is a line of faults, and where it was read.
type faultLine struct{ from, text string }

func (o *faultFlags) flags(command *cobra.Command) {
	f := command.Flags()
	o.of = f
	f.StringVar(&o.file, "faults", "", "what goes wrong, a line each, in a file; - is stdin")
	f.StringArrayVar(&o.lines, "fault", nil, `a line of faults, such as "crash 5 at 30"; repeated`)
	f.StringVar(&o.dead, "dead", "", "ID,…: processes that never run; what is sent to them is counted")
	f.StringSliceVar(&o.crash, "crash", nil, "ID@TIME,…: processes that crash")
	f.StringSliceVar(&o.recover, "recover", nil, "ID@TIME,…: processes that come back")
	f.StringVar(&o.lose, "lose", "0", "the chance that a message is lost: 1/10 or 0.1")
	f.StringVar(&o.duplicate, "duplicate", "0", "the chance that a message arrives twice")
	f.BoolVar(&o.unordered, "non-fifo", false, "messages on one link may overtake each other")
}

// faultNames are the flags that say what goes wrong; those that say where a result goes are named by results.
var faultNames = []string{"faults", "fault", "dead", "crash", "recover", "lose", "duplicate", "non-fifo"}

// faults reads what goes wrong among the processes of an instance.
func (o *faultFlags) faults(i network.Setup, stdin io.Reader) (faults.Script, error) {
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
func (o *faultFlags) gather(stdin io.Reader) error {
	if o.file != "" {
		if err := o.readFile(stdin); err != nil {
			return err
		}
	}
	add := func(from, text string) { o.read = append(o.read, faultLine{from, text}) }
	for _, line := range o.lines {
		add("--fault "+excerpt(line), line)
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
				return fmt.Errorf("--%s: %s is not ID@TIME, such as 5@30", f.verb, excerpt(text))
			}
			add("--"+f.verb, f.verb+" "+text[:at]+" at "+text[at+1:])
		}
	}
	for _, f := range []struct{ verb, chance string }{{"lose", o.lose}, {"duplicate", o.duplicate}} {
		if o.of.Changed(f.verb) {
			add("--"+f.verb, f.verb+" "+f.chance)
		}
	}
	if o.unordered {
		add("--non-fifo", "reorder")
	}
	return nil
}

// excerpt quotes a text, or its beginning.
func excerpt(text string) string {
	const most = 40
	if utf8.RuneCountInString(text) > most {
		return fmt.Sprintf("%q…", string([]rune(text)[:most]))
	}
	return fmt.Sprintf("%q", text)
}

// mostFaults is how large a file of faults may be, in bytes.
const mostFaults = 1 << 24

// readFile reads the file of faults: a line each; # begins a comment.
func (o *faultFlags) readFile(stdin io.Reader) error {
	name, in := o.file, stdin
	if name == "-" {
		name = "stdin"
	} else {
		file, err := os.Open(o.file)
		if err != nil {
			return fmt.Errorf("cannot read the faults in %s: %w", name, reason(err))
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, mostFaults+1))
	switch {
	case err != nil:
		return fmt.Errorf("cannot read the faults in %s: %w", name, reason(err))
	case len(text) > mostFaults:
		return fmt.Errorf("%s has more than %d bytes; that is no list of faults", name, mostFaults)
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

// locate says in an error of the simulator where the fault was read that it is about.
func (o *faultFlags) locate(err error, e *catalogue.Entry, i network.Setup) error {
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
	if from == "--fault "+excerpt(wrong.Line) {
		return fmt.Errorf("%s: %s", from, wrong.Why)
	}
	return fmt.Errorf("%s: %w", from, wrong)
}

// replay is the command line that runs the same again, with these faults.
func (o *faultFlags) replay(e *catalogue.Entry, lines []string) string {
	call := []string{"ringleader", "run", e.Name}
	for _, word := range words(o.of, slices.Concat(faultNames, []string{"json", "draw", "trace", "story", "save", "scenario"})) {
		name, value, _ := strings.Cut(word, "=")
		if o.of.Lookup(strings.TrimPrefix(name, "--")).Value.Type() == "bool" {
			call = append(call, word)
		} else {
			call = append(call, name, shellWord(value))
		}
	}
	for _, line := range lines {
		call = append(call, "--fault", shellWord(line))
	}
	return strings.Join(call, " ")
}

// shellWord quotes a word for a shell, if it needs that.
func shellWord(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,/=@:+") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// faultsText tells people what went wrong, as far as they did not say it themselves, what broke, and how to see it again.
func (p *program) faultsText(e *catalogue.Entry, o *runOptions, s *simulate.Options, r *simulate.Result) {
	lines, claims := r.Script.Lines(r.Prepared), disclaimer(e, r)
	if len(lines) == 0 && claims == "" {
		return
	}
	w := p.stdout
	drawn := s.Faults.Random != (faults.Budget{})
	if drawn {
		fmt.Fprintln(w, "faults, as they were drawn:")
		for _, line := range lines {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	for _, line := range r.Missed {
		fmt.Fprintf(w, "never happened: %s\n", line)
	}
	if verdict := faultVerdict(e, s, r, claims); verdict != "" {
		fmt.Fprintln(w, verdict)
	}
	if broke(r) {
		for _, line := range camps(r) {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	if broke(r) || drawn {
		fmt.Fprintf(w, "replay: %s\n", o.replay(e, lines))
	}
}

// broke reports whether an election under faults went wrong.
func broke(r *simulate.Result) bool { return !r.Right || len(r.Faults) > 0 || !r.Complete }

// faultVerdict is how an election under faults went, beside what its algorithm does not claim; empty if it
// went as claimed.
func faultVerdict(e *catalogue.Entry, s *simulate.Options, r *simulate.Result, claims string) string {
	switch {
	case broke(r) && !s.Until.IsZero() && len(r.Faults) == 0:
		return fmt.Sprintf("not agreed at %s, when the run was to end", s.Until)
	case !r.Complete && claims != "":
		return "it has not ended; " + claims
	case !r.Complete:
		return "it has not ended"
	case broke(r) && claims != "":
		return "it broke; " + claims
	case broke(r) && r.Decided == 0 && startersDied(s, r):
		return "nobody elects: all that were to start have died"
	case broke(r):
		return fmt.Sprintf("it broke, and %s claims to survive that", e.Name)
	case claims != "":
		return "it held, though " + claims
	}
	return ""
}

// startersDied reports whether the processes that were to start were named, and are all dead.
func startersDied(s *simulate.Options, r *simulate.Result) bool {
	return s.Initiators != nil && !slices.ContainsFunc(s.Initiators, func(q int) bool { return !slices.Contains(r.Dead, q) })
}

// disclaimer is why an algorithm need not hold in this run, in words; empty if there is no reason.
func disclaimer(e *catalogue.Entry, r *simulate.Result) string {
	var reasons []string
	if unclaimed := r.Script.Unclaimed(r.Prepared.Declaration()); len(unclaimed) > 0 {
		reasons = append(reasons, "does not claim to survive "+strings.Join(unclaimed, ", "))
	}
	if dropped := dropped(r); len(dropped) > 0 {
		reasons = append(reasons, "assumes "+strings.Join(dropped, "; "))
	}
	if reasons == nil {
		return ""
	}
	return e.Name + " " + strings.Join(reasons, ", and ")
}

// dropped are the assumptions of a timed algorithm that do not hold in this run, in words: messages take longer than
// its parameter delay, or it waits for less than that demands.
func dropped(r *simulate.Result) (all []string) {
	if r.Timing != election.Timed {
		return nil
	}
	parameters, d := r.Prepared.Parameters, r.Prepared.Declaration()
	for _, parameter := range d.Parameters {
		p, is := parameter.(*election.Number)
		if !is {
			continue
		}
		value := p.Rational(parameters)
		switch {
		case p == d.Delay && value.Cmp(new(big.Rat).SetUint64(r.Delay)) < 0:
			all = append(all, fmt.Sprintf("messages of at most %s = %s, not %d", p.Name, value.RatString(), r.Delay))
		case strings.HasSuffix(p.Name, "timeout") && p.Derived != nil:
			if least := p.Derived(parameters); value.Cmp(least) < 0 {
				all = append(all, fmt.Sprintf("%s of at least %s = %s, not %s", p.Name, p.Default, least.RatString(), value.RatString()))
			}
		}
	}
	return all
}

// patience is after how many deliveries and timeouts a run ends, unless it ends by itself: under some faults, such as
// a cut between two of many that lasts, and with timeouts that are too short, elections never end. 0: there is a time to
// end, or neither faults nor timeouts.
func (o *faultFlags) patience(e *catalogue.Entry, s *simulate.Options) uint64 {
	if len(o.read) == 0 && e.Timing != election.Timed || !s.Until.IsZero() || e.Settles != nil {
		return 0
	}
	n := uint64(min(s.Instance.IDs.Len(), 1<<20)) // so that 4n³ is below 2⁶⁴
	return max(100_000_000, 4*n*n*n)              // a partition that heals costs Bully nearly n³
}

// losing says whether links may lose or repeat messages.
func losing(f *faults.Script) bool { return f.Lose.Times+f.Duplicate.Times > 0 || len(f.Cuts) > 0 }

// camps say who of those that live believes what.
func camps(r *simulate.Result) (lines []string) {
	const shown = 12
	camp := map[election.Decision][]string{}
	var order []election.Decision
	dead := map[int]bool{}
	for _, q := range r.Dead {
		dead[q] = true
	}
	for q, d := range r.Decisions {
		if dead[q] {
			continue
		}
		if d.Role == election.Undecided {
			d = election.Decision{}
		}
		if camp[d] == nil {
			order = append(order, d)
		}
		camp[d] = append(camp[d], fmt.Sprint(r.Identifier(q)))
	}
	for _, d := range order[:min(len(order), shown)] {
		who := camp[d]
		names, one := strings.Join(who[:min(len(who), shown)], ", "), len(who) == 1
		if len(who) > shown {
			names += ", …"
		}
		lines = append(lines, names+" "+belief(r, d, one))
	}
	if len(order) > shown {
		lines = append(lines, "…")
	}
	return lines
}

// belief is what a process that decided so does, or several do.
func belief(r *simulate.Result, d election.Decision, one bool) string {
	say := func(single, several string) string {
		if one {
			return single
		}
		return several
	}
	term := ""
	if d.Term != 0 {
		term = fmt.Sprintf(" in term %d", d.Term)
	}
	switch {
	case d.Role == election.Undecided:
		return say("knows no leader", "know no leader")
	case d.Role == election.Leader:
		return say("leads", "lead") + term
	case d.Leader == 0:
		return say("follows somebody", "follow somebody") + term
	}
	return fmt.Sprintf("%s %d%s", say("follows", "follow"), r.Prepared.RealOf(d.Leader), term)
}

// faultsJSON is what results show of faults.
func faultsJSON(e *catalogue.Entry, o *runOptions, r *simulate.Result) object {
	lines, dropped := r.Script.Lines(r.Prepared), dropped(r)
	if len(lines) == 0 && dropped == nil {
		return nil
	}
	result := object{}
	if len(lines) > 0 {
		result = append(result, field{"faults", lines})
	}
	if unclaimed := r.Script.Unclaimed(r.Prepared.Declaration()); len(unclaimed) > 0 {
		result = append(result, field{"unclaimed", unclaimed})
	}
	if dropped != nil {
		result = append(result, field{"dropped", dropped})
	}
	if len(r.Missed) > 0 {
		result = append(result, field{"missed", r.Missed})
	}
	return append(result, field{"replay", o.replay(e, lines)})
}
