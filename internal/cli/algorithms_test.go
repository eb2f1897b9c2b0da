package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli"
)

// algorithmsIn is what ringleader algorithms prints into a pipe, with one space between words.
func algorithmsIn(t *testing.T, columns string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := cli.Run(context.Background(), "ringleader", all.Algorithms, []string{"algorithms"}, strings.NewReader(""), &stdout, &stderr, func(name string) string {
		return map[string]string{"COLUMNS": columns}[name]
	})
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, stderr.String())
	}
	return strings.Join(strings.Fields(stdout.String()), " ")
}

func TestTheListOfAlgorithmsIsWholeInEachWidth(t *testing.T) {
	for _, columns := range []int{0, 40, 60, 80, 200} {
		text := algorithmsIn(t, fmt.Sprint(columns))
		for _, e := range all.Algorithms {
			want := strings.Join(strings.Fields(e.Source), " ")
			if _, after, found := strings.Cut(text, " "+e.Name+" "+e.Timing.String()); !found || !strings.Contains(after, want) {
				t.Errorf("in %d columns the list has no %s with its timing and %q", columns, e.Name, want)
			}
		}
	}
}

func TestAlgorithmsAreListedByNetworks(t *testing.T) {
	text := algorithmsIn(t, "80")
	titles := []string{"Rings, one way", "Rings, two ways", "Complete graphs, known neighbours", "Trees", "Complete graphs, unknown neighbours (KT0)"}
	var places []int
	for _, title := range titles {
		places = append(places, strings.Index(text, title))
	}
	if !slices.IsSorted(places) || places[0] < 0 {
		t.Fatalf("the titles stand at %v", places)
	}
	for _, e := range all.Algorithms {
		want := map[election.Topology]int{election.Ring: 1, election.Complete: 2, election.Tree: 3, election.UnknownNeighbours: 4}[e.Topology]
		if e.OneWay {
			want = 0
		}
		at := strings.Index(text, " "+e.Name+" "+e.Timing.String())
		if title, _ := slices.BinarySearch(places, at); title-1 != want {
			t.Errorf("%s stands below %q", e.Name, titles[max(title-1, 0)])
		}
	}
}
