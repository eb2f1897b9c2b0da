package chaos

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/kernel/kerneltest"
)

// monkey makes faults in a group.
type monkey struct {
	*group
	r       *rand.Rand
	wardens bool
	drifts  bool          // clocks are wrong
	exec    bool          // work is a command, with a keeper, which knows the right clock only
	hang    time.Duration // after which a warden kills a member that does nothing; 0: never
	gap     time.Duration // between two faults, at most
	pending []ending
	made    map[string]int
	ways    map[[2]uint64]quality // those that are not good
	aside   bool                  // a process runs with a store that the others do not know
	awaited map[*life]bool        // lives whose successors begin when a fault ends
	loads   []*exec.Cmd
}

// ending is the end of a fault.
type ending struct {
	at time.Time
	do func()
}

// newMonkey starts a group, and waits until all know each other's stores.
func newMonkey(t *testing.T, seed uint64, connect func(n int) (wires, error)) *monkey {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	m := &monkey{
		r: r, wardens: r.IntN(2) == 0, drifts: seed%2 == 1, exec: seed%4 == 2, made: map[string]int{}, awaited: map[*life]bool{}, ways: map[[2]uint64]quality{},
		hang:  []time.Duration{0, 60 * time.Millisecond}[r.IntN(2)], // as join and exec have it
		group: newGroup(t, 3+2*r.IntN(2), r.IntN(2) == 0, r.IntN(2) == 0, []time.Duration{lease, lease / 2}[r.IntN(2)], connect), gap: [...]time.Duration{lease / 4, lease / 2, lease}[r.IntN(3)],
	}
	m.exec = m.exec && kerneltest.MayHurry() == nil // else a loaded host may need longer than a margin to end a command
	for _, id := range m.ids {
		m.begin(id)
	}
	acquainted := func() bool {
		return !slices.ContainsFunc(m.ids, func(id uint64) bool { return !m.current[id].hears })
	}
	for left := long; !m.await(part, func() bool { return acquainted() && m.agreed(0) }); left -= part {
		m.supervise() // on a busy machine work may not return in time, which ends its process
		if left <= 0 {
			m.violated("the members have not agreed after the start: %s", m.views())
			break
		}
	}
	return m
}

// begin starts the next life of a member.
func (m *monkey) begin(id uint64) {
	s := m.draw(id)
	l := m.start(s, false)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current[id] = l
}

// draw draws what a process of a member is told.
func (m *monkey) draw(id uint64) spec {
	s := m.spec(id)
	if m.drifts {
		s.Rate = 0.98 + 0.04*m.r.Float64() // within ±2 %, for a drift of 5 %
	}
	s.Exec = m.exec
	s.Warden = m.exec || m.wardens && m.r.IntN(8) > 0
	if s.Warden {
		s.Hang = m.hang
	}
	s.Lingers = m.r.IntN(4) > 0
	return s
}

// later draws a length of time below a limit, and does something after it.
func (m *monkey) later(most time.Duration, do func()) time.Duration {
	d := time.Duration(m.r.Int64N(int64(most)))
	m.after(d, do)
	return d
}

// after does something after a time.
func (m *monkey) after(d time.Duration, do func()) {
	m.pending = append(m.pending, ending{time.Now().Add(d), do})
	slices.SortStableFunc(m.pending, func(a, b ending) int { return a.at.Compare(b.at) })
}

// pass lets time pass, and ends faults that are due.
func (m *monkey) pass(d time.Duration) {
	for end := time.Now().Add(d); ; {
		next := end
		due := len(m.pending) > 0 && m.pending[0].at.Before(end)
		if due {
			next = m.pending[0].at
		}
		alarm := time.NewTimer(time.Until(next))
		<-alarm.C
		if !due {
			return
		}
		m.finish()
	}
}

// finish ends the fault that is due first.
func (m *monkey) finish() {
	e := m.pending[0]
	m.pending = m.pending[1:]
	e.do()
}

// fault is a kind of fault. It reports whether it was possible.
type fault struct {
	name string
	odds int
	make func(m *monkey, id uint64) bool
}

var lease = ringleader.Test().Lease

// lostStore is the fault that the model of the algorithm has not.
const lostStore = "lost store"

