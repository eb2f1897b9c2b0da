package plan

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/simulate"
)

// SavedRun is a run in a file: the version that saved it, and the call, with all that it read from other
// files. A call means the same run in every later version.
type SavedRun struct {
	Ringleader string   `json:"ringleader"`
	Run        []string `json:"run"` // the algorithm, and flags as --name=value

	Choices []SavedChoice `json:"choices,omitempty"` // the events of a run that was walked with --step
}

// SavedChoice is an event of a walk in a file.
type SavedChoice struct {
	What    string         `json:"what"`
	Process int            `json:"process"`
	Link    uint32         `json:"link,omitempty"`
	Place   int            `json:"place,omitempty"`
	Timer   election.Timer `json:"timer,omitempty"`
	Time    election.Ticks `json:"time"`
	Cut     string         `json:"cut,omitempty"`
	Order   string         `json:"order,omitempty"`  // of a command; then Member is a rank among the processes, from 1
	Member  election.ID    `json:"member,omitempty"` // of a transfer or a proof of death
	Number  uint64         `json:"number,omitempty"` // a weight, or an incarnation
	State   string         `json:"state,omitempty"`  // in which a process of a recorded run recovers, in base64 for addresses
	Life    uint64         `json:"life,omitempty"`   // … and the number of that life
	Draw    uint64         `json:"draw,omitempty"`
	Dies    int            `json:"dies,omitempty"`
}

// savedOrders are the words for the commands of saved choices.
var savedOrders = map[election.Order]string{
	election.Transfer: "transfer", election.Weigh: "weigh", election.Died: "died",
	election.Confirm: "confirm", election.Enlist: "enlist", election.Dismiss: "dismiss",
}

// SavedChoiceOf returns an event for a file.
func SavedChoiceOf(c simulate.Choice) SavedChoice {
	saved := SavedChoice{
		What: c.What.String(), Process: c.Process, Link: c.Link, Place: c.Place, Timer: c.Timer, Time: c.Time,
		Cut: c.Cut, Member: c.Command.Member, Number: c.Command.Number, Draw: c.Draw, Dies: c.Dies,
		Life: c.Life,
	}
	saved.State = base64.RawURLEncoding.EncodeToString([]byte(c.State))
	if c.What == simulate.Ask {
		saved.Order = savedOrders[c.Command.Order]
	}
	return saved
}

// Choice returns the saved event; an unknown one cannot happen.
func (c SavedChoice) Choice() simulate.Choice {
	command := election.Command{Member: c.Member, Number: c.Number}
	for order, word := range savedOrders {
		if word == c.Order {
			command.Order = order
		}
	}
	state, err := base64.RawURLEncoding.DecodeString(c.State)
	for what := simulate.Begin; err == nil && what <= simulate.Gain; what++ {
		if what.String() == c.What {
			return simulate.Choice{
				What: what, Process: c.Process, Link: c.Link, Place: c.Place, Timer: c.Timer, Time: c.Time, Cut: c.Cut, Command: command, Draw: c.Draw, Dies: c.Dies,
				State: string(state), Life: c.Life,
			}
		}
	}
	return simulate.Choice{Process: -1}
}

// SavedChoices returns the events of a session, for a file.
func SavedChoices(s *simulate.Session) []SavedChoice {
	return Saved(s.Made())
}

// Saved returns events for a file.
func Saved(made []simulate.Choice) []SavedChoice {
	all := []SavedChoice{}
	for _, c := range made {
		all = append(all, SavedChoiceOf(c))
	}
	return all
}

// SaveRecorded writes a run that begins at a moment. Its events are texts, which the page of the lab hands on as they are.
func SaveRecorded(w io.Writer, algorithm string, o *simulate.Options, made []simulate.Choice) error {
	version, _ := Built()
	line, err := report.PlainJSON(struct {
		Ringleader string   `json:"ringleader"`
		Run        []string `json:"run"`
		Choices    Walked   `json:"choices"`
	}{version, RecordedWords(algorithm, o), Saved(made)})
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// RecordedWords returns the words of a run that begins at a moment.
func RecordedWords(algorithm string, o *simulate.Options) []string {
	list := func(n int, at func(i int) uint64) string { return report.Commas(n, at) }
	words := []string{algorithm, "--begins=" + MomentText(o.Moment), "--ids=" + list(o.Setup.IDs.Len(), o.Setup.IDs.At), "--start=any", "--lazy=true", fmt.Sprintf("--pace=%d", max(1, o.Pace))}
	if o.Setup.Priorities != nil {
		words = append(words, "--priorities="+list(len(o.Setup.Priorities), func(i int) uint64 { return uint64(o.Setup.Priorities[i]) }))
	}
	for _, name := range slices.Sorted(maps.Keys(o.Setup.Parameters)) {
		words = append(words, "--param="+name+"="+o.Setup.Parameters[name])
	}
	if o.Wardens {
		words = append(words, "--wardens=true")
	}
	if o.Faults.Unordered {
		words = append(words, "--non-fifo=true")
	}
	return words
}

// Unsaved are the flags of run that are not part of the run itself: where results go, and what it reads
// from other files, which is saved instead. So replaying another person's file reads and writes no other file.
var Unsaved = slices.Concat([]string{"step", "walk", "save", "scenario", "over", "unit", "faults", "scores", "help"}, ResultNames, StoryNames)

// Words returns the given flags, as --name=value, except those in without.
func Words(flags *pflag.FlagSet, without []string) []string {
	var all []string
	flags.Visit(func(f *pflag.Flag) {
		if slices.Contains(without, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			all = append(all, "--"+f.Name+"="+value)
		}
	})
	return all
}

// Put writes a saved run.
func (s SavedRun) Put(w io.Writer) error {
	line, err := report.PlainJSON(s)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// Check returns an error for words that are not the algorithm and then known flags of a run, none of which names a file.
func (s *SavedRun) Check(known *pflag.FlagSet) error {
	if len(s.Run) == 0 {
		return errors.New(`it has no "run": the algorithm, and flags as --name=value`)
	}
	for _, word := range s.Run[1:] {
		name, value, found := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if _, err := numbers(value); name == "votes" && err != nil { // else it would name a file
			return fmt.Errorf("--votes: %w", err)
		}
		if !found || !strings.HasPrefix(word, "--") || known.Lookup(name) == nil || slices.Contains(Unsaved, name) {
			return fmt.Errorf("%.40q is not a --name=value of a run", word)
		}
	}
	for i, c := range s.Choices {
		if err := c.check(); err != nil {
			return fmt.Errorf("event %d of the walk: %w", i+1, err)
		}
	}
	return nil
}

// check returns an error if there is no such event: an unknown word would be taken for another one.
func (c SavedChoice) check() error {
	if c.Order != "" && !slices.Contains(slices.Collect(maps.Values(savedOrders)), c.Order) {
		return fmt.Errorf("there is no order %.40q", c.Order)
	}
	if _, err := base64.RawURLEncoding.DecodeString(c.State); err != nil {
		return fmt.Errorf("its state is no base64 of addresses: %.40q", c.State)
	}
	for what := simulate.Begin; what <= simulate.Gain; what++ {
		if what.String() == c.What {
			return nil
		}
	}
	return fmt.Errorf("there is no kind of event %.40q", c.What)
}
