package explain_test

import (
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/storage"
)

// slowly is a store that takes its time.
type slowly struct{ storage.Storage }

func (s slowly) Save(records []storage.Record) error {
	<-time.After(40 * time.Millisecond)
	return s.Storage.Save(records)
}

// A member has a record when its start is durable. Its times are those of the wall clock, however long that took.
func TestTheTimesOfARecordAreThoseOfTheWallClock(t *testing.T) {
	directory := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{Record: ringleader.Record{Directory: directory}}, 1, 2, 3)
		defer c.Close()
		c.Configure(func(_ uint64, config *ringleader.Config) { config.Storage = slowly{config.Storage} })
		c.Start(1, 2, 3)
		c.AwaitAny()
		c.Pass(time.Second)
	})
	records, err := record.Open(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, l := range records.Logs {
		for e := range l.Entries() {
			if c, is := e.Body.(*record.Change); is {
				compared++
				if off := l.Segments[0].Head.Time(e.At).Sub(c.Time); off.Abs() > time.Millisecond {
					t.Errorf("member %d: an entry of %v is off by %v in its record", l.Member, c.Time, off)
				}
			}
		}
	}
	if compared < 3 {
		t.Errorf("%d times were compared", compared)
	}
}