// The faults. Their names are those of the counts that are printed.
var kinds = []fault{
	{"kill", 8, func(m *monkey, id uint64) bool { return m.crash(id, m.kill) }},
	{"kill warden", 4, func(m *monkey, id uint64) bool { return m.live(id).warden && m.crash(id, m.orphan) }},
	{"terminate", 3, func(m *monkey, id uint64) bool { return m.crash(id, m.terminate) }},
	{"stop", 10, (*monkey).pause},
	{"stop warden", 3, (*monkey).pauseWarden},
	{"stop or kill a process of a command", 10, (*monkey).interfere},
	{"resign", 3, func(m *monkey, id uint64) bool { return m.order(id, "resign") }},
	{"transfer", 3, func(m *monkey, id uint64) bool { return m.order(id, fmt.Sprintf("transfer %d", m.any())) }},
	{"change of voters", 8, func(m *monkey, _ uint64) bool { return m.vote() }},
	{"partition", 6, func(m *monkey, _ uint64) bool { return m.partition() }},
	{"isolation", 5, (*monkey).isolate},
	{"one-way cut", 6, (*monkey).oneWay},
	{"partial cut", 4, (*monkey).partial},
	{"late answers", 3, (*monkey).late},
	{"moving partition", 3, (*monkey).move},
	{"delay", 4, (*monkey).delay},
	{"loss", 4, (*monkey).lose},
	{"reset", 4, (*monkey).reset},
	{"full disk", 3, func(m *monkey, id uint64) bool { return m.disk(id, "full") }},
	{"slow disk", 3, func(m *monkey, id uint64) bool { return m.disk(id, "slow") }},
	{"flush failure", 3, (*monkey).flush},
	{lostStore, 1, (*monkey).loseStore},
	{"copied store", 1, (*monkey).copyStore},
	{"swapped stores", 1, (*monkey).swapStores},
	{"double start", 2, (*monkey).double},
	{"impostor", 1, (*monkey).impostor},
	{"rolling restart", 1, func(m *monkey, _ uint64) bool { return m.roll() }},
	{"load", 1, func(m *monkey, _ uint64) bool { return m.load() }},
}

// act makes one fault, at the leader or at a random member. Half of the faults come when there is a leader, if there is one
// soon.
func (m *monkey) act() {
	if m.r.IntN(2) == 0 {
		const soon = 40
		m.await(soon, m.led)
	}
	total := 0
	for _, k := range kinds {
		total += k.odds
	}
	for {
		m.supervise()
		id, at := m.any(), m.r.IntN(total)
		if m.r.IntN(2) == 0 {
			id = cmp.Or(m.leader(), id)
		}
		i := 0
		for ; at >= kinds[i].odds; i++ {
			at -= kinds[i].odds
		}
		if kinds[i].make(m, id) {
			m.made[kinds[i].name]++
			return
		}
		m.pass(time.Millisecond)
	}
}

// led reports whether a member leads, as far as is known. The caller has the lock.
func (m *monkey) led() bool {
	return slices.ContainsFunc(m.ids, func(id uint64) bool {
		l := m.current[id]
		return l.dead == 0 && !l.stopped && l.view.Role == string(ringleader.Leader)
	})
}

// any draws a member.
func (m *monkey) any() uint64 { return m.ids[m.r.IntN(len(m.ids))] }

// live returns the current life of a member.
func (m *monkey) live(id uint64) *life {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current[id]
}

// works reports whether the current life of a member runs, and is not stopped.
func (m *monkey) works(id uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.current[id]
	return l.runs && l.dead == 0 && !l.stopped && !l.foreign && !m.awaited[l]
}

// crash ends a member in some way, and begins its next life later.
func (m *monkey) crash(id uint64, how func(*life)) bool {
	l := m.live(id)
	if m.awaited[l] {
		return false
	}
	m.awaited[l] = true
	how(l)
	down := lease
	if m.r.IntN(2) == 0 { // as by a supervisor
		down = lease / 10
	}
	m.later(down, func() { m.revive(id) })
	return true
}

// revive begins the next life of a member whose last one ends.
func (m *monkey) revive(id uint64) {
	l := m.live(id)
	if l.warden {
		m.proceed(l, l.command.Process)
	}
	if l.itself != nil {
		m.proceed(l, l.itself)
	}
	if !m.await(lives, l.over) { // one that was terminated may be busy
		m.kill(l)
	}
	m.leave(l)
	m.begin(id)
}

