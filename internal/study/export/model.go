package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify"
)

// steps returns the steps of one process.
func steps(m *verify.Model, process int) (all []verify.ModelStep) {
	for _, s := range m.Steps {
		if s.Process == process {
			all = append(all, s)
		}
	}
	return all
}

// about returns lines that say what a model is.
func about(m *verify.Model) []string {
	verdict := "Every property holds."
	if m.Violated != "" {
		verdict = "A property is violated: " + m.Violated + "."
	}
	return []string{
		fmt.Sprintf("%s, %d processes: %s.", m.Declaration.Title, len(m.Locals), names(m.Network)),
		"All processes initiate first, in this order. To receive, to compute and to send is one step.",
		fmt.Sprintf("ringleader verify finds %d states, %d of them without a next step, and %d steps.", m.States, m.Finals, m.Transitions),
		verdict,
		"States and messages are numbers; their meanings are below.",
	}
}

// names returns the processes in order.
func names(n *network.Instance) string {
	var all []string
	for q := range n.Size() {
		all = append(all, n.Name(q))
	}
	return strings.Join(all, ", ")
}

// size returns the type of Promela for numbers below a limit.
func size(limit int) string {
	if limit <= 256 {
		return "byte"
	}
	return "int"
}

// Promela writes a model for Spin. A monitor checks the end of each run, so Spin stores one more state for each state
// without a next step.
func Promela(to io.Writer, m *verify.Model) error {
	w := bufio.NewWriter(to)
	fmt.Fprintln(w, "/*")
	for _, line := range about(m) {
		fmt.Fprintln(w, " *", line)
	}
	fmt.Fprintf(w, " * Spin stores %d: a monitor adds one for each state without a next step.\n", m.States+m.Finals)
	fmt.Fprintln(w, " *\n *     spin -a FILE && cc -O2 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000\n */")
	for i, text := range m.Messages {
		fmt.Fprintf(w, "/* message %d: %s */\n", i, safe(text))
	}
	fmt.Fprintf(w, "\nbyte started, leaders, decided;\n")
	for i, l := range m.Links {
		fmt.Fprintf(w, "chan link%d = [%d] of { %s }; /* from process %d to %d */\n", i, max(1, l.Room), size(len(m.Messages)), l.From, l.To)
	}
	for q, locals := range m.Locals {
		fmt.Fprintf(w, "\nactive proctype process%d() { /* %s */\n\t%s state;\nend:\n\tdo\n", q, m.Network.Name(q), size(len(locals)))
		for _, s := range steps(m, q) {
			promelaStep(w, m, &s)
		}
		fmt.Fprintln(w, "\tod\n}")
	}
	fmt.Fprintf(w, "\nactive proctype monitor() {\n\tatomic { timeout -> assert(leaders == 1 && decided == %d) }\nend:\n\tfalse\n}\n", deciders(m))
	return w.Flush()
}

// deciders returns how many processes have decided at the end: all, or the leader.
func deciders(m *verify.Model) int {
	if m.Declaration.Decides == election.EveryProcess {
		return len(m.Locals)
	}
	return 1
}

func promelaStep(w io.Writer, m *verify.Model, s *verify.ModelStep) {
	before, after := m.Locals[s.Process][s.From], m.Locals[s.Process][s.To]
	fmt.Fprintf(w, "\t:: d_step { /* %s */\n\t\t", safe(after.Text))
	if s.Link < 0 {
		fmt.Fprintf(w, "started == %d && state == %d -> started++", s.Process, s.From)
	} else {
		fmt.Fprintf(w, "started == %d && state == %d && link%d?[%d] -> link%d?%d", len(m.Locals), s.From, s.Link, s.Message, s.Link, s.Message)
	}
	if s.To != s.From {
		fmt.Fprintf(w, "; state = %d", s.To)
	}
	for _, sent := range s.Sent {
		fmt.Fprintf(w, "; link%d!%d", sent.Link, sent.Message)
	}
	if after.Decided && !before.Decided {
		fmt.Fprint(w, "; decided++")
	}
	if after.Leader && !before.Leader {
		fmt.Fprint(w, "; leaders++; assert(leaders == 1)")
	}
	fmt.Fprintln(w, " }")
}

