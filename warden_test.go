package ringleader

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestAMemberSaysThatItHasNoWardenIfItWantsOne(t *testing.T) {
	var said bytes.Buffer
	c := Config{ID: 1, Logger: slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	tellMissing(&c, nil)
	if said.Len() > 0 {
		t.Error(said.String())
	}
	tellMissing(&c, fmt.Errorf("%w on plan9: it needs Linux", ErrNoWarden))
	if want := `msg="this process has no warden: if it crashes, the others wait for the end of its lease" member=1 error="no warden on plan9: it needs Linux"` + "\n"; !strings.HasSuffix(said.String(), want) {
		t.Errorf("%s; want %s", &said, want)
	}
}
