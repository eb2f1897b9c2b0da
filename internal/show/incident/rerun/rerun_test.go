package rerun_test

import (
	"testing"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/live/quorumbully"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/show/incident/incidenttest"
	"ringleader.example/ringleader/internal/show/incident/rerun"
)

func TestEachChangeOfARecordIsMadeAgain(t *testing.T) {
	records, err := record.Open(incidenttest.Records(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range explain.Of(records).Groups {
		for i, c := range g.Changes {
			r, err := rerun.Of(g, i, quorumbully.Program)
			if err != nil {
				t.Errorf("change %d, %s: %v", i+1, c.Cause, err)
				continue
			}
			t.Logf("change %d, %s: %d steps, %d events", i+1, c.Cause, r.Steps, len(r.Choices))
		}
	}
}