// lives is how many ticks a member may take that has got a SIGTERM.
const lives = 50

func (m *monkey) terminate(l *life) {
	if m.known(l) {
		_ = l.command.Process.Signal(syscall.SIGTERM)
		m.tell(l.member, "%v gets SIGTERM", &l.record)
	}
}

func (m *monkey) pause(id uint64) bool {
	l := m.live(id)
	if !m.works(id) {
		return false
	}
	m.stop(l, l.itself)
	d := m.later(2*lease, func() {
		m.proceed(l, l.itself)
		m.tell(id, "%v continues", &l.record)
	})
	m.tell(id, "%v is stopped for %v", &l.record, d.Round(time.Millisecond))
	return true
}

func (m *monkey) pauseWarden(id uint64) bool {
	l := m.live(id)
	if !l.warden || !m.works(id) {
		return false
	}
	_ = l.command.Process.Signal(syscall.SIGSTOP)
	d := m.later(3*lease, func() { _ = l.command.Process.Signal(syscall.SIGCONT) })
	m.tell(id, "the warden of %v is stopped for %v", &l.record, d.Round(time.Millisecond))
	if m.r.IntN(2) == 0 {
		m.crash(id, m.kill)
	}
	return true
}

// interfere stops or kills a process that a member has started: a keeper, its command, or what stands between the two.
func (m *monkey) interfere(id uint64) bool {
	l := m.live(id)
	if !m.exec || !m.works(id) {
		return false
	}
	all := kerneltest.Descendants(l.itself.Pid)
	if len(all) == 0 {
		return false
	}
	process, err := os.FindProcess(all[m.r.IntN(len(all))])
	if err != nil { // it has ended
		return false
	}
	if m.r.IntN(2) == 0 {
		_ = process.Kill()
		m.tell(id, "process %d of the command of %v is killed", process.Pid, &l.record)
		return true
	}
	_ = process.Signal(syscall.SIGSTOP)
	d := m.later(2*lease, func() { _ = process.Signal(syscall.SIGCONT) })
	m.tell(id, "process %d of the command of %v is stopped for %v", process.Pid, &l.record, d.Round(time.Millisecond))
	return true
}

func (m *monkey) order(id uint64, text string) bool {
	if !m.works(id) {
		return false
	}
	m.live(id).order(text)
	m.tell(id, "is told to %s", text)
	return true
}

// vote lets the leader take the vote of another member, or give it to one.
func (m *monkey) vote() bool {
	leader, other := m.leader(), m.any()
	if leader == 0 || leader == other || !m.works(leader) {
		return false
	}
	return m.order(leader, fmt.Sprintf("%s %d", []string{"add", "remove"}[m.r.IntN(2)], other))
}

// cut blocks directions for some time: all together, or each as long as it is drawn. Then an answer may arrive when later
// requests do not.
func (m *monkey) cut(ways [][2]uint64, format string, args ...any) {
	what, reset, together := fmt.Sprintf(format, args...), m.r.IntN(3) == 0, m.r.IntN(2) == 0
	m.tell(0, "cut: %s", what)
	parts := [][][2]uint64{ways}
	if !together {
		parts = slices.Collect(slices.Chunk(ways, 1))
	}
	for _, part := range parts {
		m.block(part, 1)
		m.later(3*lease/2, func() {
			if reset { // as if both ends had given up
				for _, way := range part {
					m.wires.reset(way[0], way[1])
				}
			}
			m.block(part, -1)
			m.tell(0, "healed: the directions %v of %s", part, what)
		})
	}
}

// block adds a cut of directions, or takes one away.
func (m *monkey) block(ways [][2]uint64, by int) {
	for _, way := range ways {
		q := m.ways[way]
		q.cuts += by
		m.ways[way] = q
	}
	m.must(m.wires.set(m.ways))
}

// pairs returns all directions, in order.
func (m *monkey) pairs() (all [][2]uint64) {
	for _, from := range m.ids {
		for _, to := range m.ids {
			if from != to {
				all = append(all, [2]uint64{from, to})
			}
		}
	}
	return all
}

