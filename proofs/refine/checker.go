package refine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
	"ringleader.example/ringleader/trace"
)

// State is a state of the model beside a state of the code, and what of the past the model has no name for. Only the
// comparison of one run changes it.
type State struct {
	now      int
	model    *finite.State // nil: while things are collected
	requests []request     // in the order of sending
	made     []int         // the voters that leaders have made
	ended    []int         // the lives that have ended
}

// request is a request for a lease: when it left first.
type request struct {
	claim  int
	number uint64
	at     int
}

// Checker compares runs with the model. First the same runs are observed while it collects what they are about.
type Checker struct {
	*universe
	Happened map[string]int // by action

	model          *logic.Model
	interpretation *finite.Interpretation // nil: it collects
	alone          bool                   // one run is compared: no state is needed after the next one
}

// NewChecker returns a checker of runs of that many members, of which the first ones vote at first. It collects.
func NewChecker(members, first int, clocks Clocks) (*Checker, error) {
	m, err := models.Load("quorum-bully")
	return &Checker{universe: newUniverse(members, first, clocks), Happened: map[string]int{}, model: m}, err
}

// Actions returns the names of a model's actions.
func Actions(model string) (names []string) {
	m, err := models.Load(model)
	if err != nil {
		panic(err) // it is a part of the program
	}
	for _, a := range m.Actions {
		names = append(names, a.Name)
	}
	return names
}

// Collected ends the collection. It returns an error if an axiom does not hold of what was collected.
func (c *Checker) Collected() (err error) {
	c.interpretation, err = c.universe.interpretation(c.model)
	if err != nil {
		large, axiom := (*finite.TooLargeError)(nil), (*finite.AxiomError)(nil)
		if errors.As(err, &axiom) && c.clocks.Unsure() {
			return &Failure{"the clocks of the members are not known well enough: " + err.Error(), true}
		}
		return &Failure{err.Error(), errors.As(err, &large)} // a run that is too long is not forbidden
	}
	return nil
}

// Begin returns the first state.
func (c *Checker) Begin() *State {
	s := &State{now: 1}
	if c.interpretation != nil {
		s.model = c.interpretation.Initial()
	}
	return s
}

// observation is one step, or what the environment does, while it is made in the model.
type observation struct {
	*Checker
	State
	*Step
	life, member, claim int // of the member that makes the step; the claim: -1, or that after the step
}

// observe makes something in the model. A failure is the error.
func (c *Checker) observe(s *State, step *Step, do func(o *observation)) (next *State, err error) {
	defer func() { err = failed(recover(), err) }()
	o := &observation{Checker: c, State: *s, Step: step, claim: -1}
	do(o)
	return &o.State, nil
}

// collects reports whether there is no model yet.
func (o *observation) collects() bool { return o.interpretation == nil }

// do makes an action.
func (o *observation) do(name string, args ...int) {
	if o.collects() {
		return
	}
	a := o.Checker.model.Action(name)
	if g := o.interpretation.Prevents(a, o.State.model, args...); g > 0 {
		fail("%s: guard %d: %s", o.call(a, args), g, a.Guards[g-1].Words)
	}
	if o.alone {
		o.interpretation.Advance(a, o.State.model, args...)
	} else {
		o.State.model = o.interpretation.After(a, o.State.model, args...)
	}
	o.Happened[name]++
}

func (o *observation) call(a *logic.Action, args []int) string {
	text := []string{a.Name}
	for k, p := range a.Parameters {
		text = append(text, o.interpretation.Name(p.Sort, args[k]))
	}
	return "(" + strings.Join(text, " ") + ")"
}

// value returns a value of the model's state.
func (o *observation) value(name string, args ...int) int {
	return o.interpretation.Value(o.State.model, o.Checker.model.State(name), args...)
}

func (o *observation) is(name string, args ...int) bool {
	return !o.collects() && o.value(name, args...) == 1
}

