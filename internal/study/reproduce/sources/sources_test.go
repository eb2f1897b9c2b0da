package sources_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/core/collector"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/internal/study/reproduce/sources"
)

var long = flag.Bool("long", false, "plant errors in algorithms, and look whether a verdict turns")

// plants skips a test that plants errors. That shows what rows are worth, which changes with the rows and the algorithms, and takes a minute
// of a core.
func plants(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("-long: it plants errors")
	}
}

// rowsOf are the rows of some sources.
func rowsOf(marks ...string) []reproduce.Row {
	return slices.DeleteFunc(sources.Rows(), func(r reproduce.Row) bool { return !slices.Contains(marks, r.Source) })
}

// quick are their rows but those that take long.
func quick(marks ...string) []reproduce.Row {
	return slices.DeleteFunc(rowsOf(marks...), func(r reproduce.Row) bool { return r.Thorough })
}

// judged checks one row.
func judged(t *testing.T, row reproduce.Row, algorithms catalogue.List) (result reproduce.Result) {
	t.Helper()
	for result = range reproduce.Run(t.Context(), []reproduce.Row{row}, algorithms) {
	}
	return result
}

// changedEach is the list of all algorithms after a change of each.
func changedEach(change func(*catalogue.Entry)) catalogue.List {
	var entries []catalogue.Entry
	for _, e := range algorithms {
		entries = append(entries, *e)
		change(&entries[len(entries)-1])
	}
	return catalogue.New(entries...)
}

// stated are the places in S1 and S3 where something is stated that can be tested.
var stated = map[string][]string{
	"S1": {
		"the problem", "the model, ring", "the model, identifiers",
		"simplified Bully, swallowing", "simplified Bully, complexity", "simplified Bully, constant fractions",
		"Bully, phases", "Bully, code lines 6-8", "Bully, code line 15", "Bully, after TERMINATE", "Bully, wake schedule",
		"Theorem 13.8", "Theorem 13.8, proof", "Lemma 13.9", "Lemma 13.9, proof",
		"Theorem 13.10", "Theorem 13.10, proof", "Theorem 13.10, highest phase", "Theorem 13.10, termination", "Theorem 13.11", "optimality",
		"exercise 13.3-1", "exercise 13.3-2",
	},
	"S3": {
		"section 1, the problem", "section 1, left and right",
		"section 2, stages", "section 2, return", "section 2, the leader", "section 2, O(n log n)",
		"section 3, from", "section 3, ok and no", "section 3, a no beside an ok", "section 3, received from",
		"section 4, participants", "section 4, each candidate", "section 4, the sum", "section 4, the terms",
	},
}

func TestWhatIsStatedHasARow(t *testing.T) {
	for source, places := range stated {
		for _, where := range places {
			if !slices.ContainsFunc(sources.Rows(), func(r reproduce.Row) bool { return r.Source == source && r.Where == where && !r.Thorough }) {
				t.Errorf("no quick row is about %s %s", source, where)
			}
		}
	}
}

func TestRowsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	last := 0
	for _, r := range sources.Rows() {
		name := r.Source + " " + r.Where
		source := slices.IndexFunc(reproduce.Sources, func(s reproduce.Source) bool { return s.Mark == r.Source })
		if source < last {
			t.Errorf("%s is out of the order of the sources, or of none", name)
		}
		last = source
		if seen[name] || r.Where == "" || r.Claim == "" || r.How == "" || r.Check == nil {
			t.Errorf("%s is there twice, or has no claim, test or check", name)
		}
		seen[name] = true
	}
}

// wanted returns the verdict of a row whose check finds what is listed.
func wanted(row *reproduce.Row, listed reproduce.Verdict) reproduce.Verdict {
	switch {
	case row.Settled:
		return listed
	case listed == reproduce.Holds:
		return reproduce.Unrefuted
	case listed == reproduce.Corrected:
		return reproduce.CorrectedUnrefuted
	}
	return listed
}

// Only what is about fixed cases, or what an example proves, holds: a search that ends at some n proves no theorem about every n.
func TestFewStatementsAreSettledByACheck(t *testing.T) {
	var settled []string
	for _, row := range sources.Rows() {
		if row.Settled {
			settled = append(settled, row.Source+" "+row.Where)
		}
		if about := strings.HasPrefix(row.Where, "figure ") || strings.HasPrefix(row.Where, "example "); about && !row.Settled {
			t.Errorf("%s %s is about a fixed case, and its check does not settle it", row.Source, row.Where)
		}
		if strings.HasPrefix(row.Where, "Lemma ") || strings.HasPrefix(row.Where, "Theorem ") && row.Where != "Theorem 4.3, more than n" {
			if row.Settled {
				t.Errorf("%s %s is about every n, and its check settles it", row.Source, row.Where)
			}
		}
	}
	if len(settled) != 18 {
		t.Errorf("%d rows are settled: %q", len(settled), settled)
	}
}

// TestMain spares processor time.
func TestMain(m *testing.M) { collector.Main(m) }

// verdicts are those that committed has read.
var verdicts map[string]string

// committed are the verdicts on the page in docs, by source and place.
func committed(t *testing.T) map[string]string {
	t.Helper()
	if verdicts != nil {
		return verdicts
	}
	page, err := os.ReadFile("../../../../docs/reproduction.md")
	if err != nil {
		t.Fatal(err)
	}
	verdicts = map[string]string{}
	source := ""
	for line := range strings.Lines(string(page)) {
		if mark, title := strings.CutPrefix(line, "## "); title {
			source, _, _ = strings.Cut(mark, " ")
		}
		if cells := strings.Split(line, " | "); len(cells) == 5 && strings.Contains(cells[4], "**") {
			where := strings.ReplaceAll(strings.TrimPrefix(cells[0], "| "), `\`, "")
			verdicts[source+" "+where] = strings.Split(cells[4], "**")[1]
		}
	}
	return verdicts
}

// The page is compared as a whole where generated files are; here, each verdict of a quick row.
func TestThePageHasEveryQuickRow(t *testing.T) {
	verdicts := committed(t)
	quick := 0
	for _, r := range sources.Rows() {
		if r.Thorough {
			continue
		}
		quick++
		if verdicts[r.Source+" "+r.Where] == "" {
			t.Errorf("docs/reproduction.md has no verdict on %s %s; go generate ./... makes it", r.Source, r.Where)
		}
	}
	if len(verdicts) != quick {
		t.Errorf("docs/reproduction.md has %d verdicts, and there are %d quick rows", len(verdicts), quick)
	}
}
