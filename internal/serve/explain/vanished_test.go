package explain_test

import (
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/record"
)

const (
	silence = "nothing has arrived for 400ms"
	ending  = "it has closed the connection: its process has ended, or it has cut this member off"
)

// The record of the leader ends at 500 ms, and its death is proven. When it died is told by the others.
func TestWhenALeaderDiedDecidesWhetherThatEndedItsLead(t *testing.T) {
	for name, test := range map[string]struct {
		hang   time.Duration
		lost   int // when member 2 loses it
		reason string
		proof  int
		led    int // when member 2 leads
		cause  explain.Cause
		how    explain.Certainty
		says   string
	}{
		"stopped, and killed when another one led":        {0, 934, silence, 14_500, 1100, explain.StoodStill, explain.Likely, "stood still from 00:16:40.500 on, and ended 14.0 s later"},
		"stopped, and killed before another one led":      {0, 934, silence, 1200, 1300, explain.StoodStill, explain.Likely, "ended 700 ms later"},
		"stopped, and killed sooner than its warden":      {time.Minute, 934, silence, 14_500, 1100, explain.StoodStill, explain.Likely, "member 2 led before that"},
		"killed, while its warden stood still":            {0, 521, ending, 3100, 1100, explain.Killed, explain.Likely, "the proof came late"},
		"killed, while a warden that watches stood still": {time.Second, 521, ending, 3100, 1100, explain.Killed, explain.Likely, "the proof came late"},
		"killed":                             {0, 521, ending, 530, 600, explain.Killed, explain.Certain, "proven 30 ms after"},
		"killed by its warden":               {time.Second, 1530, ending, 1530, 1600, explain.Hung, explain.Likely, "did nothing for 1.0 s"},
		"killed while another one led":       {0, 1200, ending, 1200, 1100, explain.StoodStill, explain.Likely, "ended 700 ms later"},
		"silent, and nothing more was heard": {0, 934, silence, 0, 1100, explain.Unknown, explain.None, "stands still or has ended"},
	} {
		one, two := byHand(1, "m", 0, func(h *record.Head) { h.Hang = test.hang }), byHand(2, "m", 0)
		one.leads(100, 1, 1, 575)
		one.leads(500, 1, 1, 975)
		two.add(110, &record.Decision{Role: "follower", Leader: 1, Term: 1})
		two.add(200, &record.Lost{Peer: 1, Reason: ending}) // and heard again: that was not its end
		two.add(210, &record.Connected{Peer: 1, Incarnation: 1})
		for ms := 500; ms < 20_000; ms++ {
			if ms == test.lost {
				two.add(ms, &record.Lost{Peer: 1, Reason: test.reason})
			}
			if ms == test.proof {
				two.add(ms, &record.Proof{Peer: 1, Incarnation: 1})
			}
			if ms == test.led {
				two.leads(ms, 2, 2, ms+500)
			}
		}
		two.add(20_000, &record.End{})
		c := explain.Of(record.Parse("test", archived(one, two))).Groups[0].Changes[1]
		all := c.Text + "\n" + strings.Join(c.Evidence, "\n")
		if c.Cause != test.cause || c.Certainty != test.how || !strings.Contains(all, test.says) {
			t.Errorf("%s: %s, %s\n%s", name, c.Cause, c.Certainty, all)
		}
	}
}
