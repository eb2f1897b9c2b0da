package storage

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"sync"
)

// Disk is a store in memory, for tests. Its records outlive the processes that open it: each process of a test calls
// Open when it starts, and Close on the result when it ends or is killed.
type Disk struct {
	mu      sync.Mutex
	id      [16]byte
	records map[string][]byte
	before  func([]Record) error
	user    *user // nil if it is not open
}

// Memory makes an empty store in memory.
func Memory() *Disk {
	d := &Disk{}
	d.Lose()
	return d
}

// Open returns the store for a process. It is an [ErrLocked] while another one has it open.
func (d *Disk) Open() (Storage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.user != nil {
		return nil, fmt.Errorf("%w in memory %w", ErrData, ErrLocked)
	}
	d.user = &user{disk: d, id: d.id}
	return d.user, nil
}

// Intercept sets a function that each Save calls with its records before they are durable; nil removes it. An error
// of the function fails that Save, and an [ErrFlush] all later ones of that process, too. A function that waits for a
// channel makes the store slow: the test sees that Save has come there, and lets it go on.
func (d *Disk) Intercept(before func([]Record) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = before
}

// Lose replaces the store by a new and empty one with another ID. A process that has it open keeps the ID that it
// knows, and can save nothing.
func (d *Disk) Lose() {
	d.mu.Lock()
	defer d.mu.Unlock()
	rand.Read(d.id[:])
	d.records, d.user = map[string][]byte{}, nil
}

// Copy returns a copy of the store that is not open and has the same ID, as a copied directory has.
func (d *Disk) Copy() *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Disk{id: d.id, records: maps.Clone(d.records)}
}

// user is the use of a Disk by one process.
type user struct {
	disk   *Disk
	id     [16]byte
	broken error // ErrFlush
}

func (u *user) ID() [16]byte { return u.id }

func (u *user) Load(name string) ([]byte, error) {
	u.disk.mu.Lock()
	defer u.disk.mu.Unlock()
	if err := u.current(); err != nil {
		return nil, err
	}
	return bytes.Clone(u.disk.records[name]), nil
}

func (u *user) Save(records []Record) error {
	if err := checkRecords(records); err != nil {
		return err
	}
	u.disk.mu.Lock()
	before := u.disk.before
	u.disk.mu.Unlock()
	if u.broken == nil && before != nil {
		if err := before(records); errors.Is(err, ErrFlush) {
			u.broken = err
		} else if err != nil {
			return err
		}
	}
	if u.broken != nil {
		return u.broken
	}
	u.disk.mu.Lock()
	defer u.disk.mu.Unlock()
	if err := u.current(); err != nil {
		return err
	}
	for _, r := range records {
		u.disk.records[r.Name] = append([]byte{}, r.Data...)
	}
	return nil
}

// current returns an error if this process has closed the store, or the store was lost.
func (u *user) current() error {
	if u.disk.user != u {
		return fmt.Errorf("%w in memory %w: it is closed, or was lost", ErrData, ErrWrite)
	}
	return nil
}

func (u *user) Close() error {
	u.disk.mu.Lock()
	defer u.disk.mu.Unlock()
	if u.disk.user == u {
		u.disk.user = nil
	}
	return nil
}
