package refine

import (
	"fmt"
	"slices"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
	"ringleader.example/ringleader/trace"
)

// Verifier compares runs with proofs/verify-leader.model, whatever their clocks do. First it collects the claims of the same runs. The voters
// stay the same, and requests have one length.
//
// Calls of VerifyLeader are not a part of runs: a leader of the highest term calls when it has won, and any other one at the worst moment, when a
// higher term has just been won. The call counts answers to requests that left later, as live.Group.Confirm does: it returns when
// Membership.Confirmed is later than the newest request before it was.
type Verifier struct {
	Happened map[string]int // by action

	model          *logic.Model
	members        int
	membership     func(*quorumbully.Process) election.Membership
	claims         list[leaseClaim]
	interpretation *finite.Interpretation // nil: it collects
}

// leaseClaim is a claim, and the tenure that it becomes.
type leaseClaim struct {
	life
	term election.Term
}

// verification is a state of the model beside a state of the code. It is never changed.
type verification struct {
	model  *finite.State
	latest []latest // by member: of its claim or tenure
	called []called
}

// latest is the newest request of a member.
type latest struct {
	claim  int // -1: it has none
	number uint64
}

// called is a call at a leader.
type called struct {
	claim  int
	number uint64 // of the newest request before it
}

// newVerifier returns a verifier of runs of that many members, which all vote. It collects.
func newVerifier(a algorithm, members int) (*Verifier, error) {
	m, err := models.Load("verify-leader")
	return &Verifier{Happened: map[string]int{}, model: m, members: members, membership: a.Membership}, err
}

// CheckVerified compares the run with proofs/verify-leader.model, and evaluates the invariants after each step. The error is a *Failure with the
// steps before it, if the code does what the model does not allow.
func (l *Log) CheckVerified(a algorithm) (*Verifier, error) {
	v, err := newVerifier(a, int(l.steps[0].After.Members))
	if err != nil {
		return nil, err
	}
	_ = v.replay(l) // it collects
	if err := v.collected(); err != nil {
		return v, err
	}
	return v, v.replay(l)
}

func (v *Verifier) replay(l *Log) (err error) {
	s := v.begin()
	for i, step := range l.steps {
		if s, err = v.observe(s, step); err == nil && v.interpretation != nil {
			err = v.check(s)
		}
		if err != nil {
			return err.(*Failure).after(l.steps[:i+1])
		}
	}
	return nil
}

func (v *Verifier) collected() (err error) {
	names, majorities := map[string][]string{}, v.majorities()
	for x := range v.members {
		names["Member"] = append(names["Member"], fmt.Sprint(x+1))
	}
	for _, q := range majorities {
		names["Quorum"] = append(names["Quorum"], fmt.Sprintf("%0*b", v.members, q))
	}
	for _, c := range v.claims.all {
		names["Claim"] = append(names["Claim"], fmt.Sprintf("%d.%d@%d", c.member, c.number, c.term))
	}
	v.interpretation, err = finite.New(v.model, names, finite.Range{}, map[string]func([]int) int{
		"among": func(a []int) int { return int(majorities[a[1]]>>a[0]) & 1 },
		"common": func(a []int) int {
			both, first := majorities[a[0]]&majorities[a[1]], 0
			for both>>first&1 == 0 {
				first++
			}
			return first
		},
		"term": func(a []int) int { return int(v.claims.all[a[0]].term) },
	})
	return err
}

// majorities returns the sets of members that are a majority, as bits.
func (v *Verifier) majorities() (all []uint) {
	for set := range uint(1) << v.members {
		if isMajority(set, 1<<v.members-1) {
			all = append(all, set)
		}
	}
	return all
}

func (v *Verifier) begin() *verification {
	s := &verification{latest: slices.Repeat([]latest{{claim: -1}}, v.members)}
	if v.interpretation != nil {
		s.model = v.interpretation.Initial()
	}
	return s
}

func (v *Verifier) check(s *verification) error {
	if broken := v.interpretation.Broken(s.model); len(broken) > 0 {
		return &Failure{Text: "invariants do not hold: " + logic.Names(broken)}
	}
	return nil
}

// verifying is a step while it is made in the model.
type verifying struct {
	*Verifier
	verification
	*Step
}

// observe makes a step of a member.
func (v *Verifier) observe(s *verification, step *Step) (next *verification, err error) {
	defer func() { err = failed(recover(), err) }()
	o := &verifying{v, *s, step}
	o.latest, o.called = slices.Clone(s.latest), slices.Clip(s.called)
	if o.owes() {
		o.answers(quorumbully.Claim, o.latest[o.Member-1].claim, o.Before.Number)
	}
	o.grants()
	o.asks()
	o.wins()
	o.returns()
	if v.interpretation != nil && o.value("promise", int(o.Member)-1) != int(o.After.Kept.Promise) {
		fail("the promise of member %d is %d in the model, and %d in the code", o.Member, o.value("promise", int(o.Member)-1), o.After.Kept.Promise)
	}
	return &o.verification, nil
}