// Check returns an error if an invariant does not hold of what was asked for since some time.
func (c *Checker) Check(s *State, since int) error {
	var sent []int
	for i := len(s.requests) - 1; i >= 0 && s.requests[i].at >= since; i-- {
		if at := s.requests[i].at; !slices.Contains(sent, at) {
			sent = append(sent, at)
		}
	}
	c.interpretation.Try(append(sent, s.now))
	defer c.interpretation.Try(nil)
	if broken := c.interpretation.Broken(s.model); len(broken) > 0 {
		return &Failure{Text: "invariants do not hold: " + logic.Names(broken)}
	}
	return nil
}

// votersOf returns the number of voters that were made.
func (o *observation) votersOf(v *quorumbully.Voters) int {
	like := o.likes(v)
	if like == o.first {
		return 0
	}
	for _, k := range o.made {
		made := o.voters.all[k]
		if made.maker = 0; made == like {
			return k
		}
	}
	fail("member %d knows voters of term %d, version %d, members %b, which nobody has made", o.Member, like.term, like.version, like.members)
	return 0
}

// claimOf returns the claim or tenure of a life in a term, or -1.
func (o *observation) claimOf(life int, term election.Term) int {
	for i := len(o.requests) - 1; i >= 0; i-- {
		if c := o.requests[i].claim; o.claims.all[c].life == life && o.claims.all[c].term == term {
			return c
		}
	}
	return -1
}

// sentAt returns when a request left, or -1.
func (o *observation) sentAt(claim int, number uint64) int {
	for i := len(o.requests) - 1; i >= 0; i-- {
		if r := &o.requests[i]; r.claim == claim && r.number == number {
			return r.at
		}
	}
	return -1
}

// asked returns the claim of a request that a message has, and when that left.
func (o *observation) asked(member election.ID, r *quorumbully.Request) (claim, at int) {
	claim = o.claimOf(o.lives.add(life{member, r.Incarnation}), r.Term)
	if claim < 0 {
		fail("nobody has made the claim of member %d, life %d, in term %d", member, r.Incarnation, r.Term)
	}
	if at = o.sentAt(claim, r.Number); at < 0 {
		fail("request %d of member %d in term %d was never sent", r.Number, member, r.Term)
	}
	return claim, at
}

// Observe makes the step of a member. The error is a *Failure.
func (c *Checker) Observe(s *State, step *Step) (*State, error) {
	return c.observe(s, step, (*observation).step)
}

func (o *observation) step() {
	o.life = o.lives.add(life{o.Member, o.After.Kept.Incarnation})
	o.member = int(o.Member) - 1
	o.own()
	o.arrives()
	if !o.After.Begun && len(o.Sent) == 0 { // before Start or Recover it hears commands, and its state is not that of its last life
		return
	}
	o.leaves()
	o.grants()
	o.newClaim()
	o.counts()
	o.asks()
	o.tells()
	o.works()
	if !o.collects() {
		o.compare()
	}
}

// own makes that the member grants the claim of the step before, as each step does first.
func (o *observation) own() {
	if !o.owes() {
		return
	}
	claim := o.claimOf(o.life, o.Before.Term)
	if claim < 0 {
		fail("member %d grants its own claim in term %d, which it has not made", o.Member, o.Before.Term)
	}
	at := o.sentAt(claim, o.Before.Number)
	o.do("grant-claim", o.member, claim, at, o.now+o.atFirst(quorumbully.Bound))
	o.countsOwn(claim, at)
}

// expires returns how long, in real time, a timer that the step has set runs at least; 0: it has not set it. If it was set twice, the second
// time counts.
func (o *observation) expires(t election.Timer) int { return o.runs(o.timer(t)) }

// atFirst is expires for the first time that it was set.
func (o *observation) atFirst(t election.Timer) int { return o.runs(o.timers(t)[0]) }

// runs returns how long, in real time, a timer runs at least.
func (o *observation) runs(wait int) int {
	if wait > 0 {
		return o.clocks.Expires(o.Member, o.now, wait) - o.now
	}
	return 0
}

