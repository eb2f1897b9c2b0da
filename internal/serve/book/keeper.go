package book

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// Keeper keeps the book of a member that runs. The goroutine that owns the state of the member calls its methods.
type Keeper struct {
	Book  *Book
	Self  uint64
	Own   string   // the address of this member, as it knows itself; empty: the others know it
	Seeds []string // where other members may be
	Log   *slog.Logger

	met         map[uint64]string        // where members were found that the book has elsewhere, or not
	parted      map[uint64]time.Duration // when members that have left are found again at the earliest
	due         time.Duration            // when members are sought next
	sought      map[string]string        // what was wrong last at each address of a seed
	round       round                    // what the seeds have led to since the last attempt
	noRoom      []uint64                 // members that were told to have no place in the book
	corrections int                      // how often this life has corrected its own line
	swings      map[uint64]*swing        // members whose address has changed
}

// swing is a member that is told to be at two addresses in turn.
type swing struct {
	at, before string
	back       int           // how often it has come back to the one before, each time soon
	last       time.Duration // when it changed last
}

// soon is within which time a member that changes its address again swings.
const soon = time.Minute

// swing notes the address of a member, and reports whether it has come back for the second time, and whether more often. Then two processes have
// its identifier, and each change would be a line of the log.
func (k *Keeper) swing(id uint64, address string, now time.Duration) (begins, goesOn bool) {
	s := k.swings[id]
	if s == nil {
		s = &swing{at: address, last: now}
		if k.swings == nil {
			k.swings = map[uint64]*swing{}
		}
		k.swings[id] = s
	}
	switch {
	case address == s.at: // something else of its line has changed
		return false, s.back > 1 && now-s.last < soon
	case address != s.before || now-s.last >= soon:
		s.back = 0
	default:
		s.back++
	}
	s.at, s.before, s.last = address, s.at, now
	return s.back == 2, s.back > 2
}

// steady reports whether a member does not swing.
func (k *Keeper) steady(id uint64) bool { return k.swings[id] == nil || k.swings[id].back < 2 }

// Moved logs that a member has another address in the list, unless it swings.
func (k *Keeper) Moved(id uint64, address string) {
	if k.steady(id) {
		k.Log.Info("member has another address in the list", "peer", id, "address", address)
	}
}

// mostCorrections is how often a life corrects its own line. Two processes with one identifier would otherwise correct each other without end.
const mostCorrections = 8

// Arrive reads the book at the beginning of a life, and notes where this member is. place is the digest of where its life before was, and becomes that of
// this one.
func (k *Keeper) Arrive(s storage.Storage, weight uint16, place *[16]byte) (err error) {
	if s != nil {
		*k.Book, err = Load(s)
	}
	if err != nil || k.Own == "" {
		return err
	}
	now := [16]byte(transport.DigestOf("%s", k.Own))
	moved := *place != [16]byte{} && *place != now
	*place = now
	if changed, err := k.Book.Move(k.Self, k.Own, weight, moved); changed {
		k.Log.Info("this member is at another address than before", "address", k.Own)
	} else if err != nil {
		k.Log.Warn("the others do not learn that this member has moved", "address", k.Own, "error", err)
	}
	return nil
}

// Hear returns the book with a line that a member has told, or nil if that changes neither it nor the list of members. Then answer is the newer line that this member has, if any. ok reports whether
// it is a line.
func (k *Keeper) Hear(from uint64, payload []byte) (next *Book, answer []Line, ok bool) {
	line, ok := Decode(payload)
	if !ok {
		return nil, nil, false
	}
	all := k.Book.Clone()
	taken, gone := all.take(line)
	mine, known := k.Book.Line(line.ID)
	if taken || !mine.Version.Removed() {
		delete(k.met, line.ID)
	}
	if !taken {
		next, answer = k.stale(from, &line)
		return next, answer, true
	}
	if gone != nil {
		k.roomless(gone)
	}
	if known && mine.Version == line.Version && line.Version != 0 && k.steady(line.ID) {
		k.Log.Warn("two commands about one member were given at the same time: this one is lost, and the other one counts",
			"of", line.ID, "lost", mine.Address, "lost_votes", mine.Votes, "address", line.Address, "votes", line.Votes)
	}
	if line.ID == k.Self && k.Own != "" && line.Address != k.Own && line.Version != 0 && !line.Version.Removed() {
		if k.corrections++; k.corrections <= mostCorrections {
			_, _ = all.Move(k.Self, k.Own, line.Weight, true)
		} else {
			k.Log.Warn("the others take this member to be elsewhere, and cannot reach it: another process has its identifier, or an operator has given it another address", "address", line.Address, "own", k.Own)
		}
	}
	if line.ID == k.Self && line.Version.Removed() {
		k.Log.Warn("this member was removed from the group")
	}
	return &all, nil, true
}