func (m *monkey) partition() bool {
	side := map[uint64]bool{}
	for _, id := range m.ids {
		side[id] = m.r.IntN(2) == 0
	}
	var ways [][2]uint64
	for _, ends := range m.pairs() {
		if side[ends[0]] != side[ends[1]] {
			ways = append(ways, ends)
		}
	}
	if len(ways) == 0 {
		return false
	}
	m.cut(ways, "the sides of %v", side)
	return true
}

func (m *monkey) isolate(id uint64) bool {
	from, to := m.around(id)
	m.cut(slices.Concat(from, to), "%d from all", id)
	return true
}

func (m *monkey) oneWay(id uint64) bool {
	ways, to := m.around(id)
	if m.r.IntN(2) == 0 {
		ways = to
	}
	if m.r.IntN(2) == 0 {
		ways = ways[:1+m.r.IntN(len(ways))]
	}
	m.cut(ways, "the directions %v", ways)
	return true
}

func (m *monkey) partial(id uint64) bool {
	other := m.any()
	if other == id {
		return false
	}
	m.cut([][2]uint64{{id, other}, {other, id}}, "%d – %d", id, other)
	return true
}

// around returns the directions from a member to all others, and those to it.
func (m *monkey) around(id uint64) (from, to [][2]uint64) {
	for _, ends := range m.pairs() {
		switch id {
		case ends[0]:
			from = append(from, ends)
		case ends[1]:
			to = append(to, ends)
		}
	}
	return from, to
}

// late holds back the answers to a member, then all that it sends, and lets the answers arrive first.
func (m *monkey) late(id uint64) bool {
	from, to := m.around(id)
	m.tell(id, "all that is sent to it is held back")
	m.block(to, 1)
	m.later(lease/2, func() {
		m.tell(id, "all that it sends is held back, too")
		m.block(from, 1)
		m.later(lease/2, func() {
			m.tell(id, "what was sent to it arrives")
			m.block(to, -1)
			m.later(3*lease/2, func() {
				m.tell(id, "healed: all that it sends arrives")
				m.block(from, -1)
			})
		})
	})
	return true
}

// move leaves a member a bare majority until the promises of all others have ended, and then cuts it off from that, too.
func (m *monkey) move(id uint64) bool {
	from, to := m.around(id)
	bare := len(m.ids) / 2 // of the others
	kept, lost := slices.Concat(from[:bare], to[:bare]), slices.Concat(from[bare:], to[bare:])
	m.tell(id, "it reaches a bare majority: cut are %v", lost)
	m.block(lost, 1)
	m.after(lease+time.Duration(m.r.Int64N(int64(lease/2))), func() {
		m.tell(id, "it reaches no other member")
		m.block(kept, 1)
		m.later(3*lease/2, func() {
			m.tell(id, "healed: it reaches all")
			m.block(slices.Concat(kept, lost), -1)
		})
	})
	return true
}

// degrade makes both directions between a member and another, or all others, bad for some time.
func (m *monkey) degrade(id uint64, delay time.Duration, one int) bool {
	other := m.any()
	change := func(delay time.Duration, one int) {
		for _, ends := range m.pairs() {
			if ends[0] == id && (other == id || ends[1] == other) || ends[1] == id && (other == id || ends[0] == other) {
				m.ways[ends] = quality{m.ways[ends].cuts, delay, one}
			}
		}
		m.must(m.wires.set(m.ways))
	}
	change(delay, one)
	d := m.later(2*lease, func() { change(0, 0) })
	m.tell(0, "delay up to %v, and one of %d lost, between %d and %d (itself: all) for %v", delay.Round(time.Millisecond), one, id, other, d.Round(time.Millisecond))
	return true
}

func (m *monkey) delay(id uint64) bool {
	most := 1 + m.r.Int64N(int64(lease/2))
	return m.wires.delays() && m.degrade(id, time.Duration(most), 0)
}

func (m *monkey) lose(id uint64) bool { return m.degrade(id, 0, 3+m.r.IntN(20)) }

func (m *monkey) reset(id uint64) (any bool) {
	other := m.any()
	from, _ := m.around(id)
	for _, ends := range from {
		if other == id || ends[1] == other {
			any = m.wires.reset(ends[0], ends[1])
		}
	}
	if any {
		m.tell(0, "the connections from %d to %d (itself: all) are reset", id, other)
	}
	return any
}

