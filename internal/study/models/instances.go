package models

import (
	"fmt"
	"math/bits"
	"slices"

	"ringleader.example/ringleader/internal/study/finite"
	"ringleader.example/ringleader/internal/study/logic"
)

// instances are interpretations of models that are of no ring, by the model.
var instances = map[string]func(m *logic.Model) (*finite.Interpretation, error){
	"bully": FourProcesses, "tree": SmallTree, "verify-leader": ThreeMembers, "quorum-bully": FourMembers, "address-book": ThreeBooks,
}

// FourProcesses is an instance of Bully.
func FourProcesses(m *logic.Model) (*finite.Interpretation, error) {
	return finite.New(m, map[string][]string{"Process": {"1", "2", "3", "4"}}, finite.Range{}, map[string]func([]int) int{
		"less": func(a []int) int { return map[bool]int{true: 1}[a[0] < a[1]] },
	})
}

// SmallTree is a tree of a path 1 - 2 - 3 and a leaf 4 at 2.
func SmallTree(m *logic.Model) (*finite.Interpretation, error) {
	truth := map[bool]int{true: 1}
	edge := func(p, q int) bool { return p != q && (p == 1 || q == 1) }
	toward := func(p, x int) int {
		if p == 1 {
			return x
		}
		return 1
	}
	return finite.New(m, map[string][]string{"Process": {"1", "2", "3", "4"}}, finite.Range{}, map[string]func([]int) int{
		"edge":   func(a []int) int { return truth[edge(a[0], a[1])] },
		"toward": func(a []int) int { return toward(a[0], a[1]) },
		"behind": func(a []int) int {
			return truth[edge(a[0], a[1]) && (a[0] == a[2] || a[1] != a[2] && toward(a[0], a[2]) != a[1])]
		},
		"less": func(a []int) int { return truth[a[0] < a[1]] },
	})
}

// ThreeMembers is an instance of VerifyLeader: its majorities are of two members or three.
func ThreeMembers(m *logic.Model) (*finite.Interpretation, error) {
	quorums := []int{0b011, 0b101, 0b110, 0b111}
	return finite.New(m, map[string][]string{"Member": {"1", "2", "3"}, "Quorum": {"12", "13", "23", "123"}, "Claim": {"A", "B", "C"}}, finite.Range{Least: 0, Most: 3}, map[string]func([]int) int{
		"among":  func(a []int) int { return quorums[a[1]] >> a[0] & 1 },
		"common": func(a []int) int { return bits.TrailingZeros(uint(quorums[a[0]] & quorums[a[1]])) },
		"term":   func(a []int) int { return a[0] + 1 },
	})
}

// Lease is how long grants and shares are at most in [FourMembers], where lives, claims and voters are chosen beforehand.
const Lease = 3

type (
	voters struct {
		name          string
		term, version int
		maker         string
		members       uint // bits
	}
	claim struct {
		name, life string
		term       int
		base       string
	}
)

var (
	someVoters = []voters{
		{"f", 0, 0, "A", 0b0111},
		{"a0", 1, 0, "A", 0b0111},
		{"a1", 1, 1, "A", 0b1111},
		{"a2", 1, 2, "A", 0b1011},
		{"a3", 1, 3, "A", 0b1010},
		{"b0", 2, 1, "B", 0b1111},
		{"b1", 2, 2, "B", 0b1110},
		{"c0", 3, 0, "C", 0b0111},
		{"c1", 3, 1, "C", 0b0011},
	}
	someClaims = []claim{
		{"A", "l0", 1, "f"},
		{"A2", "l3", 1, "f"},
		{"B", "l1", 2, "a1"},
		{"C", "l2", 3, "f"},
		{"E", "l1", 4, "a2"},
		{"H", "l0", 4, "a3"},
		{"I", "l2", 5, "b1"},
	}
	someLives = []string{"l0", "l1", "l2", "l3"}
)

// isMajority reports whether some of them are a majority of all.
func isMajority(some, all uint) bool {
	return some&^all == 0 && 2*bits.OnesCount(some) > bits.OnesCount(all)
}

// HaveMeetingMajorities reports whether each majority of some members has one in common with each majority of the others, of n in all.
func HaveMeetingMajorities(a, b uint, n int) bool {
	for q := range uint(1) << n {
		for r := range uint(1) << n {
			if isMajority(q, a) && isMajority(r, b) && q&r == 0 {
				return false
			}
		}
	}
	return true
}

