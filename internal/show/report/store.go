//go:build !js

package report

import (
	"encoding/hex"
	"fmt"

	"ringleader.example/ringleader/storage"
)

// Store is a store that init has made.
type Store struct {
	Path   string
	Owner  storage.Owner
	Groups int // that there is room for
	ID     [16]byte
}

// JSON returns the store for programs.
func (s Store) JSON() any {
	return Object{
		{"path", s.Path}, {"group", s.Owner.Group}, {"id", s.Owner.Member}, {"groups", s.Groups}, {"store", hex.EncodeToString(s.ID[:])},
	}
}

// Text prints the store for people.
func (s Store) Text(p *Printer) error {
	room := "1 group"
	if s.Groups > 1 {
		room = fmt.Sprint(s.Groups, " groups")
	}
	fmt.Fprintf(p.Out, "made      %s\nowner     %s\nroom for  %s\nstore ID  %x\n", s.Path, s.Owner, room, s.ID)
	return nil
}