func (m *monkey) disk(id uint64, mode string) bool {
	if !m.works(id) {
		return false
	}
	l := m.live(id)
	l.order("disk " + mode)
	d := m.later(2*lease, func() { l.order("disk good") })
	m.tell(id, "the disk of %v is %s for %v", &l.record, mode, d.Round(time.Millisecond))
	return true
}

// flush makes the next flush of a member fail, which ends it.
func (m *monkey) flush(id uint64) bool {
	if !m.works(id) {
		return false
	}
	l := m.live(id)
	mode := []string{"flush-kept", "flush-lost"}[m.r.IntN(2)]
	l.order("disk " + mode)
	m.tell(id, "the next flush of %v fails: %s", &l.record, mode)
	m.later(2*lease, func() { l.order("disk good") })
	return true
}

// load loads all cores for some time.
func (m *monkey) load() bool {
	const cores = 2
	if len(m.loads) > 0 {
		return false
	}
	for range cores {
		c := exec.Command(m.program)
		c.Env = append(os.Environ(), variable+"="+burn)
		if err := m.forks.Start(c); err != nil {
			panic(err)
		}
		m.loads = append(m.loads, c)
	}
	d := m.later(3*lease, m.unload)
	m.tell(0, "%d processes load the machine for %v", cores, d.Round(time.Millisecond))
	return true
}

