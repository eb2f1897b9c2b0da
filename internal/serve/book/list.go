package book

import (
	"maps"
	"slices"

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
