package cluster

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"ringleader.example/ringleader/internal/study/work"
)

func TestSubjectsNamePieces(t *testing.T) {
	t.Parallel()
	j, _ := jobOf(t, "sums", sums{Of: 10})
	p := work.Piece{From: 3, To: 1 << 63}
	c := &Conn{token: token}
	for _, subject := range []string{c.queueSubject(j, p), resultSubject(j.Key(), p)} {
		if key, got, err := parseSubject(subject); err != nil || key != j.Key() || got != p {
			t.Errorf("%s: %s, %v, %v", subject, key, got, err)
		}
	}
	for _, subject := range []string{"", "a", "a.1", "a.1.x", "a.x.1", "a.3.3", "a.4.3", "a.-1.3"} {
		if _, p, err := parseSubject(subject); err == nil {
			t.Errorf("%q: %v", subject, p)
		}
	}
}

func TestARecordIsReadAgain(t *testing.T) {
	t.Parallel()
	j, _ := jobOf(t, "sums", sums{Of: 10})
	r := record{job: j, call: "ringleader sums", units: 10, begun: time.Now().UTC().Truncate(time.Second)}
	c := &Conn{token: token}
	config, err := c.resultsConfig(r)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.readRecord(config)
	if err != nil || !got.job.Same(j) || got.call != r.call || got.units != 10 || !got.begun.Equal(r.begun) {
		t.Errorf("%+v, %v", got, err)
	}
	for name, change := range map[string]func(*jetstream.StreamConfig){
		"another name":     func(s *jetstream.StreamConfig) { s.Name = resultsStream("other") },
		"another job":      func(s *jetstream.StreamConfig) { s.Metadata["ringleader-job"] = `{"kind":"verify"}` },
		"no job":           func(s *jetstream.StreamConfig) { s.Metadata["ringleader-job"] = "" },
		"no number":        func(s *jetstream.StreamConfig) { s.Metadata["ringleader-units"] = "x" },
		"no time":          func(s *jetstream.StreamConfig) { s.Metadata["ringleader-begun"] = "x" },
		"another metadata": func(s *jetstream.StreamConfig) { s.Metadata = nil },
	} {
		config, err := c.resultsConfig(r)
		if err != nil {
			t.Fatal(err)
		}
		change(&config)
		if _, err := c.readRecord(config); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}
