//go:build !js

package lab

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"ringleader.example/ringleader/internal/serve/explain"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/show/incident"
)

// Gather returns the record of the last minutes of a running member by its place, or of the group that is shown if the place is empty. The text of its error is one line for
// people.
type Gather func(ctx context.Context, place string) (*record.Records, error)

const (
	// MostArchive is the largest size of a record that the page opens, in bytes: it holds the records of three members of the usual size.
	MostArchive = 112 << 20

	archiveTime = 30 * time.Second // in which it comes
	mostPages   = 8                // pages of incidents that are kept: the last ones
)

// incidents answers the question incident: the bytes of a record, or {"place": "data/1"}. The answer is the address of a page that plays it, which has
// a policy of its own, so that the lab shows it in a frame that can do nothing else.
type incidents struct {
	gather Gather // nil: it opens files only

	mu    sync.Mutex
	names []string // the oldest first
	pages map[string][]byte
}

func newIncidents(gather Gather) *incidents {
	return &incidents{gather: gather, pages: map[string][]byte{}}
}

// folder is where the pages are.
const folder = "/incident/"

// framePolicy is the Content-Security-Policy of an incident page, in addition to the one in the page. The sandbox gives its scripts an opaque origin.
const framePolicy = "sandbox allow-scripts; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// ServeHTTP answers with a page.
func (i *incidents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	page, known := i.pages[strings.TrimPrefix(r.URL.Path, folder)]
	i.mu.Unlock()
	if !known {
		http.Error(w, "the lab keeps this page no longer; open the record again", http.StatusNotFound)
		return
	}
	w.Header().Del("Cross-Origin-Opener-Policy") // a frame that is sandboxed must have none
	w.Header().Set("Content-Security-Policy", framePolicy)
	w.Header().Set("Content-Type", media[".html"])
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(page) // the client may have left
}

// answer explains the record of a question.
func (i *incidents) answer(ctx context.Context, body []byte, isPlace bool) (json.RawMessage, error) {
	records, err := i.records(ctx, body, isPlace)
	if err != nil {
		return nil, err
	}
	if len(records.Logs) == 0 {
		if len(records.Damages) > 0 {
			return nil, errors.New(records.Damages[0].String())
		}
		return nil, errors.New("the record is empty")
	}
	told, err := explain.OfContext(ctx, records)
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	if err := incident.Page(ctx, &page, told, 0); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]string{"page": i.keep(page.Bytes())})
}

// records reads the records of a question.
func (i *incidents) records(ctx context.Context, body []byte, isPlace bool) (*record.Records, error) {
	if !isPlace {
		return record.Parse("the file", body), nil
	}
	var question struct {
		Place string `json:"place"`
	}
	if err := json.Unmarshal(body, &question); err != nil {
		return nil, errors.New(`a place is {"place": "data/1"}`)
	}
	if i.gather == nil {
		return nil, errors.New("this lab asks no member for its record; open a file that ringleader record has written")
	}
	return i.gather(ctx, question.Place)
}

// keep stores a page and returns its address, which has a random name of 128 bits or more. It drops the oldest page when there are too many.
func (i *incidents) keep(page []byte) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	name := rand.Text()
	i.pages[name], i.names = page, append(i.names, name)
	if len(i.names) > mostPages {
		delete(i.pages, i.names[0])
		i.names = i.names[1:]
	}
	return strings.TrimPrefix(folder, "/") + name
}

// asker returns the question incident as that of an engine, so that a panic is an error as with others.
func (i *incidents) asker(isPlace bool) Engine {
	return answering(func(ctx context.Context, body []byte) (json.RawMessage, error) {
		answer, err := i.answer(ctx, body, isPlace)
		if err != nil {
			err = fmt.Errorf("cannot open this record: %w", err)
		}
		return answer, err
	})
}

// answering is an engine of one question.
type answering func(ctx context.Context, body []byte) (json.RawMessage, error)

// Ask implements [Engine].
func (f answering) Ask(ctx context.Context, _ string, body []byte, _ func(string)) (json.RawMessage, error) {
	return f(ctx, body)
}