// FourMembers is an instance of quorum-bully.
func FourMembers(m *logic.Model) (*finite.Interpretation, error) {
	names := map[string][]string{"Member": {"1", "2", "3", "4"}, "Life": someLives}
	for q := uint(1); q < 1<<4; q++ {
		names["Quorum"] = append(names["Quorum"], fmt.Sprintf("%04b", q))
	}
	claims, versions := map[string]int{}, map[string]int{}
	for k, v := range someVoters {
		names["Voters"] = append(names["Voters"], v.name)
		versions[v.name] = k
	}
	for k, c := range someClaims {
		names["Claim"] = append(names["Claim"], c.name)
		claims[c.name] = k
	}
	truth := map[bool]int{true: 1}
	return finite.New(m, names, finite.Range{Least: 0, Most: 16}, map[string]func([]int) int{
		"among":    func(a []int) int { return (a[1] + 1) >> a[0] & 1 },
		"majority": func(a []int) int { return truth[isMajority(uint(a[0]+1), someVoters[a[1]].members)] },
		"meets": func(a []int) int {
			return truth[HaveMeetingMajorities(someVoters[a[0]].members, someVoters[a[1]].members, 4)]
		},
		"common":     func(a []int) int { return bits.TrailingZeros(uint((a[0]+1)&(a[1]+1)|1<<3)) % 4 },
		"same":       func(a []int) int { return truth[someVoters[a[0]].members == someVoters[a[1]].members] },
		"term-of":    func(a []int) int { return someVoters[a[0]].term },
		"version-of": func(a []int) int { return someVoters[a[0]].version },
		"maker":      func(a []int) int { return claims[someVoters[a[0]].maker] },
		"first":      func([]int) int { return 0 },
		"term":       func(a []int) int { return someClaims[a[0]].term },
		"life":       func(a []int) int { return slices.Index(someLives, someClaims[a[0]].life) },
		"base":       func(a []int) int { return versions[someClaims[a[0]].base] },
		"length":     func(a []int) int { return lengthOf(a[0], a[1]) },
		"varies":     func(a []int) int { return truth[vary(a[0])] },
		"share-end":  func(a []int) int { return a[1] + lengthOf(a[0], a[1]) },
	})
}

// vary reports whether requests of a claim have different lengths.
func vary(claim int) bool { return claim%2 == 0 }

// lengthOf returns that of the request of a claim that leaves at a time. None ends before an earlier one.
func lengthOf(claim, at int) int {
	if vary(claim) && at%2 == 1 {
		return Lease - 1
	}
	return Lease
}

// BookLine is a line of an address book, as address-book.model has it.
type BookLine struct {
	Of, Additions, Moves int // Of counts members from 0
	Removed              bool
	Address              int
	Order                int
}

// Books returns an interpretation of address-book.model with these members, lines and addresses, and a process for each member.
func Books(m *logic.Model, members []string, lines []BookLine, addresses []string) (*finite.Interpretation, error) {
	names := map[string][]string{"Member": members, "Process": members, "Address": addresses}
	most := 0
	for _, l := range lines {
		version := fmt.Sprintf("%d.%d", l.Additions, l.Moves)
		if l.Removed {
			version = fmt.Sprintf("%d.gone", l.Additions)
		}
		names["Line"] = append(names["Line"], fmt.Sprintf("%s@%s:%s/%d", members[l.Of], version, addresses[l.Address], l.Order))
		most = max(most, l.Additions)
	}
	truth := map[bool]int{true: 1}
	return finite.New(m, names, finite.Range{Least: 0, Most: most}, map[string]func([]int) int{
		"of":        func(a []int) int { return lines[a[0]].Of },
		"additions": func(a []int) int { return lines[a[0]].Additions },
		"moves":     func(a []int) int { return lines[a[0]].Moves },
		"removed":   func(a []int) int { return truth[lines[a[0]].Removed] },
		"order":     func(a []int) int { return lines[a[0]].Order },
		"address":   func(a []int) int { return lines[a[0]].Address },
		"name":      func(a []int) int { return a[0] },
	})
}

// ThreeBooks is an instance of the address book: two commands may make lines of one version.
func ThreeBooks(m *logic.Model) (*finite.Interpretation, error) {
	return Books(m, []string{"1", "2", "3"}, []BookLine{
		{Of: 0, Address: 0},
		{Of: 0, Address: 1, Order: 1},
		{Of: 0, Moves: 1, Address: 0},
		{Of: 0, Moves: 1, Address: 1, Order: 1},
		{Of: 0, Removed: true, Address: 0},
		{Of: 0, Removed: true, Address: 1, Order: 1},
		{Of: 0, Additions: 1, Address: 0},
		{Of: 0, Additions: 1, Address: 1, Order: 1},
		{Of: 0, Additions: 1, Moves: 1, Address: 0},
		{Of: 0, Additions: 1, Removed: true, Address: 0},
		{Of: 0, Additions: 2, Address: 1, Order: 1},
		{Of: 1, Address: 1, Order: 1},
		{Of: 1, Moves: 1, Address: 0},
		{Of: 1, Removed: true, Address: 1, Order: 1},
		{Of: 1, Additions: 1, Address: 0},
	}, []string{"a", "b"})
}
