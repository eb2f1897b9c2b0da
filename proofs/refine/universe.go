package refine

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"ringleader.example/ringleader/algorithms/quorumbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
)

// Clocks are how clocks of members run in real time.
type Clocks interface {
	Ends(member election.ID, now, left int) int    // when a deadline has come that is so far from now on the member's clock
	Expires(member election.ID, now, wait int) int // when a timer that is set now expires, at the earliest
	Shortest(length int) int                       // how long a timer of that length runs at least, at any member
	Unsure() bool                                  // they are guesses, so times that contradict each other are no fault of the code
}

// Right are clocks that are all right.
type Right struct{}

// Ends is now + left.
func (Right) Ends(_ election.ID, now, left int) int { return now + left }

// Expires is now + wait.
func (Right) Expires(_ election.ID, now, wait int) int { return now + wait }

// Shortest is length.
func (Right) Shortest(length int) int { return length }

// Unsure is false.
func (Right) Unsure() bool { return false }

type (
	life struct {
		member election.ID
		number uint64
	}
	claim struct {
		life int
		term election.Term
		base int
	}
	voters struct {
		term    election.Term
		version uint64
		members uint // bits
		maker   int  // a claim
	}
)

// universe holds the lives, claims and voters of all runs that are compared. The model has them from the beginning, so they are
// collected before.
type universe struct {
	members int
	first   voters
	clocks  Clocks

	lives   list[life]
	claims  list[claim]
	voters  list[voters]
	asked   map[int][]asked // by claim, in the order of time; only the first if all are of one length
	varying map[int]bool    // by claim: whether they are not
	times   list[int]       // of requests
}

// asked is how long a request is for that left at a time: for its granters, and for how long an answer counts on the clock of its holder.
type asked struct{ at, lease, entitled int }

// list numbers values.
type list[T comparable] struct {
	all    []T
	number map[T]int
}

func (l *list[T]) add(value T) int {
	if l.number == nil {
		l.number = map[T]int{}
	}
	number, known := l.number[value]
	if !known {
		number = len(l.all)
		l.number[value], l.all = number, append(l.all, value)
	}
	return number
}

func newUniverse(members, first int, clocks Clocks) *universe {
	u := &universe{members: members, first: voters{members: 1<<first - 1}, clocks: clocks, asked: map[int][]asked{}, varying: map[int]bool{}}
	u.voters.add(u.first)
	u.claims.add(claim{u.lives.add(life{}), 1, 0}) // the maker of the first voters, which claims nothing
	return u
}

// likes returns voters as the code has them, without their maker.
func (u *universe) likes(v *quorumbully.Voters) voters {
	like := voters{term: v.Term, version: v.Version, members: u.first.members}
	if len(v.Members) > 0 {
		like.members = 0
		for _, x := range v.Members {
			like.members |= 1 << (x - 1)
		}
	}
	return like
}

func isMajority(some, all uint) bool {
	return some&^all == 0 && 2*bits.OnesCount(some) > bits.OnesCount(all)
}

// meets reports whether each majority of some members has one in common with each majority of others: the smallest decide.
func meets(a, b uint) bool {
	return bits.OnesCount(a)/2+bits.OnesCount(b)/2+2 > bits.OnesCount(a|b)
}

// quorum returns the number of a set of members, which are those that support something.
func quorum(set uint) int {
	if set == 0 {
		fail("no member supports it for as long")
	}
	return int(set) - 1
}

// interpretation returns the model with these things.
func (u *universe) interpretation(m *logic.Model) (*finite.Interpretation, error) {
	names := map[string][]string{}
	for v := range u.members {
		names["Member"] = append(names["Member"], fmt.Sprint(v+1))
	}
	for q := uint(1); q < 1<<u.members; q++ {
		names["Quorum"] = append(names["Quorum"], fmt.Sprintf("%0*b", u.members, q))
	}
	for _, l := range u.lives.all {
		names["Life"] = append(names["Life"], fmt.Sprintf("%d.%d", l.member, l.number))
	}
	for _, v := range u.voters.all {
		names["Voters"] = append(names["Voters"], fmt.Sprintf("%d.%d:%b", v.term, v.version, v.members))
	}
	for _, c := range u.claims.all {
		names["Claim"] = append(names["Claim"], fmt.Sprintf("%s@%d of %s", names["Life"][c.life], c.term, names["Voters"][c.base]))
	}
	times := append([]int{1}, u.times.all...) // models begin at 1
	slices.Sort(times)
	times = slices.Compact(times)
	truth := map[bool]int{true: 1}
	voters, claims := u.voters.all, u.claims.all
	return finite.New(m, names, finite.Range{Least: 1, Most: times[len(times)-1], Only: times}, map[string]func([]int) int{
		"among":      func(a []int) int { return (a[1] + 1) >> a[0] & 1 },
		"majority":   func(a []int) int { return truth[isMajority(uint(a[0]+1), voters[a[1]].members)] },
		"meets":      func(a []int) int { return truth[meets(voters[a[0]].members, voters[a[1]].members)] },
		"common":     func(a []int) int { return bits.TrailingZeros(uint((a[0]+1)&(a[1]+1)|1<<(u.members-1))) % u.members },
		"same":       func(a []int) int { return truth[voters[a[0]].members == voters[a[1]].members] },
		"term-of":    func(a []int) int { return int(voters[a[0]].term) },
		"version-of": func(a []int) int { return int(voters[a[0]].version) },
		"maker":      func(a []int) int { return voters[a[0]].maker },
		"first":      func([]int) int { return 0 },
		"term":       func(a []int) int { return int(claims[a[0]].term) },
		"life":       func(a []int) int { return claims[a[0]].life },
		"base":       func(a []int) int { return claims[a[0]].base },
		"length":     func(a []int) int { return max(1, u.clocks.Shortest(u.request(a[0], a[1]).lease)) },
		"varies":     func(a []int) int { return truth[u.varying[a[0]]] },
		"share-end":  func(a []int) int { return u.shareEnd(a[0], a[1]) },
	})
}

// notes notes what a request is for.
func (u *universe) notes(claim int, request asked, varies bool) {
	all := u.asked[claim]
	u.varying[claim] = varies
	at, found := slices.BinarySearchFunc(all, request, func(a, b asked) int { return a.at - b.at })
	switch {
	case found && all[at] != request && varies:
		panic(&Failure{"two requests of one moment have different lengths, for which the model has no name", true})
	case !found && (varies || len(all) == 0):
		u.asked[claim] = slices.Insert(all, at, request)
	}
}

// request returns what the request of a claim was for that left at a time. For other times it is the one before, or the first.
func (u *universe) request(claim, at int) asked {
	all := u.asked[claim]
	if len(all) == 0 {
		return asked{}
	}
	after := sort.Search(len(all), func(i int) bool { return all[i].at > at })
	return all[max(0, after-1)]
}

func (u *universe) shareEnd(claim, sent int) int {
	r := u.request(claim, sent)
	if u.varying[claim] {
		sent = min(sent, r.at)
	}
	return u.clocks.Ends(u.lives.all[u.claims.all[claim].life].member, sent, r.entitled)
}
