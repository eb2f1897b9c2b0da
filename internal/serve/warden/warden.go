package warden

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// ErrNone reports that this process runs without a warden.
var ErrNone = errors.New("no warden")

// marker is the variable of the environment by which a program knows that it has a warden: the warden's process, the
// descriptors of the pipe to it, of the memory with pulses and of the alarm, and the hash of its secret.
const marker = "RINGLEADER_WARDEN_PIPE"

// note is what the program tells its warden, one JSON object a line.
type note struct {
	Member uint64        `json:"member"`
	Peers  []string      `json:"peers,omitempty"` // where the other members listen; none: they need no proof
	Lease  time.Duration `json:"lease,omitempty"` // for how long they need a proof of its death
	File   string        `json:"file,omitempty"`  // its lease file, as a writer's Handle; empty: none

	Confined string `json:"confined,omitempty"` // a control group with processes of the program, and nothing of a member

	Spared  int    `json:"spared,omitempty"`  // a process that may hang and does no work, and nothing of a member
	Started string `json:"started,omitempty"` // when it has started, as /proc tells it

	Begun bool `json:"begun,omitempty"` // the program knows of the warden, and nothing of a member
}

// child is what a program knows about its warden. All is zero if it has none.
var child struct {
	once sync.Once
	err  error
	hash [sha256.Size]byte

	mu      sync.Mutex
	pipe    *os.File
	missing error // err, once Start has returned
}

// asked is closed when this process is asked to end; nil: never.
var asked <-chan struct{}

// Expect lets a warden pass on what has asked this process to end before the warden listened to signals. It is called before [Start].
func Expect(ended <-chan struct{}) { asked = ended }

// Start makes this process the warden of its own program, and never returns there. In the program it returns nil. An
// error is [ErrNone], with the reason: the program runs without a warden.
func Start() error {
	child.once.Do(func() {
		var adopted bool
		if adopted, child.err = adopt(); !adopted && child.err == nil {
			child.err = watch()
		}
		child.mu.Lock()
		defer child.mu.Unlock()
		child.missing = child.err
	})
	return child.err
}

// Warded reports whether a warden has started this process, which has not called [Start] yet.
func Warded() bool {
	_, marked := os.LookupEnv(marker)
	return marked
}

// Missing returns why this process runs without a warden, if it has asked for one; otherwise nil.
func Missing() error {
	child.mu.Lock()
	defer child.mu.Unlock()
	return child.missing
}

// adopt takes over what the warden has passed, if this process has one. The processes that it starts do not see that.
func adopt() (adopted bool, err error) {
	text, marked := os.LookupEnv(marker)
	os.Unsetenv(marker)
	var (
		pid               int
		pipe, page, alarm uintptr
		hash              string
	)
	if !marked {
		return false, nil
	}
	if _, err := fmt.Sscan(text, &pid, &pipe, &page, &alarm, &hash); err != nil || pid != os.Getppid() {
		return false, nil // another process has it
	}
	raw, err := hex.DecodeString(hash)
	if err != nil || len(raw) != len(child.hash) {
		return false, fmt.Errorf("%w: %s is damaged", ErrNone, marker)
	}
	keep(pipe)
	if page != 0 { // else the warden has no memory to share, and does not watch
		keep(page)
		keep(alarm)
		share(os.NewFile(page, "pulses"), alarm)
	}
	child.hash, child.pipe = [sha256.Size]byte(raw), os.NewFile(pipe, "the pipe to the warden")
	_ = tell(note{Begun: true}) // a warden that has died takes this process with it
	return true, nil
}

// Hash returns the hash of the warden's secret; zero if there is no warden.
func Hash() [sha256.Size]byte { return child.hash }

// Joined tells the warden that this process is a member, where the others listen, for how long they need a proof of
// its death, and the handle of its lease file, empty for none, which the warden ends before it proves that.
func Joined(member uint64, peers []string, lease time.Duration, file string) error {
	return tell(note{Member: member, Peers: peers, Lease: lease, File: file})
}

// Left tells the warden that the member has ended in good order: no member waits for it.
func Left(member uint64) error { return tell(note{Member: member}) }

// Confined tells the warden of a control group in which the program starts processes: their death is part of its own.
func Confined(group string) error { return tell(note{Confined: group}) }

func tell(n note) error {
	child.mu.Lock()
	defer child.mu.Unlock()
	if child.pipe == nil {
		return nil
	}
	return json.NewEncoder(child.pipe).Encode(n)
}

// without returns an environment without the marker.
func without(environment []string) (others []string) {
	for _, variable := range environment {
		if !strings.HasPrefix(variable, marker+"=") {
			others = append(others, variable)
		}
	}
	return others
}
