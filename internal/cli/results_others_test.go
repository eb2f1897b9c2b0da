package cli_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/show/chart"
)

// otherSizes are the sizes of which the page shows the algorithms without a closed form.
var otherSizes = []int{8, 64, 256, 1024, 4096, 16384, 65536, 1048576}

func othersTable(t *testing.T) string {
	rows := resultRows(t, "other-")
	head := []string{"algorithm", "network", "runs at 64"}
	for _, n := range otherSizes {
		head = append(head, fmt.Sprintf("n = %d", n))
	}
	head = append(head, "announcement at 64", "worst case at 64", "as declared")
	var cells [][]string
	for _, name := range algorithmsOf(rows) {
		at64, s := at(t, rows, name, 64), subjectOf(t, name)
		row := []string{"`" + name + "`", s.Topology.Phrase(0), fmt.Sprint(at64.runs)}
		for _, n := range otherSizes {
			cell := ""
			if i := slices.IndexFunc(rows, func(r resultRow) bool { return r.algorithm == name && r.n == n }); i >= 0 {
				cell = strconv.FormatFloat(rows[i].mean, 'g', 6, 64)
				if rows[i].half > 0 {
					cell += fmt.Sprintf(" ± %.2g", rows[i].half)
				}
			}
			row = append(row, cell)
		}
		bound, formula := "", ""
		if b := s.Bound(64); b != nil {
			value, _, which := covered(t, at64)
			bound, formula = strconv.FormatFloat(float64(value), 'g', 6, 64)+which, b.Formula
		}
		cells = append(cells, append(row, fmt.Sprint(at64.announcement), bound, formula))
	}
	return table(head, cells)
}

// drawnOthers are the algorithms of the drawing: one of those that cost the same.
var drawnOthers = []string{"tree", "itai-rodeh-synchronous", "preference-ring", "itai-rodeh", "afek-gafni-synchronous", "afek-gafni", "bully", "quorum-bully"}

func othersChart(t *testing.T) *chart.Chart {
	rows := resultRows(t, "other-")
	c := &chart.Chart{
		Title:    "Election messages per process of algorithms without a closed form, on average",
		Subtitle: "Markers: means of simulated runs, with 95 % intervals.",
		X:        chart.Axis{Name: "n, processes", Log: true}, Y: chart.Axis{Name: "election messages per process", Log: true},
	}
	for i, name := range drawnOthers {
		c.Series = append(c.Series, perProcess(name, i, rows, func(r resultRow) float64 { return r.mean }))
	}
	return c
}

// What a declaration states about the sizes at which some order reaches the worst case is so for all measured sizes.
func TestWorstCasesAreReachedAsDeclared(t *testing.T) {
	upTo, listed := regexp.MustCompile(`reached (?:by some order )?for n up to (\d+)`), regexp.MustCompile(`reached for n = ([\d, ]+)$`)
	judged := map[string]bool{}
	for _, r := range resultRows(t, "all-") {
		source := subjectOf(t, r.algorithm).Bound(r.n).Source
		expected := true
		if found := upTo.FindStringSubmatch(source); found != nil {
			last, _ := strconv.Atoi(found[1])
			expected = r.n <= last
		} else if found := listed.FindStringSubmatch(source); found != nil {
			expected = slices.Contains(strings.Split(found[1], ", "), strconv.Itoa(r.n))
		} else if strings.Contains(source, "never reached") {
			expected = false
		} else if !strings.Contains(source, "reached for every n") {
			continue
		}
		judged[r.algorithm] = true
		if bound, most, _ := covered(t, r); (most == bound) != expected {
			t.Errorf("%s, n = %d: %d messages at most, of %d; %q", r.algorithm, r.n, most, bound, source)
		}
	}
	if len(judged) < 7 {
		t.Errorf("only %v are judged", judged)
	}
}
