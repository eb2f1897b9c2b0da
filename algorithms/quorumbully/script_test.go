package quorumbully

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
)

var update = flag.Bool("update", false, "write what scripts print into testdata")

// Scripts tell one member what happens to it, a line each, and what it does about that, in lines that begin with ">".
//
//	member 2 of 3 priority 1 lease=10      a new member, with parameters
//	start | recover                        a crash comes before that
//	pass 7 | late 7                        time passes, and timers expire, or are late
//	resign | transfer 3 | stopped | died 3.1 | weigh 5 | suspect 3 | confirm 0 | enlist 4 | dismiss 4
//	1 claim term=4 facts=3.1.dead          a message from 1; see fill
//	show                                   the state
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(text))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got != string(text) {
				is, was := strings.Split(got, "\n"), strings.Split(string(text), "\n")
				for i := range min(len(is), len(was)) {
					if is[i] != was[i] {
						t.Fatalf("line %d: %s; want %s", i+1, is[i], was[i])
					}
				}
				t.Fatalf("%d lines; want %d", len(is), len(was))
			}
		})
	}
}

// actor is a member on its own, with the timers that run.
type actor struct {
	t       *testing.T
	state   Process
	local   election.Local
	now     uint64
	timers  map[election.Timer]uint64
	collect election.Collector[Message]
	plans   codec.Plans
	print   func(format string, args ...any)
}

// play plays a script, and writes it with what the member does.
func play(t *testing.T, script string) string {
	t.Helper()
	var written strings.Builder
	plans, err := codec.ForAlgorithm(&Algorithm)
	if err != nil {
		t.Fatal(err)
	}
	a := &actor{t: t, plans: plans, print: func(format string, args ...any) { fmt.Fprintf(&written, format, args...) }}
	a.collect.Choices(func(uint32) uint32 { return 0 })
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, ">") {
			continue
		}
		written.WriteString(line)
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			a.obey(words)
		}
	}
	return written.String()
}

func (a *actor) obey(words []string) {
	number := func(i int) uint64 {
		n, err := strconv.ParseUint(words[i], 10, 64)
		if err != nil {
			a.t.Fatalf("%v: %v", words, err)
		}
		return n
	}
	tell := func(c election.Command) {
		a.step(func(out *election.Out[Message]) { a.state.Command(c, out) })
	}
	switch words[0] {
	case "member":
		a.member(number(1), number(3), words[4:])
	case "start":
		a.step(a.state.Start)
	case "recover":
		kept := a.state.Kept
		a.state = New(a.local)
		a.state.Kept = kept
		clear(a.timers)
		a.step(a.state.Recover)
	case "pass":
		a.pass(a.now + number(1))
	case "late":
		a.now += number(1)
	case "suspect":
		a.step(func(out *election.Out[Message]) { a.state.Suspect(election.To(election.ID(number(1))), out) })
	case "resign":
		tell(election.Command{Order: election.Resign})
	case "transfer":
		tell(election.Command{Order: election.Transfer, Member: election.ID(number(1))})
	case "stopped":
		tell(election.Command{Order: election.Stopped})
	case "died":
		f := a.fact(words[1] + ".dead")
		tell(election.Command{Order: election.Died, Member: f.Member, Number: f.Incarnation})
	case "weigh":
		tell(election.Command{Order: election.Weigh, Number: number(1)})
	case "confirm":
		tell(election.Command{Order: election.Confirm, Member: election.ID(number(1))})
	case "enlist":
		tell(election.Command{Order: election.Enlist, Member: election.ID(number(1))})
	case "dismiss":
		tell(election.Command{Order: election.Dismiss, Member: election.ID(number(1))})
	case "show":
		a.print("> %s\n", a.text(a.plans.State, codec.At(&a.state)))
	default:
		a.receive(election.ID(number(0)), words[1], words[2:])
	}
}

func (a *actor) text(p *codec.Plan, v codec.Pointer) string {
	return p.Text(v, election.Units(a.now), func(id election.ID) uint64 { return uint64(id) })
}

func (a *actor) member(id, n uint64, settings []string) {
	given := map[string]string{"rho": "0", "lease": "20"}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		given[name] = value
	}
	priority := given["priority"]
	delete(given, "priority")
	p, err := Algorithm.Set(given)
	if err != nil {
		a.t.Fatal(err)
	}
	a.local = election.Local{ID: election.ID(id), Degree: int(n), Priority: 1, Parameters: p}
	if priority != "" {
		a.local.Priority = uint16(a.value("priority", priority))
	}
	a.state, a.now, a.timers = New(a.local), 0, map[election.Timer]uint64{}
}

func (a *actor) value(name, text string) uint64 {
	if text == "dead" {
		return uint64(Dead)
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		a.t.Fatalf("%s: %v", name, err)
	}
	return n
}

func (a *actor) fact(text string) Fact {
	parts := strings.Split(text, ".")
	return Fact{election.ID(a.value("fact", parts[0])), a.value("fact", parts[1]), election.Term(a.value("fact", parts[2]))}
}