// leaves ends what the member has left: its claim, and the grant in its memory. It adopts voters.
func (o *observation) leaves() {
	if o.ends() {
		c := o.claimOf(o.life, o.Before.Term)
		if c < 0 {
			fail("member %d ends a claim in term %d that it has not made", o.Member, o.Before.Term)
		}
		o.do("release", c)
	}
	if o.unbinds() {
		o.do("unbind", o.member)
	}
	if b, a := &o.Before.Kept.Voters, &o.After.Kept.Voters; o.Event != trace.Recover && !leads(o.After) && o.votersOf(a) != o.votersOf(b) {
		o.do("adopt", o.member, o.votersOf(a))
	}
}

// grants makes what the member grants to others.
func (o *observation) grants() {
	for i := range o.Sent {
		m := o.Sent[i].Message
		if o.Sent[i].Kind != quorumbully.Grant {
			continue
		}
		claim, at := o.asked(o.Sent[i].To, &m.Request)
		until := o.now + o.expires(quorumbully.Bound)
		repeats := o.is("granting", o.member) && o.value("granted", o.member) == claim
		switch {
		case o.Event != trace.Receive || o.Kind != quorumbully.Claim && o.Kind != quorumbully.Renew || o.From != o.Sent[i].To:
			fail("member %d grants member %d what was not asked for", o.Member, o.Sent[i].To)
		case repeats && o.timer(quorumbully.Bound) < 0:
			o.do("answer-older", o.member, claim, at)
		case o.Kind == quorumbully.Renew:
			o.do("grant-renew", o.member, claim, at, until)
		case repeats:
			o.do("repeat-claim", o.member, claim, at, until)
		default:
			o.do("grant-claim", o.member, claim, at, until)
		}
		if now := &o.After.Kept.Voters; m.Voters.Term != now.Term || m.Voters.Version != now.Version {
			fail("member %d tells of other voters than it keeps", o.Member)
		}
		o.told(claim)
	}
}

// told makes that a Grant tells which voters the member keeps.
func (o *observation) told(claim int) {
	if o.is("won", claim) {
		o.do("tell-kept", o.member, claim)
	}
}

// newClaim makes a new claim. The member's own grant follows in its next step.
func (o *observation) newClaim() {
	for i := range o.Sent {
		m := o.Sent[i].Message
		if o.Sent[i].Kind != quorumbully.Claim {
			continue
		}
		c := o.claims.add(claim{o.life, m.Request.Term, o.votersOf(&m.Voters)})
		if o.sentAt(c, m.Request.Number) < 0 {
			o.sends(c, m)
			o.do("claim", c)
		}
	}
	if o.After.Role != quorumbully.Follower {
		if o.claim = o.claimOf(o.life, o.After.Term); o.claim < 0 {
			fail("member %d has a claim in term %d that it has not made", o.Member, o.After.Term)
		}
	}
}

// countsOwn makes that the member counts its own grant of the request that left at a time, which changes nothing for the second request of one moment.
func (o *observation) countsOwn(claim, at int) {
	if o.collects() || o.shareEnd(claim, at) != o.value("share", claim, o.member) {
		o.do("count", o.member, claim, at)
	}
}

// sends notes a request that leaves now.
func (o *observation) sends(claim int, m *quorumbully.Message) {
	s := &o.After.Settings
	o.Checker.notes(claim, asked{o.now, int(m.Request.Lease), int(s.Entitled * m.Request.Lease / s.Lease)}, m.Varies)
	o.requests = append(slices.Clip(o.requests), request{claim, m.Request.Number, o.now})
	o.times.add(o.now)
}

// counts makes what the member counts, and the win.
func (o *observation) counts() {
	b, a := o.Before, o.After
	if o.claim < 0 {
		return
	}
	if x := int(o.From) - 1; o.Event == trace.Receive && o.Kind == quorumbully.Grant && b.Term == a.Term && b.Share[x] != a.Share[x] {
		if _, at := o.asked(o.Member, &o.Message.Request); o.collects() || o.shareEnd(o.claim, at) != o.value("share", o.claim, x) { // both may end while its clock jumps
			o.do("count", x, o.claim, at)
		}
	}
	if leads(a) && !(leads(b) && b.Term == a.Term) && !o.collects() {
		o.do("win", o.claim, quorum(o.backers(o.base(), o.supported(o.base()))), o.supported(o.base()))
	}
}

