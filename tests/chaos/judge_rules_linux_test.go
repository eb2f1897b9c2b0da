package chaos

import (
	"path/filepath"
	"strings"
	"testing"
)

// lifeOf is a process of a member with events.
func lifeOf(member uint64, events ...event) *record {
	r := &record{member: member, number: int64(member), events: events}
	for _, e := range events {
		r.last = max(r.last, e.From, e.To)
	}
	return r
}

// tenureOf is the work of a term, with one report of a lease.
func tenureOf(term uint64, from, until, end int64) []event {
	return []event{
		{What: started, Term: term, To: from},
		{What: leased, Term: term, From: from, To: from + 1, Until: until},
		{What: ended, Term: term, From: end},
	}
}

// command is the work of a term as a command, which runs at two moments, before and after a renewal of its lease.
func command(term uint64, until, runs, later int64) []event {
	return []event{
		{What: started, Term: term, To: 10},
		{What: leased, Term: term, From: 10, To: 10, Until: until},
		{What: ran, Term: term, From: runs},
		{What: leased, Term: term, From: until, To: until, Until: until + 50},
		{What: ran, Term: term, From: later},
	}
}

func op(kind string, term uint64, in int64, from, to int64, result string, out int64) []event {
	return []event{
		{What: called, Op: kind, Term: term, Value: in, From: from},
		{What: given, Result: result, Value: out, To: to},
	}
}

func with(r *record, change func(*record)) *record {
	change(r)
	return r
}

