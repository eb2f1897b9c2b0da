package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"time"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/serve/view"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/transport"
)

// The pauses before we reconnect to a peer after repeated disconnections; each is lengthened or shortened by up to a
// half at random.
const (
	leastRest = 20 * time.Millisecond
	mostRest  = 5 * time.Second
)

// peer is another member. The loop owns its mutable fields.
type peer struct {
	position int
	id       uint64

	health      health
	incarnation uint64             // of the last life heard of; 0 if none
	in          transport.Incoming // the connection that is read
	next        transport.Incoming // the one to be read after it
	out         transport.Outgoing // nil: the peer is not in the list
	bothSince   time.Duration      // since when both directions are connected; 0 if they are not
	quiet       bool               // whether heartbeats to it are rare at present
	beatAt      time.Duration      // when the next one is due then
	connected   bool               // whether out has connected
	answering   uint64             // the incarnation that last answered at its address
	answered    time.Duration      // when it did
	rest        time.Duration      // the pause before reconnecting after a disconnection now
	restUntil   time.Duration
	duplicate   bool          // whether it refuses us for another process with our identifier
	problem     string        // why the last attempt to connect has failed
	told        []string      // those that were logged since an attempt has succeeded
	refused     string        // why this member refuses it; empty: it does not
	failing     time.Duration // since when they fail; 0 if they do not, or if that was logged
	difference  string        // of its timing from ours

	since     time.Duration         // when it became reachable last
	flaps     int                   // how often it was reachable for moments only since it was so for long
	parting   string                // why this member ends the connection that is read; empty: it does not
	lost      string                // why it was suspected last
	lostAt    time.Duration         // when
	heardAt   time.Duration         // when its last frame came that was no heartbeat
	ends      map[key]ended         // by group: why its last tenure there has ended, as it has told
	groups    map[key]string        // by group: what is wrong with it there, such as other limits; none: nothing
	limits    map[key]string        // by group: its limits there, as last told
	values    map[key]published     // by group: the last value that it has published there
	standings map[key]view.Standing // by group: how it stands for election there; none: as configured
	deaths    map[uint64][32]byte   // by incarnation: the hash of what proves its death, of the last ones
	died      *transport.Proof      // of the newest incarnation that is proven dead; nil: none
	dead      uint64                // that incarnation
}

func (p *peer) port() election.Port { return election.Port(p.position) }

type health uint8

const (
	unknown health = iota // never heard, and no message lost
	reachable
	suspect
)

// verdict returns the answer to a peer's Hello: whether the identifier is taken.
func (l *loop) verdict(p *peer, h transport.Hello) transport.Verdict {
	no := func(format string, args ...any) transport.Verdict {
		return transport.Verdict{
			Code:   transport.RefusedDuplicate,
			Reason: fmt.Sprintf("another live process has id %d: ", p.id) + fmt.Sprintf(format, args...),
		}
	}
	for _, in := range []transport.Incoming{p.in, p.next} {
		if in != nil && in.Hello().Incarnation != h.Incarnation {
			return no("member %d is connected with it", l.member.config.ID)
		}
	}
	if p.connected && p.answering != h.Incarnation && l.member.now()-p.answered <= l.member.config.Suspicion {
		return no("member %d reaches it at the address in its list", l.member.config.ID)
	}
	return transport.Verdict{}
}

// asked answers a peer's Hello. The first store with which a peer presents itself is the one that it has from then on,
// which is durable before it is taken: a member that has lost its store might grant a term twice.
func (l *loop) asked(e transport.Asked) {
	p := l.member.peers[e.Peer]
	refuse := func(format string, args ...any) {
		reason := fmt.Sprintf(format, args...)
		e.Answer <- transport.Verdict{Code: transport.Refused, Reason: reason}
		if note := "this member refuses it: " + reason; p.refused != note {
			p.refused = note
			l.showAll()
		}
	}
	if p.out == nil { // since the transport looked at the list
		e.Answer <- transport.Verdict{Code: transport.Refused, Reason: fmt.Sprintf("member %d is in the list no more", p.id)}
		return
	}
	v := l.verdict(p, e.Hello)
	known, pinned := l.member.record.Stores[p.id]
	switch {
	case v.Code != transport.Accepted:
		e.Answer <- v
	case p.died != nil && e.Hello.Incarnation <= p.dead:
		refuse("this life of member %d is proven dead", p.id)
	case pinned && known != e.Hello.Store:
		refuse("member %d has another store than before; if its state is lost, a member with a new id takes its place", p.id)
	case l.member.config.Storage == nil || e.Hello.Store == [16]byte{} || pinned && !l.recording():
		e.Answer <- v
	default: // a peer that asks again while its store becomes durable waits, too
		l.member.record.Stores[p.id] = e.Hello.Store
		l.after = append(l.after, func() { e.Answer <- v })
	}
}

