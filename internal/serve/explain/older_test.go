package explain_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/explaintest"
	"ringleader.example/ringleader/internal/serve/record"
)

// textOf is what explain prints of records.
func textOf(t *testing.T, r *explain.Report) string {
	t.Helper()
	var text bytes.Buffer
	r.WriteText(&text)
	for line := range strings.SplitSeq(text.String(), "\n") {
		if utf8.RuneCountInString(line) > 80 || strings.Contains(line, "1970") {
			t.Errorf("a line is too long, or of 1970: %s", line)
		}
	}
	return text.String()
}

// The files with the changes of a year are enough to list these.
func TestChangesWithoutDetailsAreToldFromTheSecondRecords(t *testing.T) {
	directory, alone := explaintest.Records(t, ""), t.TempDir()
	whole, err := record.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	if g := explain.Of(whole).Groups[0]; len(g.Older) > 0 {
		t.Errorf("with details there is %+v, too", g.Older)
	}
	for _, id := range []string{"1", "2", "3"} {
		content, err := os.ReadFile(filepath.Join(directory, id, "changes.seg"))
		if err == nil {
			err = os.MkdirAll(filepath.Join(alone, id), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(alone, id, "changes.seg"), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	records, err := record.Open(t.Context(), alone, filepath.Join(alone, "1")) // one of them twice
	if err != nil {
		t.Fatal(err)
	}
	r := explain.Of(records)
	g, text := r.Groups[0], textOf(t, r)
	if len(g.Changes) > 0 || len(g.Recorded) > 0 || len(g.Older) != 4 || g.From != g.Older[0].Time {
		t.Fatalf("%+v", g)
	}
	for i, want := range []string{"none → member 3 in term 1: elected (told by members 1, 2, 3)", "member 3 → member 1 in term 2: transferred (told by members 1, 2, 3)", "member 1 → member 3 in term 3: lost (told by members 2, 3)", "member 3 in term 3 → none: stopped (told by member 3)"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("change %d is not told as %q:\n%s", i, want, text)
		}
	}
}

// told is a second record of a member with some changes.
func told(member uint64, all ...record.Change) *hand {
	h := amid(member, "m", 0, func(h *record.Head) { h.Changes = true })
	for i, c := range all {
		h.add(i, &c)
	}
	return h
}

func TestOnlyChangesWithoutDetailsAreOlder(t *testing.T) {
	began := time.Unix(1_000, 0) // the life of the hand-made records
	one := amid(1, "m", 0)
	one.leads(3_600_000, 1, 5, 3_600_500)
	one.add(3_601_000, &record.Lapse{Until: 3_600_500 * time.Millisecond})
	one.add(3_601_000, &record.Decision{Role: "undecided", Term: 5})
	one.add(3_602_000, &record.Decision{Role: "follower", Leader: 2, Term: 6})
	one.add(3_700_000, &record.End{})
	at := func(seconds int) time.Time { return began.Add(time.Duration(seconds) * time.Second) }
	g := explain.Of(record.Parse("test", archived(one,
		told(1,
			record.Change{Time: at(10), From: 3, Term: 3, Cause: "silent"},
			record.Change{Time: at(11), From: 3, To: 2, Term: 4, Cause: "crashed", Detail: "a proof"},
			record.Change{Time: at(20), From: 2, To: 1, Term: 5, Cause: "preempted"},
			record.Change{Time: at(3602), From: 1, To: 2, Term: 6, Cause: "lapsed"}, // has details
			record.Change{Time: at(9000), From: 2, Term: 6, Cause: "lost"},          // after the details: their end is lost
		),
		told(2,
			record.Change{Time: at(11), To: 2, Term: 4, Cause: "elected"},
			record.Change{Time: at(12), From: 3, Term: 3, Cause: "silent"}, // it did not learn who followed: others did
			record.Change{Time: at(20), From: 2, To: 1, Term: 5, Cause: "superseded"},
			record.Change{Time: at(5612), From: 1, To: 2, Term: 6, Cause: "lapsed"}, // its wall clock is wrong
		),
		told(3, record.Change{Time: at(9100), From: 1, Term: 5, Cause: "silent"}), // so is this one's, and it did not learn who followed
	))).Groups[0]
	var all []string
	for _, o := range g.Older {
		text := o.Time.Format("04:05")
		for _, s := range o.Told {
			text += " " + s.Cause + strings.Repeat("+", len(s.Members))
		}
		all = append(all, text)
	}
	if text := strings.Join(all, "; "); text != "16:51 crashed+; 17:00 preempted+ superseded+; 46:40 lost+" {
		t.Errorf("%q", text)
	}
	if g.From.Unix() != 1_000+3_600 {
		t.Errorf("the records begin at %v", g.From)
	}
}

func TestASecondRecordWithoutAChangeIsNotOf1970(t *testing.T) {
	h := amid(1, "m", 0, func(h *record.Head) { h.Changes, h.Wall = true, time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).UnixNano() })
	h.add(0, &record.Change{})
	if text := textOf(t, explain.Of(record.Parse("test", archived(h)))); !strings.Contains(text, `group "g": 2026-03-04 05:06:07 to`) {
		t.Error(text)
	}
}
