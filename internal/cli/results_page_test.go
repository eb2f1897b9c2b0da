package cli_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/show/chart"
	"ringleader.example/ringleader/internal/show/render"
	"ringleader.example/ringleader/internal/study/experiment"
)

// results is the folder of what took long to compute.
const resultsFolder = "../../docs/results"

// resultFile is a file of the folder, with the command that makes it again.
type resultFile struct {
	File    string `json:"file"`
	Command string `json:"command"` // of a shell; empty: each line has its own
	Version string `json:"version"` // that computed it
	Seed    uint64 `json:"seed"`
}

// resultRow is an algorithm at one size: its election messages.
type resultRow struct {
	algorithm, order string
	n                int
	runs             uint64
	mean, half       float64
	least, most      uint64
	announcement     uint64
}

// worstRow is a result of worst.
type worstRow struct {
	Command, Algorithm, Of, Replay string
	N                              int
	Exact                          bool
	Tries, Largest                 uint64
	IDs                            []uint64
}

// cutColumns ends the commands of tables: it keeps the columns on messages.
const cutColumns = " | cut -d, -f1-10"

// withoutTimes does what cutColumns does.
func withoutTimes(table string) string {
	var b strings.Builder
	for line := range strings.Lines(table) {
		b.WriteString(strings.Join(strings.Split(line, ",")[:10], ",") + "\n")
	}
	return b.String()
}

func manifest(t *testing.T) (files []resultFile) {
	t.Helper()
	if err := json.Unmarshal(clitest.Contents(t, resultsFolder+"/manifest.json"), &files); err != nil {
		t.Fatal(err)
	}
	return files
}

// resultRows reads the rows of the files whose names begin in that way.
func resultRows(t *testing.T, prefix string) (rows []resultRow) {
	t.Helper()
	for _, f := range manifest(t) {
		if !strings.HasPrefix(f.File, prefix) {
			continue
		}
		records, err := csv.NewReader(bytes.NewReader(clitest.Contents(t, filepath.Join(resultsFolder, f.File)))).ReadAll()
		if err != nil || len(records) < 2 {
			t.Fatalf("%s: %d lines, %v", f.File, len(records), err)
		}
		for _, record := range records[1:] {
			rows = append(rows, resultRowOf(t, records[0], record))
		}
	}
	return rows
}

