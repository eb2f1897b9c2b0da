//go:build !race

package sources_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
)

// words are those of a call, as a shell has them.
func words(call string) (all []string) {
	for i, part := range strings.Split(call, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

// shows is what the replay of a row prints where the statement does not hold as printed.
var shows = map[string]string{
	"S2 section 2.4, acknowledgement":         "no leader; 0 of 1 decided",
	"S2 section 2.1, reason 1":                "no leader",
	"S2 section 2.3, assumption 2":            "not agreed",
	"S2 section 2.3, assumption 3":            "no leader",
	"S2 exercise 3(b)":                        "2 leaders: 5, 5",
	"S2 exercise 6(b)":                        "no leader",
	"S4 assumption 1, messages":               "no leader",
	"S4 assumption 1, processes":              "no leader",
	"S4 assumption 1, clocks":                 "no leader",
	"S4 assumption 3, stopping":               "2 leaders: 4, 5",
	"S4 assumption 4":                         "2 leaders: 4, 5",
	"S4 assumption 5":                         "not agreed",
	"S4 rule 5":                               "no leader at the end",
	"S4 safety":                               "disagreement at the end",
	"S4 safety, without its timing":           "wrong leader: process 2 leads; the right leader is 3",
	"S4 liveness":                             "no leader at the end",
	"S4 bandwidth, lowest initiates":          "2 to 16 messages",
	"S4 bandwidth, Θ(N²) election messages":   "election              15",
	"S4 bandwidth, Θ(N²) alive messages":      "answer               15",
	"S4 bandwidth, Θ(N) coordinator messages": "coordinator         81",
	"S4 bandwidth, Θ(N²) overall":             "total                62",
}

// smaller calls stand for those that take seconds, unless -long is given.
var smaller = map[string]string{"ringleader verify lcr --n 8 --reduce auto": "ringleader verify lcr --n 5 --reduce auto"}

// Each call is a right one, finds what the row found, and nothing is amiss where the statement holds.
func TestReplaysOfS2AndS4ShowWhatTheRowsFound(t *testing.T) {
	replayed, shown, replacements := 0, 0, 0
	for _, row := range quick("S2", "S4") {
		r := examine(t, row).result
		if r.Replay == "" {
			continue
		}
		replayed++
		name := r.Source + " " + r.Where
		if less, is := smaller[r.Replay]; is && !*long {
			r.Replay = less
			replacements++
		}
		call := words(r.Replay)
		if call[0] != "ringleader" {
			t.Fatalf("%s: %s", name, r.Replay)
		}
		var out, errors bytes.Buffer
		code := cli.Run(context.Background(), "ringleader", all.Algorithms, call[1:], strings.NewReader(""), &out, &errors, func(string) string { return "" })
		if code != 0 && code != 1 || errors.Len() > 0 {
			t.Errorf("%s: %s: exit status %d, %s", name, r.Replay, code, errors.String())
		}
		want, isShown := shows[name]
		if isShown {
			shown++
			if squeezed := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(squeezed, strings.Join(strings.Fields(want), " ")) {
				t.Errorf("%s: %s does not show %q:\n%s", name, r.Replay, want, out.String())
			}
		}
		if code == 1 && !isShown {
			t.Errorf("%s: %s goes wrong:\n%s", name, r.Replay, out.String())
		}
	}
	if shown != len(shows) || replayed < 30 {
		t.Errorf("%d replays, %d of %d show something", replayed, shown, len(shows))
	}
	if !*long && replacements != len(smaller) {
		t.Errorf("%d calls have a smaller one, want %d", replacements, len(smaller))
	}
}