// recording reports whether the member's record is to become durable, or is becoming so.
func (l *loop) recording() bool {
	return len(l.after) > 0 || l.saving != nil && len(l.saving.after) > 0
}

// arrived takes a confirmed connection. The one before it ends first.
func (l *loop) arrived(in transport.Incoming) error {
	p := l.member.peers[in.Peer()]
	if p.out == nil || l.verdict(p, in.Hello()).Code != transport.Accepted { // by now
		in.Admit(false)
		return nil
	}
	if p.next != nil {
		p.next.Admit(false)
	}
	p.next = in
	p.remember(in.Hello())
	l.compare(p, in.Hello().Timing)
	l.reach()
	p.out.Nudge()
	if p.in != nil {
		p.parting = cmp.Or(p.parting, "it has connected anew")
		p.in.Drain()
	}
	return l.admit(p)
}

// admit starts reading the next connection, if there is one and no reason against it.
func (l *loop) admit(p *peer) error {
	if !l.started || p.in != nil || p.next == nil {
		return nil
	}
	p.in, p.next = p.next, nil
	p.in.Admit(true)
	l.correct(p)
	if p.connected && p.answering != p.in.Hello().Incarnation { // out belongs to a life that has ended
		l.redial(p)
	}
	p.out.Nudge()
	sameLife := p.incarnation == 0 || p.incarnation == p.in.Hello().Incarnation
	if !sameLife {
		p.standings = nil
	}
	wrong := p.health == suspect && sameLife
	p.health, p.incarnation, p.refused, p.parting, p.since = reachable, p.in.Hello().Incarnation, "", "", l.member.now()
	p.noteConnected(l.member.now())
	maps.DeleteFunc(p.groups, func(_ key, problem string) bool { return problem == absence }) // until it is told again
	l.member.recorder.Entry("", &record.Connected{Peer: p.id, Incarnation: p.incarnation, Wrongly: wrong})
	l.member.log.Log(context.Background(), p.level(slog.LevelInfo), "member is reachable", "peer", p.id, "incarnation", p.incarnation, "wrongly_suspected", wrong)
	l.showAll()
	if wrong {
		if err := l.each(process.Input{What: process.Trusted, Port: p.port()}); err != nil {
			return err
		}
	}
	return l.remind(p)
}

// remind lets the leaders among the groups of this member present themselves to a peer that has connected. Otherwise it would learn of them
// with their next renewals, which long leases make rare.
func (l *loop) remind(p *peer) error {
	for _, g := range l.groups {
		if g.handle.leased && g.decision.Role == network.Leader {
			in := process.Input{What: process.Commanded, Command: election.Command{Order: election.Confirm, Member: election.ID(p.position + 1)}}
			if err := g.take(in); err != nil {
				return err
			}
		}
	}
	return nil
}

// each gives an event to all groups.
func (l *loop) each(in process.Input) error {
	for _, g := range l.groups {
		if err := g.take(in); err != nil {
			return err
		}
	}
	return nil
}

// The kinds of frames that this package exchanges. Kinds of messages are below 16.
const (
	announces = 0x10 + iota // a group of the sender: its key and its limits
	proves                  // a proof of death
	denies                  // a group that the sender is not in: its key
	publishes               // what the sender publishes as the leader of a group: its key, the term, the value
	stands                  // how the sender stands for election in a group: its key, the weight, how warm it is, why it may not lead or is cold
	reigned                 // the leader of the highest term of a group: its key, the term, the leader's identifier
	places                  // a line of the address book
	inquires                // the sender asks for all members that the other one knows
)