func (o *verifying) do(name string, args ...int) {
	if o.interpretation == nil {
		return
	}
	a := o.Verifier.model.Action(name)
	if g := o.interpretation.Prevents(a, o.verification.model, args...); g > 0 {
		fail("(%s %v): guard %d: %s", name, args, g, a.Guards[g-1].Words)
	}
	o.verification.model = o.interpretation.After(a, o.verification.model, args...)
	o.Happened[name]++
}

func (o *verifying) value(name string, args ...int) int {
	return o.interpretation.Value(o.verification.model, o.Verifier.model.State(name), args...)
}

func (o *verifying) is(name string, args ...int) bool {
	return o.interpretation != nil && o.value(name, args...) == 1
}

// claimOf returns the claim that a request of a member is of.
func (o *verifying) claimOf(member election.ID, r *quorumbully.Request) int {
	return o.claims.add(leaseClaim{life{member, r.Incarnation}, r.Term})
}

// grants makes what the member grants to others.
func (o *verifying) grants() {
	for i := range o.Sent {
		if o.Sent[i].Kind == quorumbully.Grant && o.Event == trace.Receive {
			r := &o.Sent[i].Message.Request
			o.answers(o.Kind, o.claimOf(o.Sent[i].To, r), r.Number)
		}
	}
}

// asks makes the member's own answers to its new requests, but for a claim, which its next step answers.
func (o *verifying) asks() {
	for i := range o.Sent {
		k, r := o.Sent[i].Kind, &o.Sent[i].Message.Request
		if k != quorumbully.Claim && k != quorumbully.Renew {
			continue
		}
		now, c := &o.latest[o.Member-1], o.claimOf(o.Member, r)
		if now.claim == c && now.number >= r.Number {
			continue
		}
		*now = latest{c, r.Number}
		if k == quorumbully.Renew {
			o.wins()
			o.answers(k, c, r.Number)
		}
	}
}

// answers makes an answer of the member that makes the step.
func (o *verifying) answers(request election.Kind, claim int, number uint64) {
	member, term := int(o.Member)-1, int(o.claims.all[claim].term)
	if request == quorumbully.Claim {
		// The Renew of a winner may come before its Claim, which then changes nothing.
		if !o.is("granted", member, claim) && !(o.is("won", claim) && o.value("promise", member) >= term) {
			o.do("grant", member, claim)
		}
		return
	}
	o.do("renew", member, claim)
	for _, c := range o.called {
		if c.claim == claim && number > c.number && o.value("promise", member) <= term {
			o.do("answer", member, claim)
		}
	}
}

// wins makes that the member wins, and the calls that follow.
func (o *verifying) wins() {
	claim := o.latest[o.Member-1].claim
	if !leads(o.After) || claim < 0 || o.interpretation == nil || o.is("won", claim) {
		return
	}
	var granted uint
	for x, share := range o.After.Share {
		if share != (election.Deadline{}) {
			granted |= 1 << x
		}
	}
	o.do("win", claim, slices.Index(o.majorities(), granted))
	term := o.claims.all[claim].term
	for k, c := range o.claims.all {
		if k != claim && c.term < term && o.is("won", k) {
			o.calls(k)
		}
	}
	if !slices.ContainsFunc(o.claims.all, func(c leaseClaim) bool { return c.term > term }) {
		o.calls(claim)
	}
}

// calls makes a call at the leader of a claim, unless it has ended or was called.
func (o *verifying) calls(claim int) {
	if now := o.latest[o.claims.all[claim].member-1]; now.claim == claim && !o.is("called", claim) {
		o.called = append(o.called, called{claim, now.number})
		o.do("call", claim)
	}
}

// returns makes that VerifyLeader returns nil at the member.
func (o *verifying) returns() {
	p, now := o.After, o.latest[o.Member-1]
	i := slices.IndexFunc(o.called, func(c called) bool { return c.claim == now.claim })
	if i < 0 || !leads(p) || o.is("verified", now.claim) || p.Number-o.called[i].number >= uint64(len(p.Sent)) {
		return
	}
	m := o.membership(p)
	if before := p.Sent[o.called[i].number%uint64(len(p.Sent))]; !before.Before(m.Confirmed) {
		return
	}
	var confirming uint
	for x, share := range m.Granted {
		own := election.ID(x+1) == o.Member
		if !share.Before(m.Confirmed) && !(own && p.Kept.Promise > p.Term) && (m.Disputed == nil || !m.Disputed[x]) {
			confirming |= 1 << x
		}
	}
	majority := slices.Index(o.majorities(), confirming)
	if majority < 0 {
		fail("member %d is sure that it leads in term %d, and only %b of %d members have promised no higher one", o.Member, p.Term, confirming, o.members)
	}
	o.do("verify", now.claim, majority)
}
