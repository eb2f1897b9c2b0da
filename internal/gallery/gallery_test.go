package gallery_test

import (
	"testing"

	"ringleader.example/ringleader/internal/gallery"
)

func TestTheCheckerCatchesEveryExhibit(t *testing.T) {
	for found, err := range gallery.Verify(gallery.All()) {
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