// message takes a frame from the connection of a peer.
func (l *loop) message(e transport.Message) error {
	p := l.member.peers[e.In.Peer()]
	if e.In != p.in {
		return nil
	}
	return l.frame(p, e.Kind, e.Payload)
}

// frame takes a frame of a peer, on whichever connection it came.
func (l *loop) frame(p *peer, kind uint8, payload []byte) error {
	p.heardAt = l.member.now()
	err := transport.ErrFrame
	switch {
	case kind == proves:
		if proof, ok := transport.DecodeProof(payload); ok {
			_, err = l.died(proof)
		}
	case kind == places:
		err = l.hearLine(p, payload)
	case kind == inquires:
		l.tellAll(p)
		err = nil
	case len(payload) < keySize:
	case kind == announces:
		l.announced(p, key(payload[:keySize]), string(payload[keySize:]))
		err = nil
	case kind == publishes:
		err = l.hearValue(p, key(payload[:keySize]), payload[keySize:])
	case kind == reigned:
		err = l.hearReign(key(payload[:keySize]), payload[keySize:])
	case kind == stands:
		err = l.hearStanding(p, key(payload[:keySize]), payload[keySize:])
	case kind == denies:
		err = l.denied(p, key(payload[:keySize]))
	default:
		err = l.deliver(p, key(payload[:keySize]), kind, payload[keySize:])
	}
	return l.closeMalformed(p, err)
}

// closeMalformed ends the connection of a peer if its message was malformed. It returns all other errors.
func (l *loop) closeMalformed(p *peer, err error) error {
	if !errors.Is(err, codec.ErrDecode) && !errors.Is(err, transport.ErrFrame) {
		return err
	}
	l.member.log.Warn("member sent a malformed message", "peer", p.id, "error", err)
	if p.in != nil {
		p.in.Close()
	}
	return nil
}

// deliver gives a message to its group. A message of a group that this member is not in is lost, and its sender is told.
func (l *loop) deliver(p *peer, k key, kind uint8, message []byte) error {
	g := l.byKey[k]
	switch {
	case int(kind) >= len(l.member.program.Kinds):
		return transport.ErrFrame
	case g == nil:
		p.deny(k)
		return nil
	case !g.started:
		return nil
	case len(g.waiting) >= mostWaiting: // the disk has not answered for long
		return l.disconnect(p, "its messages wait for the disk of this member")
	}
	return g.take(process.Input{What: process.Received, Port: p.port(), Kind: election.Kind(kind), Message: message})
}

// announced notes that a peer is in a group, and compares its limits there with our own.
func (l *loop) announced(p *peer, k key, theirs string) {
	g := l.byKey[k]
	if g == nil {
		return
	}
	if p.limits == nil {
		p.limits = map[key]string{}
	}
	p.limits[k] = theirs
	g.tellValue(p)
	g.tellReign(p)
	g.tellStanding(p)
	g.compareLimits(p)
}

// compareLimits compares the limits of a peer with our own.
func (g *group) compareLimits(p *peer) {
	difference := ""
	if theirs := p.limits[g.handle.key]; theirs != g.limits {
		difference = fmt.Sprintf("it has %s; this member has %s", theirs, g.limits)
	}
	if p.differs(g, difference) && difference != "" {
		g.handle.log.Warn("member has other limits", "peer", p.id, "difference", difference)
	}
}

// differs notes what is wrong with a peer in a group; empty: nothing. It reports whether that is new.
func (p *peer) differs(g *group, difference string) bool {
	if difference == p.groups[g.handle.key] {
		return false
	}
	if p.groups == nil {
		p.groups = map[key]string{}
	}
	p.groups[g.handle.key] = difference
	g.show()
	return true
}

