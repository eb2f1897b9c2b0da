package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	recorder "ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/internal/show/lab"
)

// led is the record of a member that leads, and then ends in order.
func led(t *testing.T) []byte {
	t.Helper()
	files, options, err := recorder.NewFiles(t.TempDir(), recorder.DefaultSize)
	if err != nil {
		t.Fatal(err)
	}
	kept := &keeping{Files: files}
	w := recorder.NewWriter(kept, func() recorder.Head {
		return recorder.Head{Group: "shop", Member: 1, Incarnation: 1, Wall: int64(time.Hour), Members: []uint64{1}, Unit: time.Microsecond}
	}, options)
	for i, body := range []recorder.Body{&recorder.Start{}, &recorder.Decision{Role: "leader", Leader: 1, Term: 1}, &recorder.End{Reason: "closed"}} {
		at := time.Duration(i) * time.Second
		w.Add(recorder.Clocks{Monotonic: at, Boottime: at}, "shop", body)
	}
	w.Close(time.Minute)
	return kept.content
}

// keeping is a sink that keeps what is written, too.
type keeping struct {
	*recorder.Files
	content []byte
}

func (k *keeping) WriteAt(block []byte, at int64) error {
	k.content = append(k.content[:at], block...)
	return k.Files.WriteAt(block, at)
}

// opening serves a lab that opens records.
func opening(t *testing.T, gather lab.Gather) (address string) {
	t.Helper()
	listener, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func(l net.Listener) {
		served <- lab.Serve(ctx, l, engineFunc(func(context.Context, string, []byte, func(string)) (json.RawMessage, error) {
			return nil, errors.New("no question")
		}), gather)
	}(listener)
	t.Cleanup(func() { cancel(); <-served })
	return listener.Addr().String()
}

// open asks the lab to open a record, and returns the path of its page, or the error.
func open(t *testing.T, address, media, body string) (page, failed string) {
	t.Helper()
	reply := request(t, address, http.MethodPost, "/api/incident", body, func(r *http.Request) { r.Header.Set("Content-Type", media) })
	var line struct {
		Answer struct{ Page string }
		Error  string
	}
	if err := json.Unmarshal([]byte(text(t, reply)), &line); err != nil {
		t.Fatal(err)
	}
	return line.Answer.Page, line.Error
}

const archives = "application/octet-stream"

func TestTheLabOpensARecordInAPageThatCanDoNothingElse(t *testing.T) {
	content := led(t)
	address := opening(t, nil)
	first, failed := open(t, address, archives, string(content))
	if failed != "" {
		t.Fatal(failed)
	}
	reply := request(t, address, http.MethodGet, "/"+first, "", nil)
	policy := reply.Header.Get("Content-Security-Policy")
	if got := text(t, reply); !strings.Contains(got, "“shop”") && !strings.Contains(got, `"shop"`) && !strings.Contains(got, "&#34;shop&#34;") {
		t.Errorf("the page has no group shop: %.300s", got)
	}
	if !strings.Contains(policy, "sandbox allow-scripts;") || strings.Contains(policy, "allow-same-origin") {
		t.Errorf("policy %q", policy)
	}
	for range 8 { // the lab keeps the last ones
		if _, failed := open(t, address, archives, string(content)); failed != "" {
			t.Fatal(failed)
		}
	}
	if got := request(t, address, http.MethodGet, "/"+first, "", nil); got.StatusCode != http.StatusNotFound {
		t.Errorf("the oldest page is kept for ever: %d", got.StatusCode)
	}
}

func TestWhatIsNoRecordIsOneLine(t *testing.T) {
	content := led(t)
	address := opening(t, nil)
	flipped := bytes.Clone(content)
	flipped[40] ^= 1 // in the head
	for name, body := range map[string][]byte{
		"empty": {}, "text": []byte("</script>\nno record"), "flipped": flipped, "torn": content[:20],
	} {
		page, failed := open(t, address, archives, string(body))
		if page != "" || !strings.HasPrefix(failed, "cannot open this record: ") || strings.Contains(failed, "\n") {
			t.Errorf("%s: page %q, error %q", name, page, failed)
		}
	}
	if testing.Short() {
		t.Skip("what is too large takes long to send")
	}
	if _, failed := open(t, address, archives, strings.Repeat("x", lab.MostArchive+1)); failed != "cannot open this record: a record, or several together, has at most 112 MiB" {
		t.Errorf("too large: %q", failed)
	}
}

func TestTheLabAsksMembersForTheirRecord(t *testing.T) {
	content := led(t)
	address := opening(t, func(_ context.Context, place string) (*recorder.Records, error) {
		if place == "data/1" {
			return recorder.Parse(place, content), nil
		}
		return nil, errors.New("no member at " + place)
	})
	if page, failed := open(t, address, "application/json", `{"place": "data/1"}`); page == "" {
		t.Error(failed)
	}
	for body, want := range map[string]string{`{"place": "data/2"}`: "no member at data/2", `7`: "a place is"} {
		if _, failed := open(t, address, "application/json", body); !strings.Contains(failed, want) {
			t.Errorf("%s: %q", body, failed)
		}
	}
	if _, failed := open(t, opening(t, nil), "application/json", `{"place": "data/1"}`); !strings.Contains(failed, "asks no member") {
		t.Errorf("without a way to ask: %q", failed)
	}
}