// voters reads, for example, 2.1 or 2.1:1+2+4: term, version and members.
func (a *actor) voters(text string) Voters {
	stamp, list, _ := strings.Cut(text, ":")
	term, version, _ := strings.Cut(stamp, ".")
	v := Voters{Term: election.Term(a.value("voters", term)), Version: a.value("voters", version)}
	for _, member := range strings.FieldsFunc(list, func(r rune) bool { return r == '+' }) {
		v.Members = append(v.Members, election.ID(a.value("voters", member)))
	}
	return v
}

// receive receives a message of the first incarnation of an able member of weight 1, unless fields say otherwise.
func (a *actor) receive(x election.ID, name string, fields []string) {
	kind := slices.IndexFunc(Algorithm.Kinds, func(k election.MessageKind) bool { return k.Name == name })
	if kind < 0 {
		a.t.Fatalf("no message is called %s", name)
	}
	m := Message{Sender: Sender{1, 1, true}}
	switch election.Kind(kind) {
	case Claim, Renew:
		m.Request.Incarnation, m.Request.Number, m.Request.Lease = 1, 1, 20
	case Grant, Nack:
		m.Request.Incarnation, m.Request.Number, m.Request.Lease = a.state.Kept.Incarnation, 1, 20
	case Release, Offer, Ready:
		m.Request.Incarnation, m.Request.Number = 1, 1
	case Answer:
		m.Episode = a.state.Episode
	}
	for _, field := range fields {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "facts":
			m.Facts = append(m.Facts, a.fact(value))
		case "voters":
			m.Voters = a.voters(value)
		default:
			a.fill(&m, name, a.value(name, value))
		}
	}
	a.step(func(out *election.Out[Message]) { a.state.Receive(election.To(x), election.Kind(kind), m, out) })
}

// fill fills in a field of a message.
func (a *actor) fill(m *Message, name string, value uint64) {
	switch name {
	case "life":
		m.Sender.Incarnation = value
		if m.Request.Incarnation != 0 && m.Reason == 0 {
			m.Request.Incarnation = value
		}
	case "weight":
		m.Sender.Weight = uint16(value)
	case "able":
		m.Sender.Able = value == 1
	case "term":
		m.Request.Term = election.Term(value)
	case "of":
		m.Request.Incarnation = value
	case "number":
		m.Request.Number = value
	case "lease":
		m.Request.Lease = value
	case "varies":
		m.Varies = value == 1
	case "promise":
		m.Standing.Promise = election.Term(value)
	case "free-in":
		m.Standing.FreeIn = value
	case "holder":
		m.Standing.Holder, m.Standing.Incarnation = election.ID(value), 1
	case "holder-life":
		m.Standing.Incarnation = value
	case "leads":
		m.Standing.Leads = value == 1
	case "reason":
		m.Reason = Reason(value)
	case "successor":
		m.Successor = election.ID(value)
	case "episode":
		m.Episode = uint8(value)
	case "probe":
		m.Probe = value == 1
	default:
		a.t.Fatalf("no field is called %s", name)
	}
}

// pass lets time pass, and timers expire in their order.
func (a *actor) pass(until uint64) {
	for {
		first, at := election.Timer(0), until+1
		for timer := range election.Timer(len(Algorithm.Timers)) {
			if when, runs := a.timers[timer]; runs && when < at {
				first, at = timer, when
			}
		}
		if at > until {
			break
		}
		a.now = max(a.now, at)
		delete(a.timers, first)
		a.print("> t=%d %s expires\n", a.now, Algorithm.Timers[first])
		a.step(func(out *election.Out[Message]) { a.state.Timeout(first, out) })
	}
	a.now = until
}

// step makes a step, and prints what it does.
func (a *actor) step(do func(*election.Out[Message])) {
	a.collect.Reset()
	a.collect.Clock(election.Units(a.now))
	do(a.collect.Out())
	sent := a.collect.Sent()
	for i := 0; i < len(sent); {
		what, to := Algorithm.Kinds[sent[i].Kind()].Name+" "+a.text(a.plans.Message, codec.At(&sent[i].M)), []string(nil)
		for ; i < len(sent) && what == Algorithm.Kinds[sent[i].Kind()].Name+" "+a.text(a.plans.Message, codec.At(&sent[i].M)); i++ {
			to = append(to, fmt.Sprint(election.From(election.Port(sent[i].On()))))
		}
		a.print(">   to %s: %s\n", strings.Join(to, ", "), what)
	}
	for _, e := range a.collect.Effects() {
		a.effect(e)
	}
}

func (a *actor) effect(e election.Effect) {
	switch e.Op {
	case election.SetTimer:
		a.timers[e.Timer] = a.now + e.Ticks.Lo
		a.print(">   %s in %s\n", Algorithm.Timers[e.Timer], e.Ticks)
	case election.StopTimer:
		if _, runs := a.timers[e.Timer]; runs {
			a.print(">   no %s\n", Algorithm.Timers[e.Timer])
		}
		delete(a.timers, e.Timer)
	case election.Lead:
		a.print(">   LEADS in term %d for %s\n", e.Term, e.Ticks)
	case election.Follow:
		a.print(">   follows %d in term %d\n", e.ID, e.Term)
	case election.NoLeader:
		a.print(">   knows no leader\n")
	case election.StopWork:
		a.print(">   stops its work\n")
	}
}
