package report

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
)

// faultsText prints the faults that the call did not give, the violations, and the command that repeats the run.
func (r *Run) faultsText(p *Printer) {
	lines, claims := r.Script.Lines(r.Prepared), r.disclaimer()
	if len(lines) == 0 && claims == "" {
		return
	}
	w := p.Out
	drawn := r.Options.Faults.Random != (faults.Budget{})
	if drawn {
		fmt.Fprintln(w, "faults, as they were drawn:")
		for _, line := range lines {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	for _, line := range r.Missed {
		fmt.Fprintf(w, "never happened: %s\n", line)
	}
	if verdict := r.faultVerdict(claims); verdict != "" {
		fmt.Fprintln(w, verdict)
	}
	if r.broke() {
		for _, line := range camps(r.Result) {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	if r.broke() || drawn {
		fmt.Fprintf(w, "replay: %s\n", r.Replay(lines))
	}
}

// broke reports whether an election under faults went wrong.
func (r *Run) broke() bool { return !r.Right || len(r.Faults) > 0 || !r.Complete }

// faultVerdict returns the verdict on an election under faults that its algorithm does not tolerate; empty if it
// tolerates them.
func (r *Run) faultVerdict(claims string) string {
	switch {
	case r.broke() && !r.Options.Until.IsZero() && len(r.Faults) == 0:
		return fmt.Sprintf("not agreed at %s, when the run was to end", r.Options.Until)
	case !r.Complete && claims != "":
		return "it has not ended; " + claims
	case !r.Complete:
		return "it has not ended"
	case r.broke() && claims != "":
		return "it broke; " + claims
	case r.broke() && r.Decided == 0 && r.startersDied():
		return "nobody elects: all that were to start have died"
	case r.broke():
		return fmt.Sprintf("it broke, and %s claims to survive that", r.Name)
	case claims != "":
		return "it held, though " + claims
	}
	return ""
}

// startersDied reports whether the initiators were given, and all have crashed.
func (r *Run) startersDied() bool {
	starters := r.Options.Initiators
	return starters != nil && !slices.ContainsFunc(starters, func(q int) bool { return !slices.Contains(r.Dead, q) })
}

// disclaimer returns in words why an algorithm need not succeed in this run; empty if there is no reason.
func (r *Run) disclaimer() string {
	var reasons []string
	if unclaimed := r.Script.Unclaimed(r.Prepared.Declaration()); len(unclaimed) > 0 {
		reasons = append(reasons, "does not claim to survive "+strings.Join(unclaimed, ", "))
	}
	if dropped := dropped(r.Result); len(dropped) > 0 {
		reasons = append(reasons, "assumes "+strings.Join(dropped, "; "))
	}
	if reasons == nil {
		return ""
	}
	return r.Name + " " + strings.Join(reasons, ", and ")
}

// dropped returns in words the violated assumptions of a timed algorithm: messages take longer than its parameter
// delay, or it waits for less than that requires.
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

// losing reports whether links may lose or repeat messages.
func losing(f *faults.Script) bool { return f.Lose.Times+f.Duplicate.Times > 0 || len(f.Cuts) > 0 }

// camps hold what each live process believes.
func camps(r *simulate.Result) (lines []string) {
	const shown = 12
	camp := map[network.Decision][]string{}
	var order []network.Decision
	dead := map[int]bool{}
	for _, q := range r.Dead {
		dead[q] = true
	}
	for q, d := range r.Decisions {
		if dead[q] {
			continue
		}
		if d.Role == network.Undecided {
			d = network.Decision{}
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

// belief returns in words what one or several processes with this decision believe.
func belief(r *simulate.Result, d network.Decision, one bool) string {
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
	case d.Role == network.Undecided:
		return say("knows no leader", "know no leader")
	case d.Role == network.Leader:
		return say("leads", "lead") + term
	case d.Leader == 0:
		return say("follows somebody", "follow somebody") + term
	}
	return fmt.Sprintf("%s %d%s", say("follows", "follow"), r.Prepared.RealOf(d.Leader), term)
}

// faultsJSON returns the JSON of faults.
func (r *Run) faultsJSON() object {
	lines, dropped := r.Script.Lines(r.Prepared), dropped(r.Result)
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
	return append(result, field{"replay", r.Replay(lines)})
}