// stale takes a line that is no newer than that of the book, or has no place in it. What it returns is as in Hear.
func (k *Keeper) stale(from uint64, line *Line) (next *Book, answer []Line) {
	switch mine, known := k.Book.Line(line.ID); {
	case known && mine.After(line):
		return nil, []Line{mine}
	case !known:
		k.roomless(line)
	case from == line.ID && k.met[from] != "": // it knows that it has left, and is in the list only since it was found
		delete(k.met, from)
		if k.parted == nil {
			k.parted = map[uint64]time.Duration{}
		}
		k.parted[from] = k.due + soon
		same := k.Book.Clone()
		return &same, nil
	}
	return nil, nil
}

// roomless logs once that the book has no room for the line of a member. Another member that still has the line may tell it again and again.
func (k *Keeper) roomless(l *Line) {
	if slices.Contains(k.noRoom, l.ID) || len(k.noRoom) == MostLines {
		return
	}
	k.noRoom = append(k.noRoom, l.ID)
	k.Log.Warn("the address book of every member is without this one: its part has no room, and the smallest identifiers stay", "of", l.ID, "address", l.Address, "lines", len(k.Book.lines))
}

// News returns the lines that the book has and an earlier one had not. Those of lists are not passed on.
func (k *Keeper) News(before *Book, now time.Duration) (news []Line) {
	for _, line := range k.Book.lines {
		was, known := before.Line(line.ID)
		if line.Version == 0 || known && was == line {
			continue
		}
		news = append(news, line)
		if known && was.Version.Removed() == line.Version.Removed() && was.Address == line.Address && was.Weight == line.Weight && was.Votes == line.Votes {
			continue // the log tells what has changed, and this line repeats it in a later version
		}
		switch begins, goesOn := k.swing(line.ID, line.Address, now); {
		case begins:
			k.Log.Warn("the address book has a member at two addresses in turn: two processes have its identifier, or two commands; no further line until that ends",
				"of", line.ID, "address", line.Address, "other", k.swings[line.ID].before)
		case !goesOn || line.Version.Removed():
			k.Log.Info("the address book has changed", "of", line.ID, "address", line.Address, "removed", line.Version.Removed())
		}
	}
	return news
}

// seekEvery is the time between two attempts to find a member by the seeds.
const seekEvery = time.Second

// Seek asks at the seeds. It is called as long as this member has connected to no other one.
func (k *Keeper) Seek(t transport.Transport, now time.Duration) {
	seeker, can := t.(transport.Seeker)
	if now < k.due || !can {
		return
	}
	k.due = now + seekEvery
	if k.round.self != "" && !k.round.others {
		k.missing(k.round.self, errSelf)
	}
	k.round = round{}
	for _, seed := range k.Seeds {
		seeker.Seek(seed)
	}
}

// round is what the seeds lead to in one attempt.
type round struct {
	self   string // an address of this member; empty: none
	others bool   // another place, or none
}

var (
	errSilent = errors.New("what takes the connection does not answer as a member")
	errSelf   = errors.New("this member itself is there")
)

// missing logs why no other member is found at an address, unless that was the reason there the last time.
func (k *Keeper) missing(address string, err error) {
	text := err.Error()
	if text == k.sought[address] {
		return
	}
	if k.sought == nil {
		k.sought = map[string]string{}
	}
	k.sought[address] = text
	k.Log.Warn("no other member is found there yet", "join", address, "error", err)
}

// steadied returns the error of a seed without the ports of this attempt, which are other ones at each.
func steadied(err error) error {
	if failed := new(net.DNSError); errors.As(err, &failed) {
		if _, answer, cut := strings.Cut(failed.Err, "->"); cut { // read udp HOST:PORT->SERVER: REASON
			same := *failed
			_, same.Err, _ = strings.Cut(answer, ": ")
			return &same
		}
		return err
	}
	if failed := new(net.OpError); errors.As(err, &failed) {
		err = failed.Err
	}
	if errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
		return errSilent
	}
	return err
}

// Meet takes an answer of a seed. It reports whether a member is where it was not expected.
func (k *Keeper) Meet(e transport.Met) bool {
	if e.Err != nil {
		k.round.others = true
		k.missing(e.Address, steadied(e.Err))
		return false
	}
	if e.ID == k.Self {
		k.round.self = e.Address
		return false
	}
	k.round.others = true
	delete(k.sought, e.Address)
	if k.met[e.ID] == e.Address || k.due < k.parted[e.ID] {
		return false
	}
	if k.met == nil {
		k.met = map[uint64]string{}
	}
	k.met[e.ID] = e.Address
	return true
}

// Place gives the members of a list the addresses at which they were found.
func (k *Keeper) Place(list []transport.Member) []transport.Member {
	for id, address := range k.met {
		if i := slices.IndexFunc(list, func(m transport.Member) bool { return m.ID == id }); i >= 0 {
			list[i].Address = address
		} else {
			list = append(list, transport.Member{ID: id, Address: address, Standby: true})
		}
	}
	return list
}

// Frame returns a line as a frame of some kind.
func (l *Line) Frame(kind uint8) []byte { return transport.AppendFrame(nil, kind, l.Append(nil)) }
