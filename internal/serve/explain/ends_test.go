package explain_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/explain/explaintest"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/ringleadertest"
)

// The newest file of the leader's record is gone, or empty. The others have heard it for longer.
func TestARecordThatEndsEarlyIsNotTheEndOfItsMember(t *testing.T) {
	if testing.Short() {
		t.Skip("18 minutes of a group in a bubble take minutes where races are looked for, and there are none")
	}
	t.Parallel() // with the trials of real processes, which wait
	directory := explaintest.Recorded(t, "", 3, func(c *ringleadertest.Cluster) {
		c.Pass(16 * time.Minute) // some segments
		c.Kill(3)
		after(c)
		c.Pass(time.Minute)
		c.Start(3)
		c.Pass(time.Minute)
	})
	files, err := filepath.Glob(filepath.Join(directory, "3", "0*.seg"))
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	slices.Sort(files)
	for _, spoil := range []func(path string) error{func(path string) error { return os.Truncate(path, 0) }, os.Remove} {
		for _, path := range files[len(files)-2:] { // of the second life, and of the end of the first
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
		}
		records, err := record.Open(t.Context(), directory)
		if err != nil {
			t.Fatal(err)
		}
		r := explain.Of(records)
		g := r.Groups[0]
		c, text := change(t, g, 3, explain.Killed), textOf(t, r)
		if c.Nobody > 2 || c.Cause != explain.Killed || c.Certainty != explain.Likely || !strings.Contains(strings.Join(c.Missing, "\n"), "of that time: what is here ends at ") {
			t.Errorf("%+v", c)
		}
		if len(g.Ends) != 1 || g.Ends[0].Member != 3 || g.Ends[0].Closed || !strings.Contains(text, "\nends        member 3 at ") {
			t.Errorf("%+v\n%s", g.Ends, text)
		}
	}
}

// Members that end together, or in order, are not taken for ones whose record is not whole.
func TestARecordThatEndsInOrderSaysSo(t *testing.T) {
	one, two, three := byHand(1, "m", 0), byHand(2, "m", 0), byHand(3, "m", 0)
	one.leads(100, 1, 1, 600)
	one.add(9_000, &record.End{})
	two.add(8_000, &record.Note{})
	three.add(1_000, &record.End{})
	g := explain.Of(record.Parse("test", archived(one, two, three))).Groups[0]
	if len(g.Ends) != 1 || g.Ends[0].Member != 3 || !g.Ends[0].Closed {
		t.Errorf("%+v", g.Ends)
	}
}

// The newest file is gone, or empty, and no other member's record is there. The second record of the member has what it told after that.
func TestTheNewestSegmentThatIsMissingIsNamed(t *testing.T) {
	directory := filepath.Join(explaintest.Recorded(t, "", 3, func(c *ringleadertest.Cluster) {
		c.Kill(3)
		c.Pass(5 * time.Second)
		c.Start(3)
		c.Pass(5 * time.Second)
	}), "3")
	damages := func() (all []string) {
		records, err := record.Open(t.Context(), directory)
		if err != nil {
			t.Fatal(err)
		}
		return explain.Of(records).Damages
	}
	if all := damages(); len(all) > 0 {
		t.Errorf("a whole record has the damages %q", all)
	}
	files, err := filepath.Glob(filepath.Join(directory, "0*.seg"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	const missing = "member 3: the newest segments are missing: they end at "
	last := files[1]
	if err := os.Truncate(last, 0); err != nil {
		t.Fatal(err)
	}
	if all := damages(); len(all) != 2 || all[0] != last+": it is empty: its member was killed as it began the file, or what was in it is lost" || !strings.HasPrefix(all[1], missing) {
		t.Errorf("an empty file has the damages %q", all)
	}
	if err := os.Remove(last); err != nil {
		t.Fatal(err)
	}
	if all := damages(); len(all) != 1 || !strings.HasPrefix(all[0], missing) || !strings.Contains(all[0], ", and it told a change of the leader at ") {
		t.Errorf("a file that is gone has the damages %q", all)
	}
	if err := os.Remove(filepath.Join(directory, "changes.seg")); err != nil {
		t.Fatal(err)
	}
	if all := damages(); len(all) > 0 {
		t.Errorf("without its second record a record ends as that of a member that was killed: %q", all)
	}
}

// A member that was removed and runs has nothing to record: the others refuse it. They refuse one that is not in their list yet, too.
func TestARecordThatEndsWhereOthersRefuseItsMemberSaysSo(t *testing.T) {
	const (
		removed = "it was removed: member 1 refused it, with a list that has it no more"
		refused = "member 1 refused it, with a list that has it not"
		killed  = "it was killed, or its record is not whole"
	)
	refuses := func(id uint64) *record.Dialed {
		return &record.Dialed{Peer: id, Error: fmt.Sprintf("refused: the list of member %d has no member 3", id)}
	}
	for _, test := range []struct {
		bodies []record.Body
		want   string
	}{
		{[]record.Body{&record.Connected{Peer: 1}, refuses(1)}, removed},
		{[]record.Body{&record.Connected{Peer: 1}, refuses(2), refuses(1), &record.Connected{Peer: 2}}, removed},
		{[]record.Body{&record.Connected{Peer: 1}, refuses(2), refuses(1)}, strings.Replace(removed, "member 1", "members 1, 2", 1)},
		{[]record.Body{refuses(1)}, refused},
		{[]record.Body{refuses(1), &record.Connected{Peer: 1}}, killed},
		{[]record.Body{&record.Connected{Peer: 1}, refuses(1), &record.Dialed{Peer: 1}}, killed},
		{[]record.Body{&record.Dialed{Peer: 1, Error: "refused: the list of member 1 has no member 33"}}, killed},
		{[]record.Body{&record.Connected{Peer: 1}, refuses(1), &record.End{}}, "it has closed"},
	} {
		one, three := byHand(1, "m", 0), byHand(3, "m", 0)
		one.add(9_000, &record.Note{})
		for i, body := range test.bodies {
			three.add(100+i, body)
		}
		var text strings.Builder
		explain.Of(record.Parse("test", archived(one, three))).WriteText(&text)
		if all := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(all, "before the last entry of all: "+test.want+" clocks") {
			t.Errorf("want %q\n%s", test.want, all)
		}
	}
}
