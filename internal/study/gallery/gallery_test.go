package gallery_test

import (
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/study/gallery"
)

// The exhibits of leases, which take long, are on a page of docs that a test of the command makes again.
func TestTheCheckerCatchesEveryExhibit(t *testing.T) {
	quick := slices.DeleteFunc(gallery.All(), func(x gallery.Exhibit) bool { return strings.HasPrefix(x.Name, "quorum-bully-") })
	for found, err := range gallery.Verify(quick) {
		if err != nil {
			t.Errorf("%s: %v", found.Name, err)
			continue
		}
		if !found.Caught() {
			property, detail := "nothing", ""
			if v := found.Violation; v != nil {
				property, detail = v.Property, v.Detail
			}
			t.Errorf("%s: %s %s in %d states, want %s", found.Name, property, detail, found.States, found.Property)
		} else {
			t.Logf("%s: %s, %d steps, %d states", found.Name, found.Violation.Detail, len(found.Violation.Record.Steps), found.States)
		}
	}
}
