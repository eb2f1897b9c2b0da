package labour

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/work"
)

// many is work of very many units.
type many struct{}

func (many) Units() uint64                                       { return 4_000_000_000 }
func (many) Compute(context.Context, work.Piece) ([]byte, error) { return nil, nil }
func (many) Join(first, _ []byte) ([]byte, error)                { return first, nil }

func TestTheProgressOfVeryLongWorkFitsALine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		results, err := work.NewResults(many{}, nil, func(work.Part) error { return nil })
		if err == nil {
			_, err = results.Take(work.Piece{To: 1_104_389_100}, []byte("1"))
		}
		if err != nil {
			t.Fatal(err)
		}
		line := ""
		p := &report.Printer{Watch: func(text string) { line = text }}
		d := &doing{Hands: &Hands{}, Assignment: &Assignment{Units: "positions"}, results: results, bar: p.Progress()}
		<-time.After(50 * time.Minute)
		d.progress(work.Progress{Rate: 1.02e+07, Left: 26*time.Minute + 37*time.Second})
		if want := "1104389100 of 4000000000 positions, 1.02e+07 a second, about 26m37s left, 50m0s"; line != want || len(line) > 79 {
			t.Errorf("it is %q, want %q", line, want)
		}
	})
}