func (m *monkey) unload() {
	for _, c := range m.loads {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	m.loads = nil
}

// down ends members and waits for that, for faults of their stores. It reports false if one does not run.
func (m *monkey) down(ids ...uint64) bool {
	if m.aside {
		return false
	}
	for _, id := range ids {
		if !m.works(id) {
			return false
		}
	}
	for _, id := range ids {
		l := m.live(id)
		m.kill(l)
		if l.warden {
			_ = l.command.Process.Signal(syscall.SIGCONT)
		}
	}
	for _, id := range ids {
		m.leave(m.live(id))
	}
	return true
}

// attempt runs a process of a member that is to be refused.
func (m *monkey) attempt(s spec) {
	l := m.start(s, true)
	if !m.await(long, func() bool { return l.refused || l.runs || l.dead != 0 }) || !l.refused {
		m.violated("%v was not refused", &l.record)
		m.kill(l)
	}
	m.end(l)
}

func (m *monkey) must(err error) {
	if err != nil {
		m.violated("the test itself: %v", err)
	}
}

// loseStore replaces the store of a member by a new one for some time. The others know the old one.
func (m *monkey) loseStore(id uint64) bool {
	if !m.down(id) {
		return false
	}
	m.aside = true
	kept := m.store(id) + ".kept"
	m.must(errors.Join(os.Rename(m.store(id), kept), ringleader.Init(m.store(id), groupName, id)))
	m.tell(id, "its store is lost, and it gets a new one")
	l := m.start(m.draw(id), true)
	m.awaited[l] = true
	m.mu.Lock()
	m.current[id] = l
	m.mu.Unlock()
	m.later(3*lease, func() {
		m.kill(l)
		m.leave(l)
		m.must(errors.Join(os.RemoveAll(m.store(id)), os.Rename(kept, m.store(id))))
		m.aside = false
		m.tell(id, "its store is found")
		m.begin(id)
	})
	return true
}

// copyStore replaces the store of a member by a copy, which is as good.
func (m *monkey) copyStore(id uint64) bool {
	if !m.down(id) {
		return false
	}
	old := m.store(id) + ".old"
	m.must(os.Rename(m.store(id), old))
	m.must(os.CopyFS(m.store(id), os.DirFS(old)))
	m.must(os.RemoveAll(old))
	m.tell(id, "its store is a copy now")
	m.begin(id)
	return true
}

// swapStores lets two members start with each other's store.
func (m *monkey) swapStores(id uint64) bool {
	other := m.any()
	if other == id || !m.down(id, other) {
		return false
	}
	swap := func() {
		between := filepath.Join(m.dir, "between")
		m.must(errors.Join(os.Rename(m.store(id), between), os.Rename(m.store(other), m.store(id)), os.Rename(between, m.store(other))))
	}
	swap()
	m.tell(0, "the stores of %d and %d are swapped", id, other)
	m.attempt(m.draw(id))
	m.attempt(m.draw(other))
	swap()
	m.begin(id)
	m.begin(other)
	return true
}

// double starts a member that runs a second time, with the same store.
func (m *monkey) double(id uint64) bool {
	if !m.works(id) || m.aside {
		return false
	}
	l := m.live(id)
	m.tell(id, "is started a second time")
	second := m.start(m.draw(id), false)
	m.await(long, func() bool { return second.refused || second.runs || second.dead != 0 })
	m.mu.Lock()
	joined := second.runs
	m.mu.Unlock()
	if joined { // the first must have ended by itself meanwhile
		if !m.await(lives, l.over) { // its warden may go on, with the proof of that
			m.violated("%v runs beside %v", &second.record, &l.record)
		}
		m.mu.Lock()
		m.current[id] = second
		m.mu.Unlock()
		return true
	}
	m.end(second)
	return true
}

// impostor starts a process with the identifier of a member, a new store, and an address of its own.
func (m *monkey) impostor(id uint64) bool {
	if m.aside {
		return false
	}
	m.aside = true
	s := m.draw(id)
	s.Data, s.Listen = filepath.Join(m.dir, "impostor"), m.wires.spare(id)
	m.must(errors.Join(os.RemoveAll(s.Data), ringleader.Init(s.Data, groupName, id)))
	m.tell(id, "an impostor starts")
	l := m.start(s, true)
	m.later(3*lease, func() {
		m.kill(l)
		m.leave(l)
		m.aside = false
	})
	return true
}

// roll restarts all members, one after the other.
func (m *monkey) roll() bool {
	if m.aside || !m.await(0, func() bool { return m.agreed(0) }) {
		return false
	}
	m.tell(0, "all members are restarted, one after the other")
	for _, id := range m.ids {
		m.terminate(m.live(id))
		m.revive(id)
		l := m.live(id)
		m.await(lives, func() bool { return l.view.Leader != 0 || l.dead != 0 })
	}
	return true
}

// repair ends all faults, and starts all members that have ended by themselves.
func (m *monkey) repair() {
	for len(m.pending) > 0 {
		m.finish()
	}
	clear(m.ways)
	m.must(m.wires.set(m.ways))
	for _, id := range m.ids {
		m.live(id).order("disk good")
	}
	m.supervise()
	m.tell(0, "all is repaired")
}

// supervise begins the next lives of members that have ended by themselves: their flush has failed, or their work has not
// ended in time. It reports whether there were any.
func (m *monkey) supervise() (any bool) {
	for _, id := range m.ids {
		l := m.live(id)
		m.mu.Lock()
		over := l.dead != 0 && !m.awaited[l]
		m.mu.Unlock()
		if over {
			any = true
			m.begin(id)
		}
	}
	return any
}

// part is how many ticks pass until members are looked at that have ended by themselves.
const part = 5

// agree waits until all members agree, for ten leases after the repair, and returns how long that took. Members that end
// by themselves afterwards, because of what was, begin the wait again. While the disk stalls, no ticks are counted: the
// members cannot vote then.
func (m *monkey) agree() time.Duration {
	const most = 10
	limit := most * int(lease/tick)
	healed, left := now(), limit
	for !m.await(part, func() bool { return m.agreed(healed) }) {
		left -= part
		m.flushed()
		if m.supervise() {
			healed, left = now(), limit
		}
		if left <= 0 {
			m.violated("the members have not agreed within %v after the repair: %s", time.Duration(now()-healed).Round(time.Millisecond), m.views())
			break
		}
	}
	return time.Duration(now() - healed)
}

// flushed writes a file and waits until it is durable.
func (m *monkey) flushed() {
	file, err := os.Create(filepath.Join(m.dir, "flushed"))
	if err != nil {
		m.must(err)
		return
	}
	_, err = file.WriteString("durable")
	m.must(errors.Join(err, file.Sync(), file.Close()))
}

// views lists what the members know.
func (m *monkey) views() (text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range m.ids {
		l := m.current[id]
		text += fmt.Sprintf("%v: runs %v, dead %v, stopped %v, %s of %d in term %d; ", &l.record, l.runs, l.dead != 0, l.stopped, l.view.Role, l.view.Leader, l.view.Term)
	}
	return text
}