// ended takes the end of a connection; ours to that peer ends with it.
func (l *loop) ended(e transport.Ended) error {
	p := l.member.peers[e.In.Peer()]
	if e.In != p.in {
		return nil // it was dismissed
	}
	p.in, p.lost = nil, cmp.Or(p.parting, e.Err.Error())
	l.redial(p)
	level := slog.LevelWarn
	if errors.Is(e.Err, transport.ErrLeft) {
		level = slog.LevelInfo
	}
	if l.member.now()-p.since < longFailure {
		p.flaps++
	} else {
		p.flaps = 0
	}
	l.member.log.Log(context.Background(), p.level(level), "member is not reachable", "peer", p.id, "error", p.lost)
	if p.flaps == mostFlaps {
		l.member.log.Warn("member is reachable for moments only; no further line until it stays", "peer", p.id, "error", cmp.Or(p.problem, p.lost))
	}
	if err := l.suspect(p); err != nil {
		return err
	}
	return l.admit(p)
}

// mostFlaps is how often a member that is reachable for moments only is told to be so. A way that is cut in one direction does that several
// times a second.
const mostFlaps = 2

// level returns the level of a line about whether a peer is reachable.
func (p *peer) level(usual slog.Level) slog.Level {
	if p.flaps >= mostFlaps {
		return slog.LevelDebug
	}
	return usual
}

// stays notes that a peer that was reachable for moments only is so for long.
func (l *loop) stays(p *peer, now time.Duration) {
	if p.flaps == 0 || p.health != reachable || now-p.since < longFailure {
		return
	}
	if p.flaps >= mostFlaps {
		l.member.log.Info("member is reachable", "peer", p.id, "incarnation", p.incarnation, "moments", p.flaps)
	}
	p.flaps = 0
}

// disconnect ends both connections with a peer, because messages were lost. The suspicion follows after all received data
// is read.
func (l *loop) disconnect(p *peer, reason string) error {
	if p.in != nil {
		p.parting = reason
		p.out.Close()
		p.in.Drain()
		return nil
	}
	p.lost = reason
	l.redial(p)
	return l.suspect(p)
}

// noteConnected notes that one direction is connected now, possibly the second.
func (p *peer) noteConnected(now time.Duration) {
	if p.in != nil && p.connected {
		p.bothSince = now
	}
}

// redial begins a new connection to a peer, and drops queued messages. A peer that can receive but not be heard
// disconnects whenever it sends. So the pause doubles each time, until both directions were connected for a while.
func (l *loop) redial(p *peer) {
	now := l.member.now()
	if p.bothSince != 0 && now-p.bothSince > l.member.config.Suspicion {
		p.rest = 0
	}
	if p.connected {
		p.rest = min(max(2*p.rest, leastRest), mostRest)
		p.restUntil = now + transport.Jitter(p.rest)
	}
	p.connected, p.bothSince = false, 0
	p.out.Close()
	p.out = l.member.transport.Dial(p.position, p.restUntil-now)
}

// suspect reports to the algorithm that a peer seems to have crashed, unless it has done so.
func (l *loop) suspect(p *peer) error {
	if p.health == suspect || !l.started { // before the start no message was lost
		return nil
	}
	if p.health == reachable {
		l.member.counts.add(func(c *view.Counts) { c.Suspicions++ })
	}
	p.health, p.lostAt = suspect, l.member.now()
	l.member.recorder.Lost(p.id, p.lost, p.heardAt)
	l.showAll()
	return l.each(process.Input{What: process.Suspected, Port: p.port()})
}

func (l *loop) dialed(e transport.Dialed) error {
	if e.Out == l.selfDial {
		l.mirrored(e.Err)
		return nil
	}
	p := l.member.peers[e.Out.Peer()]
	if e.Out != p.out {
		return nil
	}
	if e.Err == nil {
		p.connected, p.answering, p.answered = true, e.Hello.Incarnation, l.member.now()
		p.quiet = false // the next heartbeat is soon: it tells how often others follow
		p.remember(e.Hello)
		l.introduce(p)
		p.noteConnected(l.member.now())
		l.compare(p, e.Hello.Timing)
	}
	l.note(p, e.Err)
	switch {
	case !e.Lost, e.Slow && p.in != nil: // who is heard lives, and hears what waits
		return nil
	case p.in != nil:
		return l.disconnect(p, cmp.Or(p.problem, "messages to it were lost"))
	}
	p.lost = cmp.Or(p.problem, p.lost)
	return l.suspect(p) // the sender continues: messages queued since the attempt began may arrive
}

