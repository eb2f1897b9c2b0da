package cluster

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"ringleader.example/ringleader/internal/study/work"
)

// The plan of the page on distributed work shows what a server has to do for many workers. TestCosts prints the constants that are
// measured, and TestSizesOfThePlan those of the store.
const (
	planCores  = 2                      // of a worker
	pieceIn    = 4.1                    // messages that the server gets for a piece, without signs of life
	pieceOut   = 4.1                    // … and sends
	pieceWork  = 520 * time.Microsecond // of a core of the server, for a piece
	signWork   = 17 * time.Microsecond  // … for a sign of life
	queuedSize = 225                    // bytes of a piece in the queue
	storedSize = 1290                   // bytes of a result of 1000 bytes
)

// plan is a row of the table.
func plan(workers float64) string {
	slots := workers * planCores
	length := work.PieceTime(int(slots))
	pieces := slots / length.Seconds()
	queue := ahead * slots
	signs := workers/beat.Seconds() + queue/(usualPatience/3).Seconds()
	cores := pieces*pieceWork.Seconds() + signs*signWork.Seconds()
	return fmt.Sprintf("| %.0f | %v | %.0f | %.0f, %.1f MB | %.0f | %.0f | %.2f | %.1f GB |", workers, length, pieces, queue, queue*queuedSize/1e6,
		pieces*pieceIn+signs, pieces*pieceOut+workers/beat.Seconds(), cores, pieces*3600*storedSize/1e9)
}

func TestThePageHasThePlan(t *testing.T) {
	const page = "../../../docs/6-choosing-an-algorithm.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []float64{10, 100, 1000, 10_000} {
		if row := plan(workers); !strings.Contains(string(text), row+"\n") {
			t.Errorf("%s lacks %s", page, row)
		}
	}
}

func TestSizesOfThePlan(t *testing.T) {
	t.Parallel()
	c := connect(t, serve(t, settings(t)).Access(), nil)
	j, task := jobOf(t, "sums", sums{Of: 10})
	begin(t, c, j, task, nil)
	p := work.Piece{From: 123_456_789, To: 123_457_789}
	size := func(name string) uint64 {
		s, err := c.js.Stream(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return s.CachedInfo().State.Bytes
	}
	claimed := size(resultsStream(j.Key()))
	_, err := c.js.PublishMsg(t.Context(), c.piece(c.queueSubject(j, p)))
	if err == nil {
		m := nats.NewMsg(resultSubject(j.Key(), p))
		m.Data = make([]byte, 1000)
		m.Header.Set(tookHeader, "1.123456789s")
		m.Header.Set(workerHeader, "machine-1234, process 123456")
		_, err = c.js.PublishMsg(t.Context(), c.seal(m))
	}
	if err != nil {
		t.Fatal(err)
	}
	if queued, stored := size(queueStream), size(resultsStream(j.Key()))-claimed; queued != queuedSize || stored != storedSize {
		t.Errorf("a piece takes %d bytes and a result %d; the plan has %d and %d", queued, stored, queuedSize, storedSize)
	}
}