func (o *observation) base() int { return o.claims.all[o.claim].base }

// supported returns until when shares of a majority of voters run.
func (o *observation) supported(voters int) int {
	var ends []int
	for v := range o.members {
		if o.voters.all[voters].members>>v&1 == 1 {
			ends = append(ends, o.value("share", o.claim, v))
		}
	}
	slices.Sort(ends)
	return ends[(len(ends)-1)/2]
}

// backers returns the voters whose shares run until a time.
func (o *observation) backers(voters, until int) (set uint) {
	for v := range o.members {
		if o.value("share", o.claim, v) >= until {
			set |= 1 << v
		}
	}
	return set & o.voters.all[voters].members
}

// asks makes changes of the voters and renewals of a leader, in their order, and the deadline that it has in the end.
func (o *observation) asks() {
	if o.claim < 0 || !leads(o.After) {
		return
	}
	voters := o.votersOf(&o.Before.Kept.Voters)
	if !leads(o.Before) {
		voters = o.base()
	}
	for i := range o.Sent {
		m := o.Sent[i].Message
		if o.Sent[i].Kind != quorumbully.Renew || m.Request.Term != o.After.Term {
			continue
		}
		voters = o.amends(voters, &m.Voters)
		switch at := o.sentAt(o.claim, m.Request.Number); {
		case at < 0:
			o.sends(o.claim, m)
			o.do("renew", o.claim)
			o.do("grant-renew", o.member, o.claim, o.now, o.now+o.expires(quorumbully.Bound))
			o.countsOwn(o.claim, o.now)
			o.told(o.claim)
		case !o.collects() && !o.is("renew-sent", o.claim, at):
			fail("member %d repeats a request that it has not sent", o.Member)
		}
	}
	o.amends(voters, &o.After.Kept.Voters)
	if left := o.leadsFor(); left >= 0 && !o.collects() {
		until := o.clocks.Ends(o.Member, o.now, left)
		o.do("extend", o.claim, quorum(o.backers(o.value("voters", o.claim), until)), until)
	}
}

// amends makes the actions by which the leader's voters become others.
func (o *observation) amends(now int, next *quorumbully.Voters) int {
	goal := o.likes(next)
	goal.maker = o.claim
	made := func(v voters) int {
		now = o.voters.add(v)
		o.made = append(slices.Clip(o.made), now)
		return now
	}
	v := o.voters.all[now]
	if v.term == goal.term && v.version == goal.version && v.members == goal.members {
		return now
	}
	if v.term != o.After.Term {
		v.term, v.maker = o.After.Term, o.claim
		o.do("rename", o.claim, made(v))
		o.keeps(now)
	}
	if v == goal {
		return now
	}
	var keepers, backers uint
	until, present := 0, now
	made(goal)
	if !o.collects() {
		for v := range o.members {
			if o.is("keeps", v, o.claim, present) {
				keepers |= 1 << v
			}
		}
		until = o.supported(now)
		backers = o.backers(now, until)
	}
	o.do("change", o.claim, now, quorum(max(1, keepers&o.voters.all[present].members)), quorum(max(1, backers)), until)
	o.keeps(now)
	return now
}

// keeps makes that a leader keeps its own voters, and tells itself.
func (o *observation) keeps(voters int) {
	o.do("adopt", o.member, voters)
	if o.is("granting", o.member) && o.value("granted", o.member) == o.claim {
		o.told(o.claim)
	}
}

