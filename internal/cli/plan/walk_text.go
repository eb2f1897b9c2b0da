package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/simulate"
)

// The text of a walk has its events one after the other, without a space: s0s1d1.0d2.1.2. An event is its letter; its numbers, of which
// zeros at the end are left out; _ and its random choices, if it made any; - and one more than the number of messages after which the
// process crashes, if it crashes amid the event; and in parentheses a cut, with _ for a space, or the state of a process that recovers. The addresses of the lab and run --walk
// have it.

// walkField is a number of an event.
type walkField struct {
	get func(*SavedChoice) string
	set func(*SavedChoice, string) error
}

// numbered is the field for a number of any unsigned type.
func numbered[T ~uint8 | ~uint32 | ~uint64](place func(*SavedChoice) *T) walkField {
	return walkField{
		func(c *SavedChoice) string { return strconv.FormatUint(uint64(*place(c)), 10) },
		func(c *SavedChoice, text string) error {
			value, err := strconv.ParseUint(text, 10, 64)
			if *place(c) = T(value); err == nil && uint64(T(value)) != value {
				err = strconv.ErrRange
			}
			return err
		},
	}
}

// placed is the field for a position.
func placed(place func(*SavedChoice) *int) walkField {
	return walkField{
		func(c *SavedChoice) string { return strconv.Itoa(*place(c)) },
		func(c *SavedChoice, text string) (err error) { *place(c), err = strconv.Atoi(text); return err },
	}
}

// The fields of events.
var (
	walkProcess = placed(func(c *SavedChoice) *int { return &c.Process })
	walkLink    = numbered(func(c *SavedChoice) *uint32 { return &c.Link })
	walkPlace   = placed(func(c *SavedChoice) *int { return &c.Place })
	walkTimer   = numbered(func(c *SavedChoice) *election.Timer { return &c.Timer })
	walkMember  = numbered(func(c *SavedChoice) *election.ID { return &c.Member })
	walkNumber  = numbered(func(c *SavedChoice) *uint64 { return &c.Number })
	walkLife    = numbered(func(c *SavedChoice) *uint64 { return &c.Life })
	walkDraw    = numbered(func(c *SavedChoice) *uint64 { return &c.Draw })
	walkDies    = placed(func(c *SavedChoice) *int { return &c.Dies })
	walkTime    = walkField{
		func(c *SavedChoice) string { return c.Time.String() },
		func(c *SavedChoice, text string) error { return c.Time.UnmarshalJSON([]byte(text)) },
	}
)

// walkKind is a kind of event, and how the text of a walk writes it.
type walkKind struct {
	letter      byte
	what, order string
	fields      []walkField
}

var (
	ofProcess = []walkField{walkProcess}
	ofMessage = []walkField{walkProcess, walkLink, walkPlace}
	ofPair    = []walkField{walkProcess, walkLink}
	ofCommand = []walkField{walkProcess, walkMember, walkNumber}
)

// walkKinds are all kinds of events. Letters stay as they are: addresses and commands of earlier versions have them.
var walkKinds = []walkKind{
	{'s', "start", "", ofProcess},
	{'d', "deliver", "", ofMessage},
	{'e', "expire", "", []walkField{walkProcess, walkTimer}},
	{'p', "pass", "", []walkField{walkTime}},
	{'w', "stop", "", ofProcess},
	{'f', "crash", "", ofProcess},
	{'r', "recover", "", []walkField{walkProcess, walkLife}},
	{'l', "lose", "", ofMessage},
	{'u', "duplicate", "", ofMessage},
	{'x', "suspect", "", ofPair},
	{'t', "trust", "", ofPair},
	{'q', "resign", "", ofProcess},
	{'c', "cut", "", ofProcess},
	{'h', "heal", "", ofProcess},
	{'n', "hasten", "", ofProcess},
	{'m', "command", "transfer", ofCommand},
	{'g', "command", "weigh", ofCommand},
	{'k', "command", "died", ofCommand},
	{'o', "command", "confirm", ofCommand},
	{'i', "command", "enlist", ofCommand},
	{'j', "command", "dismiss", ofCommand},
	{'a', "gain", "", []walkField{walkProcess, walkTime}},
}

