package search

import (
	"ringleader.example/ringleader/internal/core/random"
	"ringleader.example/ringleader/verify/internal/model"
)

// longestWalk is the largest number of transitions of a random walk. Services have no last one.
const longestWalk = 1000

// longestCalm is the number of transitions after the last fault that may come, after which a walk ends of which only
// safety is judged: its leases have run out, or are renewed again and again.
const longestCalm = 64

// mostVain is how often a walk chooses an event again if the chosen one changes nothing, as the passing of time where no
// clock runs.
const mostVain = 64

// Walker makes walks. What it computed for one serves the next.
type Walker struct {
	*model.Checker
	Locates bool // the path of a walk is asked for

	selector model.EventSelector
	conf     model.Configuration
	next     model.Configuration
	breach   *model.Breach
	path     []int // if it is asked for
}

// Walk makes one walk. It returns the number of its steps, and its violation or nil; the violation has a path if the
// walker locates.
func (k *Walker) Walk(source *random.Source) (length int, f *model.Finding) {
	roots := k.Beginnings()
	root := int(source.Below(uint64(len(roots))))
	k.conf, k.path = append(k.conf[:0], roots[root]...), k.path[:0]
	found := func(b *model.Breach) *model.Finding { return &model.Finding{Breach: *b, Root: root, Path: k.path} }
	calm := 0 // steps since the last fault
	for length < longestWalk && calm < longestCalm {
		p := &k.selector
		p.Visit(k.Checker, k.conf, model.Counting, nil)
		if !p.Due && !k.Options.SafetyOnly {
			if b := k.Settled(k.conf); b != nil {
				return length, found(b)
			}
		}
		if !k.step(source) {
			break
		}
		length++
		if calm++; !k.Options.SafetyOnly || p.Of[model.Faulty] > 0 { // an election that ends does so by itself
			calm = 0
		}
		if k.breach != nil {
			return length, found(k.breach)
		}
		k.conf, k.next = k.next, k.conf
	}
	return length, nil
}

// step chooses one of the events that the selector has counted, and makes it. It reports false if nothing changes any more.
func (k *Walker) step(source *random.Source) bool {
	p := &k.selector
	p.Of = p.Met
	if p.Of == [2]int{} {
		return false
	}
	for range mostVain {
		p.Kind = model.Ordinary
		if p.Of[model.Faulty] > 0 && (p.Of[model.Ordinary] == 0 || source.Below(8) == 0) {
			p.Kind = model.Faulty
		}
		p.Index = int(source.Below(uint64(p.Of[p.Kind])))
		outcomes, chosen := 0, 0
		p.Visit(k.Checker, k.conf, model.Choosing, func(t *model.Transition, next model.Configuration) {
			if outcomes++; outcomes > 1 && source.Below(uint64(outcomes)) > 0 { // each of them is as likely in the end
				return
			}
			chosen, k.breach = outcomes, t.Breach
			k.next = append(k.next[:0], next...)
		})
		if outcomes > 0 {
			if k.Locates {
				k.locate(chosen)
			}
			return true
		}
	}
	return false
}

// locate adds the chosen transition to the path: its number among all transitions of the configuration.
func (k *Walker) locate(chosen int) {
	ordinal, outcomes := 0, 0
	k.selector.Visit(k.Checker, k.conf, model.Locating, func(*model.Transition, model.Configuration) {
		if k.selector.Current {
			if outcomes++; outcomes == chosen {
				k.path = append(k.path, ordinal)
			}
		}
		ordinal++
	})
}