func TestTheJudgeFindsEachViolationAndNoOther(t *testing.T) {
	join := func(parts ...[]event) (all []event) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	leases := func(r []*record) []string { return judgeLeases(r) }
	register := func(r []*record) []string { return judgeRegister(r, filepath.Join(t.TempDir(), "page.html")) }
	killed := func(at int64, warden, orphan bool) func(*record) {
		return func(r *record) { r.killed, r.dead, r.warden, r.orphan = at, at+1, warden, orphan }
	}
	unended := tenureOf(1, 10, 100, 0)[:2]
	for _, c := range []struct {
		what    string
		judge   func([]*record) []string
		records []*record
		says    string // empty: nothing
	}{
		{"leases one after the other", leases, []*record{lifeOf(1, tenureOf(1, 10, 100, 200)...), lifeOf(2, tenureOf(2, 101, 200, 300)...)}, ""},
		{"leases that overlap", leases, []*record{lifeOf(1, tenureOf(1, 10, 100, 200)...), lifeOf(2, tenureOf(2, 50, 200, 300)...)}, "at the same time"},
		{"a lease that ended with its work", leases, []*record{lifeOf(1, tenureOf(1, 10, 100, 40)...), lifeOf(2, tenureOf(2, 50, 200, 300)...)}, ""},
		{"a lease below one that is not the last", leases, []*record{
			lifeOf(1, tenureOf(1, 10, 100, 200)...), lifeOf(2, event{What: leased, Term: 2, From: 90, To: 120, Until: 95}), lifeOf(3, tenureOf(3, 97, 150, 300)...),
		}, "at the same time"},
		{"a dead process whose lease runs", leases, []*record{with(lifeOf(1, unended...), killed(40, false, false)), lifeOf(2, tenureOf(2, 50, 200, 300)...)}, "at the same time"},
		{"a dead process under a warden", leases, []*record{with(lifeOf(1, unended...), killed(40, true, false)), lifeOf(2, tenureOf(2, 50, 200, 300)...)}, ""},
		{"a dead process under a warden that died first", leases, []*record{with(lifeOf(1, unended...), killed(40, true, true)), lifeOf(2, tenureOf(2, 50, 200, 300)...)}, "at the same time"},
		{"a successor before the death of a process under a warden", leases, []*record{with(lifeOf(1, unended...), killed(60, true, false)), lifeOf(2, tenureOf(2, 50, 200, 300)...)}, "at the same time"},
		{"a process under a warden that ended by itself", leases, []*record{with(lifeOf(1, unended...), killed(0, true, false)), lifeOf(2, tenureOf(2, 50, 200, 300)...)}, ""},
		{"two leaders of a term", leases, []*record{lifeOf(1, tenureOf(1, 10, 100, 200)...), lifeOf(2, tenureOf(1, 150, 200, 300)...)}, "two leaders"},
		{"a term that falls", leases, []*record{lifeOf(1, tenureOf(2, 10, 100, 50)...), lifeOf(2, tenureOf(1, 150, 200, 160)...)}, "after life 1 of member 1 in term 2"},

		{"work in turns", judgeWork, []*record{lifeOf(1, join(tenureOf(1, 1, 5, 10), tenureOf(3, 11, 15, 20))...)}, ""},
		{"work that begins twice", judgeWork, []*record{lifeOf(1, event{What: started, Term: 1}, event{What: started, Term: 2})}, "begins work in term 2"},
		{"work that begins again", judgeWork, []*record{lifeOf(1, join(tenureOf(1, 1, 5, 10), []event{{What: started, Term: 1}})...)}, "begins work in term 1"},
		{"work that ends twice", judgeWork, []*record{lifeOf(1, join(tenureOf(1, 1, 5, 10), []event{{What: ended, Term: 1}})...)}, "ends work in term 1"},
		{"a lease without work", judgeWork, []*record{lifeOf(1, event{What: leased, Term: 1})}, "works in term 1"},
		{"a command under its lease", judgeWork, []*record{lifeOf(1, command(1, 50, 30, 90)...)}, ""},
		{"a command after the end of its lease", judgeWork, []*record{lifeOf(1, command(1, 50, 51, 90)...)}, "1ns after the end"},
		{"a command of a tenure that is over", judgeWork, []*record{lifeOf(1, append(command(1, 50, 30, 31), event{What: ended, Term: 1, From: 32}, event{What: ran, Term: 1, From: 33})...)}, "works in term 1 during that of term 0"},
		{"a leader with a foreign store", judgeWork, []*record{with(lifeOf(1, tenureOf(1, 1, 5, 10)...), func(r *record) { r.foreign = true })}, "with a store"},

		{"a copy that is the value", register, []*record{lifeOf(1, join(op(fetch, 1, 0, 1, 2, done, 0), op(write, 1, 7, 3, 4, done, 7), op(read, 1, 0, 5, 6, done, 7))...)}, ""},
		{"a copy of a leader that was replaced", register, []*record{
			lifeOf(1, join(op(write, 1, 7, 1, 2, done, 7), op(read, 1, 0, 9, 10, done, 7))...), lifeOf(2, op(write, 2, 8, 3, 4, done, 8)...),
		}, "not linearizable"},
		{"a write without an answer, which is seen later", register, []*record{lifeOf(1, event{What: called, Op: write, Term: 1, Value: 7, From: 1}), lifeOf(2, op(fetch, 2, 0, 3, 4, done, 7)...)}, ""},
		{"a write without an answer, which is never seen", register, []*record{lifeOf(1, event{What: called, Op: write, Term: 1, Value: 7, From: 1}), lifeOf(2, op(fetch, 2, 0, 3, 4, done, 0)...)}, ""},
		{"a write of a lower term", register, []*record{lifeOf(1, op(write, 1, 7, 5, 6, done, 7)...), lifeOf(2, op(fetch, 2, 0, 3, 4, done, 0)...)}, "not linearizable"},
		{"a refusal of a lower term", register, []*record{lifeOf(1, op(write, 1, 7, 5, 6, stale, 0)...), lifeOf(2, op(fetch, 2, 0, 3, 4, done, 0)...)}, ""},
		{"a refusal of the highest term", register, []*record{lifeOf(1, op(write, 3, 7, 5, 6, stale, 0)...), lifeOf(2, op(fetch, 2, 0, 3, 4, done, 0)...)}, "not linearizable"},
	} {
		faults := c.judge(c.records)
		if c.says == "" && len(faults) > 0 || c.says != "" && (len(faults) == 0 || !strings.Contains(strings.Join(faults, "; "), c.says)) {
			t.Errorf("%s: the judge says %q, and should say %q", c.what, faults, c.says)
		}
	}
}