// tells compares what messages of the step say with the model.
func (o *observation) tells() {
	for i := range o.Sent {
		m := o.Sent[i].Message
		if o.Sent[i].Kind == quorumbully.Release {
			o.over(o.Member, o.After.Kept.Incarnation, m.Request.Term)
			if c := o.claimOf(o.life, m.Request.Term); c < 0 {
				fail("member %d releases term %d, in which it has claimed nothing", o.Member, m.Request.Term)
			}
		}
		for _, f := range m.Facts {
			o.over(f.Member, f.Incarnation, f.Term)
		}
		if k := o.Sent[i].Kind; k == quorumbully.Claim || k == quorumbully.Renew || k == quorumbully.Nack {
			if v := o.votersOf(&m.Voters); !o.collects() && !o.is("made", v) {
				fail("member %d tells of voters that nobody made: %s", o.Member, o.interpretation.Name("Voters", v))
			}
		}
	}
}

// over fails if a fact is not true.
func (o *observation) over(member election.ID, incarnation uint64, term election.Term) {
	l := o.lives.add(life{member, incarnation})
	for _, r := range o.requests {
		if c := o.claims.all[r.claim]; c.life == l && c.term <= term && !o.collects() && !o.is("finished", r.claim) {
			fail("member %d tells that term %d of member %d has ended", o.Member, c.term, member)
		}
	}
}

// works fails if the member takes the end of its work for granted. The model knows of which tenure work ends, and a report of the host does not
// tell: it is about the work that the member remembers. So the member remembers it until the report comes, and a leader, whose work runs, takes none.
func (o *observation) works() {
	b, a := o.Before, o.After
	reported := o.Event == trace.Command && o.Command.Order == election.Stopped && b.Role != quorumbully.Leader
	if b.Work != 0 && a.Work != b.Work && !reported && a.Kept.Incarnation == b.Kept.Incarnation {
		fail("member %d has forgotten its work of term %d, of which no end is reported", o.Member, b.Work)
	}
	if leads(a) && a.Work != a.Term {
		fail("member %d leads in term %d, and remembers work of term %d", o.Member, a.Term, a.Work)
	}
}

// compare fails if the abstraction of the member is not its part of the model's state.
func (o *observation) compare() {
	p := o.After
	same := func(what string, model, code int) {
		if model != code {
			fail("%s of member %d is %d in the model, and %d in the code", what, o.Member, model, code)
		}
	}
	truth := map[bool]int{true: 1}
	same("promise", o.value("promise", o.member), int(p.Kept.Promise))
	if p.Kept.Longest > 0 || o.value("longest", o.member) > 0 {
		same("longest", o.value("longest", o.member), o.clocks.Shortest(int(p.Kept.Longest)))
	}
	same("kept", o.value("kept", o.member), o.votersOf(&p.Kept.Voters))
	same("restarted", o.value("restarted", o.member), truth[p.Restarted])
	same("granting", o.value("granting", o.member), truth[p.Given.Holder != 0])
	if p.Given.Holder != 0 {
		c := o.claimOf(o.lives.add(life{p.Given.Holder, p.Given.Incarnation}), p.Given.Term)
		same("granted", o.value("granted", o.member), c)
		if p.Asked > 0 {
			same("asked", o.value("asked", o.member), o.sentAt(c, p.Asked))
		}
		if p.Given.Won && !o.is("won", c) {
			fail("member %d takes a claim for won that is not", o.Member)
		}
	}
	for _, r := range o.requests {
		if c := &o.claims.all[r.claim]; c.life == o.life && o.is("working", r.claim) && p.Work != c.term {
			fail("member %d has forgotten its work of term %d", o.Member, c.term)
		}
	}
	if o.claim < 0 {
		return
	}
	same("finished", o.value("finished", o.claim), 0)
	same("won", o.value("won", o.claim), truth[leads(p)])
	if leads(p) {
		same("voters", o.value("voters", o.claim), o.votersOf(&p.Kept.Voters))
	} else {
		same("base", o.base(), o.votersOf(&p.Kept.Voters))
	}
	for x, left := range o.Shares {
		switch share := o.value("share", o.claim, x); {
		case left > 0:
			same(fmt.Sprintf("share of %d", x+1), share, o.clocks.Ends(o.Member, o.now, left))
		case share > o.now:
			fail("share of %d at member %d runs in the model, and not in the code", x+1, o.Member)
		}
	}
}