// safe returns a text that cannot end a comment.
func safe(text string) string {
	return strings.NewReplacer("*/", "* /", "*)", "* )", "(*", "( *", "\n", " ").Replace(text)
}

// TLA writes a module of TLA+ for TLC, with a configuration in its comment.
func TLA(to io.Writer, m *verify.Model, name string) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, "---- MODULE %s ----\n", name)
	for _, line := range about(m) {
		fmt.Fprintf(w, "\\* %s\n", line)
	}
	fmt.Fprintln(w, "\\* For TLC: INIT Init NEXT Next INVARIANTS OneLeader EndsWithALeader, and CHECK_DEADLOCK FALSE.")
	for i, text := range m.Messages {
		fmt.Fprintf(w, "\\* message %d: %s\n", i, text)
	}
	fmt.Fprintf(w, "EXTENDS Integers, Sequences, FiniteSets, TLC\nVARIABLES state, queue\n\nProcesses == 0..%d\nLinks == 0..%d\n", len(m.Locals)-1, len(m.Links)-1)
	for _, set := range []struct {
		name string
		has  func(verify.Local) bool
	}{{"Leads", func(l verify.Local) bool { return l.Leader }}, {"Decided", func(l verify.Local) bool { return l.Decided }}} {
		var of []string
		for q, locals := range m.Locals {
			var in []string
			for i, l := range locals {
				if set.has(l) {
					in = append(in, fmt.Sprint(i))
				}
			}
			of = append(of, fmt.Sprintf("%d :> {%s}", q, strings.Join(in, ", ")))
		}
		fmt.Fprintf(w, "%s == %s\n", set.name, strings.Join(of, " @@ "))
	}
	fmt.Fprint(w, "\n\\* link -1: the process starts\nSteps == {")
	for i, s := range m.Steps {
		var sent []string
		for _, one := range s.Sent {
			sent = append(sent, fmt.Sprintf("<<%d, %d>>", one.Link, one.Message))
		}
		comma := ","
		if i == len(m.Steps)-1 {
			comma = ""
		}
		fmt.Fprintf(w, "\n  [process |-> %d, from |-> %d, link |-> %d, message |-> %d, to |-> %d, sent |-> <<%s>>]%s \\* %s",
			s.Process, s.From, s.Link, s.Message, s.To, strings.Join(sent, ", "), comma, m.Locals[s.Process][s.To].Text)
	}
	fmt.Fprint(w, `
  }

RECURSIVE Send(_, _)
Send(links, sent) == IF sent = <<>> THEN links
  ELSE Send([links EXCEPT ![Head(sent)[1]] = Append(@, Head(sent)[2])], Tail(sent))

Init == state = [p \in Processes |-> 0] /\ queue = [l \in Links |-> <<>>]

Start(s) ==
  /\ s.link = -1 /\ state[s.process] = s.from
  /\ \A p \in Processes : p < s.process => state[p] # 0
  /\ state' = [state EXCEPT ![s.process] = s.to]
  /\ queue' = Send(queue, s.sent)

Receive(s) ==
  /\ s.link # -1 /\ state[s.process] = s.from /\ \A p \in Processes : state[p] # 0
  /\ queue[s.link] # <<>> /\ Head(queue[s.link]) = s.message
  /\ state' = [state EXCEPT ![s.process] = s.to]
  /\ queue' = Send([queue EXCEPT ![s.link] = Tail(@)], s.sent)

Next == \E s \in Steps : Start(s) \/ Receive(s)

Leaders == {p \in Processes : state[p] \in Leads[p]}
OneLeader == Cardinality(Leaders) <= 1
`)
	fmt.Fprintf(w, "EndsWithALeader == ~ENABLED Next => Cardinality(Leaders) = 1 /\\ Cardinality({p \\in Processes : state[p] \\in Decided[p]}) = %d\n", deciders(m))
	fmt.Fprintln(w, strings.Repeat("=", 4))
	return w.Flush()
}
