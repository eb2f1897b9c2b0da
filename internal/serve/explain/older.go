package explain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/serve/explain/words"
	"ringleader.example/ringleader/internal/serve/record"
)

// Older is a change of the leader of which no record has the details any more. It is as members told it at once, in their second records, and is not judged.
type Older struct {
	Time time.Time `json:"time"` // of the first one that told it, by its wall clock
	From *uint64   `json:"from"` // null: none was known
	To   *uint64   `json:"to"`   // null: none became known
	Term uint64    `json:"term"` // of To, or of the lead that has ended
	Told []Saying  `json:"told"`
}

// Saying is what some members told of a change at once. The words for causes are those of status and of the log.
type Saying struct {
	Cause   string   `json:"cause"`
	Detail  string   `json:"detail"` // of the first of them
	Members []uint64 `json:"members"`
}

// telling is a change as one member told it.
type telling struct {
	member uint64
	group  string
	record.Change
}

// tellings returns the changes in the second record of a member, in the order of time. A leader that is lost and one that follows are one change.
func (l *line) tellings(log *record.Log) (whole []telling) {
	byGroup := map[string][]telling{}
	for _, s := range log.Changes {
		for e, damage := range s.Entries() {
			if damage != nil {
				l.damage(damage.String())
				continue
			}
			if c, is := e.Body.(*record.Change); is && c.Time.Unix() > 0 {
				byGroup[e.Group] = append(byGroup[e.Group], telling{log.Member, e.Group, *c})
			}
		}
	}
	early := func(a, b telling) int { return a.Time.Compare(b.Time) }
	for _, all := range byGroup {
		slices.SortStableFunc(all, early)
		for i, c := range all {
			goesOn := c.To == 0 && i+1 < len(all) && all[i+1].From == c.From
			left := c.To == 0 && (c.From == 0 || c.Cause == "stopped" && c.From != c.member) // it has stopped, and not its leader
			if !goesOn && !left {
				whole = append(whole, c)
			}
		}
	}
	slices.SortStableFunc(whole, early)
	return whole
}

// loosely is how far the wall clock of a member may be from the time line, and how long a record that goes on may have no entry.
const loosely = 2 * time.Second

// detailed reports whether a record has the details of a time.
func (l *line) detailed(at int64) bool {
	return slices.ContainsFunc(l.lives, func(v *life) bool {
		return slices.ContainsFunc(v.spans, func(span [2]int64) bool { return span[0] <= at && at <= span[1]+int64(loosely) })
	})
}

// judged are the leads of which a record has the beginning, and, with leader 0, those of which it has the end.
func (l *line) judged() map[tenureKey]bool {
	all, from := map[tenureKey]bool{}, l.from()
	for _, t := range l.tenures {
		all[tenureKey{t.term, t.leader}], all[tenureKey{t.term, 0}] = t.term != 0 && t.begun > from, t.term != 0 && t.over
	}
	return all
}

// span returns the time of second records without detailed ones.
func (l *line) span(all []Older) (from, to time.Time) {
	if len(all) == 0 {
		return wall(l.wrote), wall(l.wrote)
	}
	return all[0].Time, all[len(all)-1].Time
}

// soon is within how long all members tell of a change.
const soon = time.Minute

// older returns the changes without details, in the order of time.
func (l *line) older() (all []Older) {
	byKey, judged := map[tenureKey]int{}, l.judged()
	slices.SortStableFunc(l.told, func(a, b telling) int { return a.Time.Compare(b.Time) })
	for _, c := range l.told {
		if judged[tenureKey{c.Term, c.To}] || l.detailed(c.Time.UnixNano()) || c.To == 0 && l.completed(&c) {
			continue
		}
		k := tenureKey{c.Term, c.To}
		n, known := byKey[k]
		if known = known && (c.Term != 0 || c.Time.Sub(all[n].Time) < soon); !known {
			n, byKey[k] = len(all), len(all)
			all = append(all, Older{Time: c.Time.UTC(), Term: c.Term, Told: []Saying{}})
		}
		all[n].add(&c)
	}
	return all
}

// completed reports whether a member told who led after a lead of which another one told the end only.
func (l *line) completed(c *telling) bool {
	return slices.ContainsFunc(l.told, func(other telling) bool {
		return other.From == c.From && other.To != 0 && (other.Term > c.Term || c.Term == 0) && other.Time.Sub(c.Time).Abs() < soon
	})
}

// add adds what a member told. One that knew no leader before tells nothing of why that changed, if another one did know it.
func (o *Older) add(c *telling) {
	switch {
	case c.From == 0 && o.From != nil:
		return
	case c.From != 0 && o.From == nil:
		from := c.From
		o.From, o.Told = &from, o.Told[:0]
	}
	if to := c.To; to != 0 {
		o.To = &to
	}
	i := slices.IndexFunc(o.Told, func(s Saying) bool { return s.Cause == c.Cause })
	if i < 0 {
		i, o.Told = len(o.Told), append(o.Told, Saying{Cause: c.Cause, Detail: c.Detail})
	}
	if s := &o.Told[i]; !slices.Contains(s.Members, c.member) {
		s.Members = append(s.Members, c.member)
		slices.Sort(s.Members)
	}
}

// writeOlder prints the changes without details.
func writeOlder(out io.Writer, all []Older) {
	fmt.Fprintln(out)
	words.WriteLine(out, "older      ", amount.Of(len(all), "change")+" without a detailed record: as members told them at once, and not judged")
	for i := range all {
		o := &all[i]
		var told []string
		for _, s := range o.Told {
			told = append(told, fmt.Sprintf("%s (told by %s)", cmp.Or(s.Cause, string(Unknown)), words.Members(s.Members)))
		}
		from, to := words.Leader(o.From, 0), words.Leader(o.To, o.Term)
		if o.To == nil {
			from = words.Leader(o.From, o.Term)
		}
		words.WriteLine(out, "  "+o.Time.Format("2006-01-02 15:04:05")+" ", from+" → "+to+": "+strings.Join(told, ", "))
	}
}
