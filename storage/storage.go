package storage

import (
	"errors"
	"fmt"
)

// The limits of a store.
const (
	MaxName    = 255     // bytes of a name
	MaxData    = 3584    // bytes of a record's data
	MaxRecords = 1 << 14 // of a Directory, which then has 128 MB
)

// Record is the durable state of a part of a member: of the member itself, or of one of its groups.
type Record struct {
	Name string // empty for the member itself; otherwise the group's name, of at most MaxName bytes
	Data []byte // at most MaxData bytes
}

// Storage keeps the records of one member. One process uses it at a time, and one goroutine in it.
type Storage interface {
	// ID returns what distinguishes this store from one that was lost, or belongs to another process. It is
	// random, and made with the store. A copy of a store has the same ID. Zero means that the storage keeps nothing.
	ID() [16]byte

	// Load returns the data that was last saved under a name, or nil if none was. The caller may keep and change
	// it. The error is an [ErrDamaged] if the data was lost.
	Load(name string) ([]byte, error)

	// Save returns nil when all records are durable. A process that ends during Save, or gets an error, may have made
	// any part of the records durable, but each record is the one before or the new one as a whole. Of two records
	// with one name the last counts. Save keeps no reference to the records. After an [ErrWrite] the caller may try again,
	// with other records if it likes. After an [ErrFlush] it must end the process: what is on the disk is not known.
	Save(records []Record) error

	// Close ends the use of the storage. It makes nothing durable that is not so already.
	Close() error
}

// Owner is the member that a store belongs to. A store that belongs to another one is refused.
type Owner struct {
	Group  string // a name, of at most MaxName bytes
	Member uint64 // the identifier of the member, its own for the life of the group
}

// The errors of this package; the text names the file. Each is an ErrData.
var (
	ErrData    = errors.New("data directory")                                                         // any of those below, and a directory that cannot be read
	ErrMissing = errors.New("does not exist")                                                         // there is no store; ringleader init, or Init, makes one
	ErrExists  = errors.New("exists, and is not overwritten: it may hold what a member has promised") // Init found a store
	ErrLocked  = errors.New("is in use by another process")                                           // another process has it open
	ErrForeign = errors.New("is not this member's")                                                   // it has another owner, or is of another format
	ErrDamaged = errors.New("is damaged")                                                             // what was durable is lost, or may be
	ErrWrite   = errors.New("cannot be written")                                                      // nothing was promised; a later Save may succeed
	ErrFlush   = errors.New("cannot be flushed to the device")                                        // this process can save nothing any more
)

// checkRecords returns an error if a record is too long. No Save of it can succeed.
func checkRecords(records []Record) error {
	for _, r := range records {
		if len(r.Name) > MaxName {
			return fmt.Errorf("%w: the name %.20q… of a record has %d bytes, and at most %d are kept", ErrData, r.Name, len(r.Name), MaxName)
		}
		if len(r.Data) > MaxData {
			return fmt.Errorf("%w: the record %q has %d bytes, and at most %d are kept", ErrData, r.Name, len(r.Data), MaxData)
		}
	}
	return nil
}
