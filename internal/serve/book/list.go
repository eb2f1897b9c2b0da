package book

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"

	"ringleader.example/ringleader/transport"
)

// Sorted returns the members by position in a first list: the founders first, and then all others, both by identifier. A founder
// that is in the list no more keeps its position.
func Sorted(listed []transport.Member, founders []uint64) (all []transport.Member) {
	for _, id := range founders {
		all = append(all, transport.Member{ID: id, Unlisted: true})
	}
	byID := map[uint64]transport.Member{}
	for _, member := range listed {
		byID[member.ID] = member
	}
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		if i := slices.Index(founders, id); i >= 0 {
			all[i] = byID[id]
		} else {
			all = append(all, byID[id])
		}
	}
	return all
}

// Founders returns the members that vote by a list.
func Founders(listed []transport.Member) (ids []uint64) {
	for _, member := range listed {
		if !member.Standby {
			ids = append(ids, member.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// IDs returns the identifiers of members.
func IDs(members []transport.Member) []uint64 {
	ids := make([]uint64, len(members))
	for i, member := range members {
		ids[i] = member.ID
	}
	return ids
}

// Elsewhere returns an error if an address means another process to each member, or has two spellings: two members could then have it.
func Elsewhere(address string) error {
	host, port, _ := strings.Cut(address, ":")
	if h, p, err := net.SplitHostPort(address); err == nil {
		host, port = h, p
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case err == nil && ip.IsUnspecified():
		return fmt.Errorf("%s is where a process listens: each member would dial its own machine there", address)
	case len(port) > 1 && port[0] == '0':
		return fmt.Errorf("the port of %s begins with 0", address)
	}
	return nil
}