// Text returns the event as the text of a walk has it.
func (c SavedChoice) Text() string {
	at := slices.IndexFunc(walkKinds, func(k walkKind) bool { return k.what == c.What && k.order == c.Order })
	if at < 0 {
		return ""
	}
	kind := &walkKinds[at]
	numbers := make([]string, 0, len(ofMessage))
	for _, f := range kind.fields {
		numbers = append(numbers, f.get(&c))
	}
	for len(numbers) > 1 && numbers[len(numbers)-1] == "0" {
		numbers = numbers[:len(numbers)-1]
	}
	text := string(kind.letter) + strings.Join(numbers, ".")
	if c.Draw > 0 {
		text += "_" + walkDraw.get(&c)
	}
	if c.Dies > 0 {
		text += "-" + walkDies.get(&c)
	}
	if c.State != "" {
		text += "(" + c.State + ")"
	}
	if c.Cut != "" {
		text += "(" + strings.ReplaceAll(c.Cut, " ", "_") + ")"
	}
	return text
}

// walkEvent matches an event in the text of a walk: its letter, numbers, random choices, crash and cut.
const walkEvent = `^([a-z])([0-9.]*)(?:_([0-9]+))?(?:-([0-9]+))?(?:\(([^()]*)\))?`

// ReadWalk reads the text of a walk.
func ReadWalk(text string) ([]SavedChoice, error) {
	all, event := []SavedChoice{}, regexp.MustCompile(walkEvent)
	for rest := text; rest != ""; {
		parts := event.FindStringSubmatch(rest)
		if parts == nil {
			return nil, fmt.Errorf("%s is no event of a walk, such as d1.0; the address or command may be cut off", option.Excerpt(rest))
		}
		c, err := readChoice(parts)
		if err != nil {
			return nil, fmt.Errorf("event %d of the walk, %s: %w", len(all)+1, option.Excerpt(parts[0]), err)
		}
		all, rest = append(all, c), rest[len(parts[0]):]
	}
	return all, nil
}

// readChoice reads an event from what [walkEvent] has matched.
func readChoice(parts []string) (c SavedChoice, err error) {
	at := slices.IndexFunc(walkKinds, func(k walkKind) bool { return k.letter == parts[1][0] })
	if at < 0 {
		return c, fmt.Errorf("there is no kind of event %s", parts[1])
	}
	kind := &walkKinds[at]
	c = SavedChoice{What: kind.what, Order: kind.order}
	if kind.what == simulate.Revive.String() {
		c.State = parts[5]
	} else {
		c.Cut = strings.ReplaceAll(parts[5], "_", " ")
	}
	numbers := strings.Split(parts[2], ".")
	if len(numbers) > len(kind.fields) {
		return c, fmt.Errorf("it has %s, and %s has at most %d", amount.Of(len(numbers), "number"), kind.what, len(kind.fields))
	}
	for i, number := range numbers {
		if err := kind.fields[i].set(&c, number); err != nil {
			return c, fmt.Errorf("%q is not a number that it can have", number)
		}
	}
	if parts[3] != "" {
		err = walkDraw.set(&c, parts[3])
	}
	if parts[4] != "" {
		err = errors.Join(err, walkDies.set(&c, parts[4]))
	}
	return c, err
}

// WalkText returns the text of a walk.
func WalkText(choices []SavedChoice) string {
	var b strings.Builder
	for _, c := range choices {
		b.WriteString(c.Text())
	}
	return b.String()
}

// UnmarshalJSON reads an event as a saved file has it, or as its text.
func (c *SavedChoice) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		all, err := ReadWalk(text)
		if err == nil && len(all) != 1 {
			err = fmt.Errorf("%s is not one event of a walk", option.Excerpt(text))
		}
		if err == nil {
			*c = all[0]
		}
		return err
	}
	type plain SavedChoice
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode((*plain)(c))
}

// Walked are the events of a walk, each as its text: the page hands them back.
type Walked []SavedChoice

// MarshalJSON writes a list of texts.
func (w Walked) MarshalJSON() ([]byte, error) {
	texts := make([]string, len(w))
	for i, c := range w {
		texts[i] = c.Text()
	}
	return json.Marshal(texts)
}
