package demo

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringleader.example/ringleader"
)

// verbs are the commands, for completion.
var verbs = []string{"kill ", "pause ", "resume ", "start ", "restart ", "cut ", "heal", "slow ", "transfer ", "resign", "status", "help", "quit"}

// completions returns the lines that a command may become.
func completions(line string, members int) []string {
	verb, _, named := strings.Cut(line, " ")
	if !named {
		return slices.Clone(verbs)
	}
	if verb == "cut" {
		return []string{"cut leader | rest"}
	}
	choices := []string{verb + " leader"}
	for id := range members {
		choices = append(choices, fmt.Sprintf("%s %d", verb, id+1))
	}
	return choices
}

// actions are the commands for a member: the valid conditions, the message, and the action.
var actions = map[string]struct {
	to        []condition
	done, how string
	do        func(*group, *member) error
}{
	"kill":    {[]condition{running, paused}, "killed", "SIGKILL", (*group).kill},
	"pause":   {[]condition{running}, "paused", "SIGSTOP", (*group).pause},
	"resume":  {[]condition{paused}, "resumed", "SIGCONT", (*group).resume},
	"start":   {[]condition{ended}, "started", "", (*group).start},
	"restart": {[]condition{running, paused, ended}, "restarted", "", (*group).restart},
}

const help = "kill 5 · pause 5 · resume 5 · start 5 · restart 5 · cut 1,2 | 3,4,5 · cut leader | rest · heal · slow 4 · transfer 3 · resign · status · help · quit; leader: the current leader; last: the member of the last command"

// needless is why a command has nothing to do: what it asks for is so already, perhaps since the leader has changed by itself.
type needless string

func (n needless) Error() string { return string(n) }

// obey carries out a command of the user's.
func (d *demo) obey(line string) (quit bool, err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return false, nil
	}
	switch words[0] {
	case "quit", "exit":
		return true, nil
	case "help":
		d.show.say(help)
		return false, nil
	case "status":
		d.show.status()
		return false, nil
	case "cut":
		return false, d.cut(strings.TrimPrefix(strings.TrimSpace(line), "cut"))
	case "heal":
		d.sides = nil
		clear(d.slow)
		d.rewire()
		d.strikeGroup("healed", "all links are whole", "healed")
		return false, nil
	case "resign":
		return false, d.order("resign", "resigns")
	}
	action, known := actions[words[0]]
	if !known && words[0] != "slow" && words[0] != "transfer" {
		return false, fmt.Errorf("unknown command %q; choose one of kill, pause, resume, start, restart, cut, heal, slow, transfer, resign, status, help, quit", words[0])
	}
	m, err := d.named(words)
	if err != nil {
		return false, err
	}
	d.last = m
	switch words[0] {
	case "slow":
		d.slow[m.id] = delayed
		d.rewire()
		d.strikeGroup("slowed", fmt.Sprintf("messages of %d take %v", m.id, delayed), fmt.Sprintf("%d slowed", m.id))
		return false, nil
	case "transfer":
		return false, d.order(fmt.Sprintf("transfer %d", m.id), fmt.Sprintf("hands over to %d", m.id))
	}
	if !slices.Contains(action.to, m.condition) {
		is := [...]string{running: "is running", paused: "is paused: resume it", ended: "is not running: start it"}[m.condition]
		return false, fmt.Errorf("cannot %s %d, it %s", words[0], m.id, is)
	}
	at := time.Now()
	if err := action.do(d.group, m); err != nil {
		return false, fmt.Errorf("cannot %s %d: %w", words[0], m.id, err)
	}
	d.strikeMember(m, action.done, action.how, at)
	return false, nil
}

// named returns the member that the second word of a command names.
func (d *demo) named(words []string) (*member, error) {
	if len(words) == 2 {
		ids, err := d.member(words[1])
		if err != nil || ids != nil {
			return ids, err
		}
	}
	return nil, fmt.Errorf("%s wants one member from 1 to %d, as in %q", words[0], len(d.members), words[0]+" 1")
}

// member returns the member that a word names, or nil.
func (d *demo) member(word string) (*member, error) {
	switch word {
	case "leader":
		leaders := d.leaders()
		if len(leaders) == 0 {
			return nil, errors.New("no running member is leader now")
		}
		return leaders[len(leaders)-1], nil
	case "last":
		return d.last, nil
	}
	if id, err := strconv.Atoi(word); err == nil && id >= 1 && id <= len(d.members) {
		return d.members[id-1], nil
	}
	return nil, nil
}

// cut separates the sides that a text names, as in 1,2 | 3,4,5. A member that it does not name reaches all.
func (d *demo) cut(text string) error {
	sides := map[uint64]int{}
	parts := strings.Split(text, "|")
	rest := -1
	for side, part := range parts {
		if strings.TrimSpace(part) == "rest" {
			rest = side
			continue
		}
		for _, word := range strings.Split(part, ",") {
			m, err := d.member(strings.TrimSpace(word))
			if err != nil {
				return err
			}
			if m == nil {
				return fmt.Errorf("cut wants sides of members from 1 to %d, as in %q; leader and rest name members, too", len(d.members), "cut 1,2 | 3,4,5")
			}
			if _, twice := sides[m.id]; twice {
				return fmt.Errorf("%d is on one side of a cut only", m.id)
			}
			sides[m.id], d.last = side, m
		}
	}
	if len(parts) < 2 {
		return fmt.Errorf("cut wants two sides at least, as in %q", "cut 1,2 | 3,4,5")
	}
	shown := make([]string, len(parts))
	for _, m := range d.members {
		if _, named := sides[m.id]; !named && rest >= 0 {
			sides[m.id] = rest
		}
		if side, named := sides[m.id]; named {
			shown[side] = strings.TrimPrefix(fmt.Sprintf("%s,%d", shown[side], m.id), ",")
		}
	}
	d.sides, d.split = sides, true
	d.rewire()
	how := strings.Join(shown, " | ")
	d.strikeGroup("cut", how, "cut "+how)
	return nil
}

// order gives the leader a command that ends its lead.
func (d *demo) order(command, does string) error {
	leaders := d.leaders()
	switch {
	case d.algorithm == ringleader.Bully:
		return fmt.Errorf("%s is a command for leaders with a lease, and Bully has none", strings.Fields(command)[0])
	case len(leaders) == 0:
		return errors.New("no running member is leader now")
	}
	m := leaders[len(leaders)-1]
	if command == fmt.Sprintf("transfer %d", m.id) {
		return needless(fmt.Sprintf("%d is leader already", m.id))
	}
	at := time.Now()
	if _, err := fmt.Fprintln(m.process.stdin, command); err != nil {
		return fmt.Errorf("cannot tell %d to %s: %w", m.id, command, err)
	}
	d.show.event(Event{Event: "told", ID: m.id, How: does})
	d.strike(fmt.Sprintf("%d %s", m.id, does), at)
	d.agreed, d.ordered = false, true // the command has not reached it
	return nil
}

// strikeGroup shows what happened to links.
func (d *demo) strikeGroup(verb, how, what string) {
	at := time.Now()
	d.show.event(Event{Event: verb, How: how})
	d.strike(what, at)
	d.judge(at)
}

func (d *demo) strikeMember(m *member, verb, how string, at time.Time) {
	e := Event{Event: verb, ID: m.id, PID: m.process.itself().Pid, How: how}
	if verb == "started" || verb == "restarted" {
		e.Listen, e.HTTP = m.listen, m.http
	}
	d.show.event(e)
	d.strike(fmt.Sprintf("%d %s", m.id, verb), at)
	d.judge(at)
}