// longFailure is the time after which an unreachable member is worth a warning: a restart is shorter.
const longFailure = 5 * time.Second

// mostTold is how many problems of a peer are logged until it can be connected to.
const mostTold = 8

// isNews reports whether the problem of a peer is to be logged. While it cannot be connected to, two errors may take turns.
func (p *peer) isNews() bool {
	if p.problem == "" {
		p.told = nil
	}
	if p.problem == "" || len(p.told) == mostTold || slices.Contains(p.told, p.problem) {
		return false
	}
	p.told = append(p.told, p.problem)
	return true
}

// note keeps the outcome of an attempt to connect, and logs it if it is new.
func (l *loop) note(p *peer, err error) {
	before, contested := p.problem, l.contested()
	p.problem, p.duplicate = "", false
	if err != nil {
		p.problem = err.Error()
	}
	switch {
	case before == "":
		p.failing = l.member.now()
	case p.problem != "" && p.failing != 0 && l.member.now()-p.failing > longFailure:
		p.failing = 0
		l.member.log.Warn("member cannot be connected to for long", "peer", p.id, "error", err)
	}
	var no *transport.Refusal
	refused, news := errors.As(err, &no), p.isNews()
	l.member.recorder.Dialed(p.id, p.problem, news)
	switch {
	case refused:
		p.duplicate = no.Code == transport.RefusedDuplicate
		if news {
			l.member.log.Warn("member refuses us", "peer", p.id, "reason", no.Reason)
		}
	case news:
		l.member.log.Info("member cannot be connected to", "peer", p.id, "error", err)
	}
	if p.problem != before || contested != l.contested() {
		l.showAll()
	}
}

// contested reports whether most of the others are connected with another process of our identifier. A single report
// is not trusted: any process that listens at that member's address could send it.
func (l *loop) contested() bool {
	refusing := 0
	for p := range l.member.others() {
		if p.duplicate {
			refusing++
		}
	}
	return 2*refusing > len(l.member.listed)-1
}

// compare notes how a peer's timing differs from ours.
func (l *loop) compare(p *peer, theirs transport.Timing) {
	difference, ours := "", l.member.timing
	if theirs != ours {
		difference = fmt.Sprintf("it has heartbeat %v, suspicion %v and delay %v; this member has %v, %v and %v",
			theirs.Heartbeat, theirs.Suspicion, theirs.Delay, ours.Heartbeat, ours.Suspicion, ours.Delay)
	}
	if difference == p.difference {
		return
	}
	p.difference = difference
	if difference != "" {
		l.member.log.Warn("member has other timing", "peer", p.id, "difference", difference)
	}
	l.showAll()
}

// mirrored takes the outcome of an attempt to connect to ourselves.
func (l *loop) mirrored(err error) {
	if no := new(transport.Refusal); errors.As(err, &no) && no.Code == transport.RefusedSelf {
		l.reach()
		return
	}
	own := l.member.members[l.member.position].Address // empty: the others tell it
	if problem := fmt.Sprintf("its own address does not lead to it: %v", err); own != "" && problem != l.problem && !l.reached {
		l.problem = problem
		l.member.log.Warn("this member cannot be reached, and waits", "listening", l.member.transport.Address(), "error", err)
		l.showAll()
	}
}

// reach notes that our own address leads to us: our own dial or a peer has reached us.
func (l *loop) reach() {
	if !l.reached {
		l.reached, l.problem = true, ""
		l.selfDial.Close()
		l.showAll()
	}
}

// others returns the other members, the last one first: of members without priorities it is the next leader, which should not have to wait until
// the rest were told.
func (m *Member) others() iter.Seq[*peer] {
	return func(yield func(*peer) bool) {
		for _, p := range slices.Backward(m.peers) {
			if p != nil && !yield(p) {
				return
			}
		}
	}
}

// peerOf returns the other member with that identifier, or nil.
func (m *Member) peerOf(id uint64) *peer {
	for p := range m.others() {
		if p.id == id {
			return p
		}
	}
	return nil
}
