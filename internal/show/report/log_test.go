//go:build !js

package report

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestTheLogOfAMemberHasTheLinesThatJoinPrints(t *testing.T) {
	var out strings.Builder
	log := slog.New(NewLog(&out, 3, slog.LevelInfo)).With("member", uint64(3))
	log.Debug("not shown")
	log.Info("listening", "address", "127.0.0.1:7001")
	log.Warn("member is not reachable", "peer", 1, "error", errors.New("nothing has arrived for 400ms"))
	log.With("group", "a b").WithGroup("disk").Error("it fails", "text", "a\nline", "empty", "", slog.Group("of", "bytes", 7))
	want := []string{
		"3 listening address=127.0.0.1:7001",
		`3 warning: member is not reachable peer=1 error="nothing has arrived for 400ms"`,
		`3 error: it fails group="a b" disk.text="a\nline" disk.empty="" disk.of.bytes=7`,
	}
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		at, text, _ := strings.Cut(line, "  ")
		if _, err := time.Parse("2006-01-02 15:04:05.000", at); err != nil || i >= len(want) || text != want[i] {
			t.Errorf("%q, %v", line, err)
		}
	}
}
