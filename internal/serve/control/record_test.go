package control

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/record"
	"ringleader.example/ringleader/ringleadertest"
)

// incident returns the directory of the record of member 3 of three, which has handed over to member 1 several times.
func incident(t *testing.T, config ringleader.Config, times int) string {
	config.Record.Directory = t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, config, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		go func() {
			_ = c.Member(3).Lead(t.Context(), func(ctx context.Context, l ringleader.Leadership) error {
				if err := l.Publish("the password"); err != nil {
					t.Error(err)
				}
				<-ctx.Done()
				return nil
			})
		}()
		c.Pass(time.Second)
		for range times {
			for _, way := range [][2]uint64{{3, 1}, {1, 3}} {
				if err := c.Member(way[0]).Transfer(way[1]); err != nil {
					t.Fatal(err)
				}
				c.Await(way[1])
				c.Pass(time.Second)
			}
		}
	})
	return filepath.Join(config.Record.Directory, "3")
}

// overSocket serves the record of a directory at a member of its own, and returns a client.
func overSocket(t *testing.T, directory string) *Client {
	m, path := alone(t), Socket(t.TempDir())
	t.Cleanup(served(t, m, Options{Socket: path, Record: directory}))
	client := NewClient(path)
	answered(t, client)
	return client
}

func TestTheRecordOverTheSocketIsThatOfTheDirectory(t *testing.T) {
	directory := incident(t, ringleader.Config{}, 2)
	client := overSocket(t, directory)
	archive, err := client.Record(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range record.Parse("archive", archive).Logs {
		files, err := record.Open(t.Context(), directory)
		if err != nil || len(files.Logs) != 1 || len(l.Segments) != len(files.Logs[0].Segments) || len(l.Changes) != len(files.Logs[0].Changes) || len(l.Changes) == 0 {
			t.Errorf("%d segments, %d of changes; %v", len(l.Segments), len(l.Changes), err)
		}
		for i, s := range l.Segments {
			got, _ := s.Bytes()
			want, _ := files.Logs[0].Segments[i].Bytes()
			if !bytes.Equal(got, want) {
				t.Errorf("segment %d differs", i)
			}
		}
	}
	if bytes.Contains(archive, []byte("the password")) {
		t.Error("it has a published value")
	}
	allowed, err := overSocket(t, incident(t, ringleader.Config{Record: ringleader.Record{Values: true}}, 0)).Record(t.Context(), 0)
	if !bytes.Contains(allowed, []byte("the password")) {
		t.Errorf("a record that may have values has none: %v", err)
	}
	if _, err := client.Record(t.Context(), time.Nanosecond); err == nil || !strings.Contains(err.Error(), "no record, or none of that time") {
		t.Errorf("a record of no time is %v", err)
	}
	if _, err := overSocket(t, "").Record(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "no record") {
		t.Errorf("the record of a member without one is %v", err)
	}
}

func TestAMemberExplainsItsLastChanges(t *testing.T) {
	h := handler(nil, newRecorded(incident(t, ringleader.Config{}, MostChanges)), true)
	text := ask(h, http.MethodGet, "/explain?format=text").Body.String()
	if n := strings.Count(text, "transferred (certain)"); n != MostChanges {
		t.Errorf("%d changes are told:\n%s", n, text)
	}
	var g struct {
		Groups []struct{ Changes []struct{ Cause string } }
	}
	if err := overSocket(t, incident(t, ringleader.Config{}, 1)).get(t.Context(), http.MethodGet, "/explain", &g); err != nil || len(g.Groups) != 1 || len(g.Groups[0].Changes) != 3 {
		t.Errorf("%v, %v", g, err)
	}
}

func TestOnlyTheNewestPartOfALargeRecordIsExplained(t *testing.T) {
	var parts []record.Part
	for i := range 100 {
		parts = append(parts, record.Part{Path: fmt.Sprint(i), Size: 100 << 10})
	}
	newest := record.Newest(append(parts, record.Part{Path: "changes.seg", Size: 4 << 20}), mostExplained)
	if len(newest) != 20 || newest[19].Path != "99" {
		t.Errorf("%d parts: %v", len(newest), newest)
	}
	if all := record.Newest(parts[:3], mostExplained); len(all) != 3 {
		t.Errorf("of a small record: %v", all)
	}
}

func TestFewClientsReadTheRecordAtATime(t *testing.T) {
	files := newRecorded(incident(t, ringleader.Config{}, 0))
	for range mostReaders {
		files.places <- struct{}{}
	}
	h := handler(nil, files, true)
	for _, path := range []string{"/record", "/explain"} {
		if w := ask(h, http.MethodGet, path); w.Code != http.StatusServiceUnavailable {
			t.Errorf("%s: %d while others read", path, w.Code)
		}
	}
	<-files.places
	for _, path := range []string{"/record", "/explain", "/record", "/explain"} { // each gives its place back
		if w := ask(h, http.MethodGet, path); w.Code != http.StatusOK {
			t.Errorf("%s: %d: %s", path, w.Code, w.Body)
		}
	}
}

// A client that has a part of a record takes it for the whole one unless it learns that the rest is missing.
func TestARecordThatIsCutOffIsAnError(t *testing.T) {
	directory := incident(t, ringleader.Config{}, 0)
	if err := os.Symlink(directory, filepath.Join(directory, "999999999999.seg")); err != nil {
		t.Skip(err)
	}
	parts, err := record.Parts(directory, time.Time{})
	if err != nil || len(parts) == 0 || strings.Contains(parts[len(parts)-1].Path, "9999") {
		t.Errorf("a link is a part of a record: %v, %v", parts, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(make([]byte, 1<<20))
		panic(http.ErrAbortHandler)
	}))
	server.Listener.Close()
	server.Listener = l
	server.Start()
	defer server.Close()
	if _, err := NewHTTPClient(l.Addr().String(), nil).Record(context.Background(), 0); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("the error is %v", err)
	}
}
