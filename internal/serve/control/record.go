package control

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/statushttp"
)

// The limits of what clients get from the record of a member, so that none of them costs it much.
const (
	// mostReaders is how many clients may read the record at a time.
	mostReaders = 2

	// mostExplained is how many bytes of a record are explained: the newest ones. With a change of the leader each second, 1.3 MiB took 0.27 s beside other work.
	mostExplained = 2 << 20

	// MostChanges is how many changes of the leader an explanation has: the last ones.
	MostChanges = 20

	// partTime is how long a client may take for a part of a record, of 128 KiB with the usual size.
	partTime = 10 * time.Second
)

// recorded serves the record of a member. It reads the files that the recorder writes, and asks the member nothing.
type recorded struct {
	directory string // empty: there is no record
	places    chan struct{}
}

func newRecorded(directory string) *recorded {
	return &recorded{directory, make(chan struct{}, mostReaders)}
}

// parts answers with an error, or returns the parts that a request asks for, and what is to be called after their use.
func (h *recorded) parts(w http.ResponseWriter, r *http.Request) (all []record.Part, done func()) {
	since := time.Time{}
	if last := r.URL.Query().Get("last"); last != "" {
		d, err := time.ParseDuration(last)
		if err != nil || d <= 0 {
			fail(w, http.StatusBadRequest, fmt.Errorf("last=DURATION is a time above 0 such as 10m, not %q", last))
			return nil, nil
		}
		since = time.Now().Add(-d)
	}
	if h.directory == "" {
		fail(w, http.StatusNotFound, errNoRecord)
		return nil, nil
	}
	select {
	case h.places <- struct{}{}:
	default:
		fail(w, http.StatusServiceUnavailable, fmt.Errorf("%d other clients read the record of this member; try again", mostReaders))
		return nil, nil
	}
	all, err := record.Parts(h.directory, since)
	if err != nil || len(all) == 0 {
		<-h.places
		code := http.StatusInternalServerError
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			code, err = http.StatusNotFound, errNoRecord
		}
		fail(w, code, err)
		return nil, nil
	}
	return all, func() { <-h.places }
}

var errNoRecord = errors.New("this member has no record, or none of that time")

// archive answers with the record, as an archive.
func (h *recorded) archive(w http.ResponseWriter, r *http.Request) {
	parts, done := h.parts(w, r)
	if done == nil {
		return
	}
	defer done()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	patience := http.NewResponseController(w)
	for i := range parts {
		_ = patience.SetWriteDeadline(time.Now().Add(partTime)) // a server that has none keeps its own
		if _, err := parts[i].WriteTo(w); err != nil {
			panic(http.ErrAbortHandler) // the client learns that the record is cut off
		}
	}
}

// explain answers with what the newest part of the record tells about the last changes of the leader.
func (h *recorded) explain(w http.ResponseWriter, r *http.Request) {
	format := r.URL.Query().Get("format")
	if format != "" && format != "json" && format != "text" {
		fail(w, http.StatusBadRequest, fmt.Errorf("format is json or text, not %q", format))
		return
	}
	parts, done := h.parts(w, r)
	if done == nil {
		return
	}
	defer done()
	var archive bytes.Buffer
	for _, p := range record.Newest(parts, mostExplained) {
		if _, err := p.WriteTo(&archive); err != nil {
			fail(w, http.StatusInternalServerError, err)
			return
		}
	}
	report, err := explain.OfContext(r.Context(), record.Parse(h.directory, archive.Bytes()))
	if err != nil {
		panic(http.ErrAbortHandler) // the client has left
	}
	report.Keep(MostChanges)
	if format != "text" {
		statushttp.Reply(w, http.StatusOK, report)
		return
	}
	var text bytes.Buffer
	report.WriteText(&text)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(text.Bytes()) // if the client is gone, the error has no receiver
}
