package fit_test

import (
	"testing"

	"ringleader.example/ringleader/internal/show/report/fit"
)

func TestALineThatIsTooWideIsBrokenUnderItsLastColumn(t *testing.T) {
	for _, c := range []struct {
		width      int
		line, want string
	}{
		{20, "short  and narrow", "short  and narrow"},
		{21, "1  name  sends a message to 3", "1  name  sends a\n         message to 3"},
		{20, "one line of prose that goes on", "one line of prose\n  that goes on"},
		{20, "  two words, then some more", "  two words, then\n    some more"},
		{20, "0123456789012  the column is too far right", "0123456789012  the\n  column is too far\n  right"},
		{10, "averyveryverylongword and more", "averyveryverylongword\n  and more"},
		{20, "äöüäöüäöüä äöüäöüäöü", "äöüäöüäöüä äöüäöüäöü"},
		{30, "$ ringleader run lcr --n 5 --fault 'crash 5 at 30'", "$ ringleader run lcr --n 5 \\\n    --fault 'crash 5 at 30'"},
		{24, "$ ringleader run lcr --fault 'crash 5 at 30 after 2 sends'", "$ ringleader run lcr \\\n    --fault \\\n    'crash 5 at 30 after 2 sends'"},
		{24, "replay: ringleader run lcr --n 5", "replay: ringleader run \\\n    lcr --n 5"},
		{20, "\x1b[31mred\x1b[0m  0123456 and 0123456", "\x1b[31mred\x1b[0m  0123456 and\n     0123456"},
	} {
		got := fit.Line(c.line, c.width)
		if got != c.want {
			t.Errorf("%q in %d columns is\n%s\nwant\n%s", c.line, c.width, got, c.want)
		}
	}
}
