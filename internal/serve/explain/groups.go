package explain

import (
	"fmt"
	"maps"
	"slices"

	"ringleader.example/ringleader/internal/serve/record"
)

// mostGroups is how many groups of the same members are told.
const mostGroups = 100

// split returns a time line for each group of the same members: that of the first one, and of the others in the order of their names.
func (l *line) split() (all []*line) {
	names := map[string]bool{}
	for _, v := range l.lives {
		for i := range v.facts {
			names[v.facts[i].group] = true
		}
	}
	for i := range l.told {
		names[l.told[i].group] = true
	}
	delete(names, "") // of all groups, or of the first one
	delete(names, l.name)
	others := slices.Sorted(maps.Keys(names))
	if most := mostGroups - 1; len(others) > most {
		l.damages = append(l.damages, fmt.Sprintf("the members are in %d groups; %d of them are told", 1+len(others), mostGroups))
		others = others[:most]
	}
	all = append(all, l)
	for _, name := range others {
		all = append(all, l.of(name))
	}
	l.keep(l.lives)
	return all
}

// of returns the time line of another group of the same members. It has clocks of its own, since clocks are set by messages of the group.
func (l *line) of(name string) *line {
	other := *l
	other.name, other.damages, other.lives, other.clocks = name, nil, nil, map[string]*timebase{}
	for clock, b := range l.clocks {
		same := *b
		other.clocks[clock] = &same
	}
	for _, v := range l.lives {
		same := *v
		same.base, same.spans = other.clocks[v.base.name], slices.Clone(v.spans)
		other.lives = append(other.lives, &same)
	}
	other.keep(l.lives)
	return &other
}

// keep gives the lives of a group those facts of some lives that concern the group.
func (l *line) keep(all []*life) {
	for i, v := range all {
		if l.lives[i] == v { // the other groups have theirs
			v.facts = slices.DeleteFunc(v.facts, func(f fact) bool { return !l.concerns(f.group, f.body) })
			continue
		}
		var facts []fact
		for _, f := range v.facts {
			if l.concerns(f.group, f.body) {
				facts = append(facts, f)
			}
		}
		l.lives[i].facts = facts
	}
	l.told = slices.DeleteFunc(slices.Clone(l.told), func(c telling) bool { return c.group != l.name })
}

// concerns reports whether an entry is about the group, or about all groups of its member. The name of a first group may be empty, too.
func (l *line) concerns(group string, body record.Body) bool {
	if group == l.name || group != "" || l.main != "" {
		return group == l.name || group == ""
	}
	switch body.(type) {
	case *record.Step, *record.Idle, *record.Snapshot, *record.Members, *record.Group, *record.Decision, *record.Change, *record.Told, *record.Standing, *record.Voters, *record.Published, *record.Lapse:
		return false
	}
	return true
}

// from returns when the records of the group begin. Members may join another group than their first one long after they have started.
func (l *line) from() (at int64) {
	for _, v := range l.lives {
		begins := v.recorded()
		if l.name != l.main {
			i := slices.IndexFunc(v.facts, func(f fact) bool { return f.group == l.name })
			if i < 0 {
				continue
			}
			begins = v.facts[i].at
		}
		if at == 0 || begins < at {
			at = begins
		}
	}
	return at
}