func resultRowOf(t *testing.T, head, record []string) resultRow {
	t.Helper()
	value := func(name string) string { return record[slices.Index(head, name)] }
	number := func(name string) float64 {
		if value(name) == "" {
			return 0
		}
		x, err := strconv.ParseFloat(value(name), 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	r := resultRow{
		algorithm: value("algorithm"), order: value("order"), n: int(number("n")), runs: uint64(number("runs")), mean: number("election"),
		half: number("election_half_width"), least: uint64(number("election_least")), most: uint64(number("election_most")),
		announcement: uint64(number("announcement")),
	}
	if r.runs == 1 { // then the columns of extremes are empty
		r.least, r.most = uint64(r.mean), uint64(r.mean)
	}
	return r
}

func worstRows(t *testing.T) (rows []worstRow) {
	t.Helper()
	for line := range bytes.Lines(clitest.Contents(t, resultsFolder+"/worst.jsonl")) {
		var row worstRow
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func subjectOf(t *testing.T, name string) *experiment.Subject {
	t.Helper()
	s, err := experiment.ParseSubject(all.Algorithms, name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// covered returns the declared worst case, how many messages of a row it covers, and a remark on which these are.
func covered(t *testing.T, r resultRow) (bound, most uint64, which string) {
	b := subjectOf(t, r.algorithm).Bound(r.n)
	if b.Of == "total" {
		return b.Value(uint64(r.n)), r.most + r.announcement, " in all"
	}
	return b.Value(uint64(r.n)), r.most, ""
}

// Of each file of runs the cheapest size is computed again: of one algorithm where there are many runs of closed forms. On large
// rings that is variable-speeds, which reads a few positions of an order.
func TestSamplesOfTheResultsAreComputedAgain(t *testing.T) {
	clitest.OnlyComputes(t)
	for _, f := range manifest(t) {
		words := strings.Fields(strings.TrimSuffix(f.Command, cutColumns))
		if len(words) < 2 || words[1] != "compare" {
			continue
		}
		sizes, algorithms := slices.Index(words, "--n"), []string{"lcr"}
		n, _, _ := strings.Cut(words[sizes+1], ".")
		if strings.HasPrefix(f.File, "other-") {
			algorithms = words[2:sizes]
			if len(n) >= 4 && !*long {
				continue // some take a second
			}
		} else if len(n) >= 4 {
			if algorithms = []string{"variable-speeds"}; !*long {
				continue
			}
		}
		if all := "2,3,4,5,6,7"; strings.HasPrefix(n, all) {
			n, algorithms = all, words[2:sizes]
		} else if slices.Contains(words, "all") {
			continue // the smallest size takes long; the next test judges all sizes
		}
		args := slices.Concat([]string{"compare"}, algorithms, []string{"--n", n}, words[sizes+2:])
		code, stdout, stderr := clitest.Call(args...)
		if code != 0 {
			t.Fatalf("%s: exit status %d, %s", args, code, stderr)
		}
		file := string(clitest.Contents(t, filepath.Join(resultsFolder, f.File)))
		for line := range strings.Lines(withoutTimes(stdout)) {
			if !strings.Contains(file, line) {
				t.Errorf("%s has no line %s, which its command prints", f.File, line)
			}
		}
	}
}

func TestResultsAreWithinWhatIsDeclared(t *testing.T) {
	for _, r := range slices.Concat(resultRows(t, "all-"), resultRows(t, "averages-"), resultRows(t, "other-")) {
		if subjectOf(t, r.algorithm).Bound(r.n) == nil {
			continue
		}
		if bound, most, which := covered(t, r); most > bound {
			t.Errorf("%s, n = %d: %d messages%s, of %d at most", r.algorithm, r.n, most, which, bound)
		}
		if r.mean < float64(r.least) || r.mean > float64(r.most) {
			t.Errorf("%s, n = %d: the mean %v is not from %d to %d", r.algorithm, r.n, r.mean, r.least, r.most)
		}
		average := subjectOf(t, r.algorithm).Average()
		if average == nil || average.Of != "election" {
			continue
		}
		allowed := 2.5*r.half + 1e-6 // about five standard errors, and the digits of the file
		if exact := average.Mean(uint64(r.n)); math.Abs(r.mean-exact) > allowed+1e-9*exact {
			t.Errorf("%s, n = %d, %s: mean %v; the exact one is %v", r.algorithm, r.n, r.order, r.mean, exact)
		}
	}
}

// Each of the worst cases is run. One that is exact is the largest of all orders in the other file, which closed forms counted.
func TestTheWorstCasesCostWhatTheResultsSay(t *testing.T) {
	clitest.OnlyComputes(t)
	largest := map[string]uint64{}
	for _, r := range resultRows(t, "all-") {
		largest[fmt.Sprint(r.algorithm, r.n)] = r.most
	}
	for _, w := range worstRows(t) {
		w.replayed(t)
		if most := largest[fmt.Sprint(w.Algorithm, w.N)]; w.Exact && most != w.Largest {
			t.Errorf("%s: %d messages; the largest of all orders is %d", w.Command, w.Largest, most)
		}
	}
}

func TestTheRunOfAWorstCaseCostsWhatTheSearchHasFound(t *testing.T) {
	clitest.OnlyComputes(t)
	for _, name := range []string{"variable-speeds", "stop-and-go-p2", "franklin"} {
		code, stdout, stderr := clitest.Call("worst", name, "--n", "7", "--of", "election", "--tries", "1000", "--json")
		var found worstRow
		if err := json.Unmarshal([]byte(stdout), &found); err != nil || code != 0 {
			t.Fatalf("%s: exit status %d, %s, %v", name, code, stderr, err)
		}
		found.replayed(t)
	}
}

// replayed runs a worst case, and expects its cost.
func (w *worstRow) replayed(t *testing.T) {
	t.Helper()
	code, stdout, stderr := clitest.Call(append(strings.Fields(w.Replay)[1:], "--json")...)
	var ran struct{ Messages struct{ Election uint64 } }
	if err := json.Unmarshal([]byte(stdout), &ran); err != nil || code != 0 {
		t.Fatalf("%s: exit status %d, %s, %v", w.Replay, code, stderr, err)
	}
	if ran.Messages.Election != w.Largest {
		t.Errorf("%s: %d messages, and the search found %d", w.Replay, ran.Messages.Election, w.Largest)
	}
}

// The page's tables and drawings are made of the files.
func TestThePageOfResultsIsMadeOfThem(t *testing.T) {
	clitest.OnlyComputes(t)
	const page = "../../docs/9-results.md"
	old := string(clitest.Contents(t, page))
	now := old
	for name, table := range map[string]string{"all orders": extremesTable(t), "averages": averagesTable(t), "worst": worstTable(t), "others": othersTable(t), "files": filesTable(t)} {
		before, rest, found := strings.Cut(now, "<!-- "+name+" -->\n")
		_, after, closed := strings.Cut(rest, "<!-- end of "+name+" -->")
		if !found || !closed {
			t.Fatalf("the page has no place for %s", name)
		}
		now = before + "<!-- " + name + " -->\n" + table + "<!-- end of " + name + " -->" + after
	}
	made := map[string][]byte{page: []byte(now)}
	for name, figure := range map[string]*chart.Chart{"averages.svg": averagesChart(t), "extremes.svg": extremesChart(t), "others.svg": othersChart(t)} {
		drawn, err := figure.Drawing()
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := render.Write(&text, drawn, "svg"); err != nil {
			t.Fatal(err)
		}
		made[filepath.Join(resultsFolder, name)] = text.Bytes()
	}
	for path, text := range made {
		if *update {
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(clitest.Contents(t, path), text) {
			t.Errorf("%s is not made of the results: go generate ./...", filepath.Base(path))
		}
	}
}

// table is a table of Markdown.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	line(slices.Repeat([]string{"---"}, len(head)))
	for _, row := range rows {
		line(row)
	}
	return b.String()
}

// algorithmsOf are the algorithms of rows, in their order.
func algorithmsOf(rows []resultRow) (names []string) {
	for _, r := range rows {
		if !slices.Contains(names, r.algorithm) {
			names = append(names, r.algorithm)
		}
	}
	return names
}

// at returns the row of an algorithm at a size.
func at(t *testing.T, rows []resultRow, algorithm string, n int) resultRow {
	t.Helper()
	i := slices.IndexFunc(rows, func(r resultRow) bool { return r.algorithm == algorithm && r.n == n })
	if i < 0 {
		t.Fatalf("no row of %s at %d", algorithm, n)
	}
	return rows[i]
}

func extremesTable(t *testing.T) string {
	rows := resultRows(t, "all-")
	head, last := []string{"algorithm"}, 0
	sizes := []int{4, 6, 8, 10, 12}
	for _, n := range sizes {
		head, last = append(head, fmt.Sprintf("n = %d", n)), n
	}
	head = append(head, fmt.Sprintf("worst case at %d", last), "as declared", "by")
	var cells [][]string
	for _, name := range algorithmsOf(rows) {
		row := []string{"`" + name + "`"}
		for _, n := range sizes {
			r := at(t, rows, name, n)
			row = append(row, fmt.Sprintf("%d · %s · %d", r.least, strconv.FormatFloat(r.mean, 'f', -1, 64), r.most))
		}
		value, most, which := covered(t, at(t, rows, name, last))
		bound := fmt.Sprint(value)
		if value == most {
			bound = "**" + bound + "**"
		}
		b := subjectOf(t, name).Bound(last)
		cells = append(cells, append(row, bound+which, b.Formula, b.Source))
	}
	return table(head, cells)
}

// shownSizes are the sizes of which the page shows averages.
var shownSizes = []int{8, 64, 1024, 16384, 131072, 1048576}

func averagesTable(t *testing.T) string {
	rows := resultRows(t, "averages-")
	head := []string{"algorithm"}
	for _, n := range shownSizes {
		head = append(head, fmt.Sprintf("n = %d", n))
	}
	last := shownSizes[len(shownSizes)-1]
	head = append(head, "mean/(n lg n)", "worst case/(n lg n)", "exact average")
	var cells [][]string
	for _, name := range algorithmsOf(rows) {
		row := []string{"`" + name + "`"}
		for _, n := range shownSizes {
			r := at(t, rows, name, n)
			cell := strconv.FormatFloat(r.mean/float64(n), 'g', 6, 64)
			if r.half > 0 {
				cell += fmt.Sprintf(" ± %.2g", r.half/float64(n))
			}
			row = append(row, cell)
		}
		scale := float64(last) * math.Log2(float64(last))
		value, _, which := covered(t, at(t, rows, name, last))
		bound, exact := strconv.FormatFloat(float64(value)/scale, 'g', 4, 64)+which, ""
		if average := subjectOf(t, name).Average(); average != nil && average.Of == "election" {
			exact = strconv.FormatFloat(average.Mean(uint64(last))/float64(last), 'g', 6, 64)
		}
		cells = append(cells, append(row, strconv.FormatFloat(at(t, rows, name, last).mean/scale, 'f', 3, 64), bound, exact))
	}
	return table(head, cells)
}

func worstTable(t *testing.T) string {
	var cells [][]string
	for _, w := range worstRows(t) {
		found := fmt.Sprintf("%d, of %d tries", w.Largest, w.Tries)
		if w.Exact {
			found = fmt.Sprintf("**%d**, of all %d orders", w.Largest, w.Tries)
		}
		bound, _, which := covered(t, resultRow{algorithm: w.Algorithm, n: w.N})
		cells = append(cells, []string{"`" + w.Algorithm + "`", fmt.Sprint(w.N), found, fmt.Sprint(bound) + which, strings.Trim(strings.ReplaceAll(fmt.Sprint(w.IDs), " ", ","), "[]")})
	}
	return table([]string{"algorithm", "n", "election messages", "declared worst case", "identifiers"}, cells)
}

func filesTable(t *testing.T) string {
	var cells [][]string
	for _, f := range manifest(t) {
		what, version := "the `command` of each line", f.Version
		if _, flags, found := strings.Cut(f.Command, " --n "); found {
			flags, _, _ = strings.Cut(flags, " --csv")
			what = "`--n " + flags + "`"
		}
		if _, revision, found := strings.Cut(version, " "); found && len(revision) == 40 {
			version = revision[:12]
		}
		cells = append(cells, []string{"[" + f.File + "](results/" + f.File + ")", what, fmt.Sprint(f.Seed), version})
	}
	return table([]string{"file", "of", "seed", "commit"}, cells)
}

// drawnNames are the algorithms of the drawings: one of those that cost the same.
var drawnNames = []string{"lcr", "hirschberg-sinclair", "franklin", "peterson", "dolev-klawe-rodeh-b", "higham-przytycka", "stop-and-go-p1", "variable-speeds"}

// perProcess is a series of rows, divided by n.
func perProcess(name string, look int, rows []resultRow, of func(resultRow) float64) chart.Series {
	s := chart.Series{Name: name, Look: look, Marked: true}
	for _, r := range rows {
		if r.algorithm == name {
			n := float64(r.n)
			s.Points = append(s.Points, chart.Point{X: n, Y: of(r) / n, Error: r.half / n})
		}
	}
	slices.SortFunc(s.Points, func(a, b chart.Point) int { return int(a.X - b.X) })
	return s
}

func averagesChart(t *testing.T) *chart.Chart {
	rows := resultRows(t, "averages-")
	c := &chart.Chart{
		Title:    "Election messages per process, on average over random orders",
		Subtitle: "Markers: means; their 95 % intervals are smaller than the markers, from n = 64 on.",
		X:        chart.Axis{Name: "n, processes", Log: true}, Y: chart.Axis{Name: "election messages per process"},
	}
	for i, name := range drawnNames {
		c.Series = append(c.Series, perProcess(name, i, rows, func(r resultRow) float64 { return r.mean }))
	}
	return c
}

func extremesChart(t *testing.T) *chart.Chart {
	rows := resultRows(t, "all-")
	c := &chart.Chart{
		Title:    "Election messages per process, of all orders",
		Subtitle: "Markers: the most expensive order; thin lines: the mean of all orders.",
		X:        chart.Axis{Name: "n, processes"}, Y: chart.Axis{Name: "election messages per process"},
	}
	for i, name := range drawnNames {
		mean := perProcess(name, i, rows, func(r resultRow) float64 { return r.mean })
		mean.Name, mean.Line, mean.Marked = "", chart.Thin, false
		c.Series = append(c.Series, mean, perProcess(name, i, rows, func(r resultRow) float64 { return float64(r.most) }))
	}
	return c
}
