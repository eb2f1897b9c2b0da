package live

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader/network"
)

func TestTheLogHasTheNamesOfRolesThatStatusHas(t *testing.T) {
	var text bytes.Buffer
	g := &group{
		Group: &Group{member: &Member{}, log: slog.New(slog.NewTextHandler(&text, nil)), changed: make(chan struct{})},
		loop:  &loop{Member: &Member{config: Config{Unit: time.Millisecond}}},
	}
	g.state.Role = network.Leader
	g.show()
	if !strings.Contains(text.String(), `msg="leadership changed" role=electing leader=0`) {
		t.Error(text.String())
	}
}
