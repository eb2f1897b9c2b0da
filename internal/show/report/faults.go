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
	"ringleader.example/ringleader/verify"
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
		fmt.Fprintln(w, "random faults:")
		for _, line := range lines {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	for _, line := range r.Missed {
		fmt.Fprintf(w, "did not occur: %s\n", line)
	}
	if verdict := r.faultVerdict(claims); verdict != "" {
		fmt.Fprintln(w, verdict)
	}
	if r.broke() {
		for _, line := range camps(r.Result) {
			fmt.Fprintf(w, "  %s\n", line)
		}
	}
	if r.Options.Moment == nil && (r.broke() || drawn) {
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
		return fmt.Sprintf("no agreement at %s, the end of the run", r.Options.Until)
	case !r.Complete && claims != "":
		return "not ended; " + claims
	case !r.Complete:
		return "not ended"
	case r.broke() && claims != "":
		return "property violated: " + r.property() + "; " + claims
	case r.broke() && r.Decided == 0 && r.startersDied():
		return "no election: all initiators have crashed"
	case r.broke():
		return fmt.Sprintf("property violated: %s; %s is declared to tolerate these faults", r.property(), r.Name)
	case claims != "":
		return "passed outside its fault model: " + claims
	}
	return ""
}

// property returns the property that the run violates first, as package verify names it.
func (r *Run) property() string {
	switch {
	case len(r.Leaders) == 0:
		return verify.NoLeader
	case len(r.Leaders) > 1:
		return verify.TwoLeaders
	case !r.Agreed:
		return verify.Disagreement
	case !r.Right:
		return verify.WrongLeader
	}
	return r.Faults[0]
}

// startersDied reports whether the processes that were to start were named, and are all dead.
func (r *Run) startersDied() bool {
	starters := r.Options.Initiators
	return starters != nil && !slices.ContainsFunc(starters, func(q int) bool { return !slices.Contains(r.Dead, q) })
}

// disclaimer returns in words why an algorithm need not succeed in this run; empty if there is no reason.
func (r *Run) disclaimer() string {
	var reasons []string
	if unclaimed := r.Script.Unclaimed(r.Prepared.Declaration()); len(unclaimed) > 0 {
		reasons = append(reasons, intolerant(unclaimed))
	}
	if dropped := dropped(r.Result); len(dropped) > 0 {
		reasons = append(reasons, "assumes "+strings.Join(dropped, "; "))
	}
	if reasons == nil {
		return ""
	}
	return r.Name + " " + strings.Join(reasons, ", and ")
}

// intolerant returns in words that an algorithm need not tolerate these faults.
func intolerant(unclaimed []string) string {
	adjective := map[string]string{"crashes": "crash-tolerant", "recoveries": "recovery-tolerant", "partitions": "partition-tolerant"}
	if name := adjective[unclaimed[0]]; name != "" && len(unclaimed) == 1 {
		return "is not " + name
	}
	return "does not tolerate " + strings.Join(unclaimed, ", ")
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

// losing reports whether links may lose or repeat messages.
func losing(f *faults.Script) bool { return f.Lose.Times+f.Duplicate.Times > 0 || len(f.Cuts) > 0 }

// camps lists the live processes by what they have decided.
func camps(r *simulate.Result) (lines []string) {
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
		lines = append(lines, role(r, d)+": "+strings.Join(who[:min(len(who), shown)], ", ")+Needed(len(who) > shown, ", …", ""))
	}
	if len(order) > shown {
		lines = append(lines, "…")
	}
	return lines
}

// role returns the role of processes that decided so, in words.
func role(r *simulate.Result, d network.Decision) string {
	term := ""
	if d.Term != 0 {
		term = fmt.Sprintf(" in term %d", d.Term)
	}
	switch {
	case d.Role == network.Undecided && r.Prepared.Declaration().Task == election.Once:
		return "undecided"
	case d.Role == network.Undecided:
		return "electing"
	case d.Role == network.Leader:
		return "leader" + term
	case d.Leader == 0:
		return "follower of an unknown leader" + term
	}
	return fmt.Sprintf("follower of %d%s", r.Prepared.RealOf(d.Leader), term)
}

// faultsJSON returns the JSON of faults.
func (r *Run) faultsJSON() Object {
	lines, dropped := r.Script.Lines(r.Prepared), dropped(r.Result)
	if len(lines) == 0 && dropped == nil {
		return nil
	}
	result := Object{}
	if len(lines) > 0 {
		result = append(result, Field{"faults", lines})
	}
	if unclaimed := r.Script.Unclaimed(r.Prepared.Declaration()); len(unclaimed) > 0 {
		result = append(result, Field{"unclaimed", unclaimed})
	}
	if dropped != nil {
		result = append(result, Field{"dropped", dropped})
	}
	if len(r.Missed) > 0 {
		result = append(result, Field{"missed", r.Missed})
	}
	return append(result, Field{"replay", r.Replay(lines)})
}
