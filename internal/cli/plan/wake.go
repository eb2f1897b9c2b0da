package plan

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/network"
)

// Waking holds the participants of a synchronous election, and when they wake.
type Waking struct {
	Wake      string
	unwilling string
}

// Flags adds the flags.
func (w *Waking) Flags(command *cobra.Command) {
	command.Flags().StringVar(&w.Wake, "wake", "", "in a synchronous run, the time at which each position wakes: T,T,-,… (-: only by a message)")
	w.FlagUnwilling(command)
}

// FlagUnwilling adds the flag of unwilling processes alone.
func (w *Waking) FlagUnwilling(command *cobra.Command) {
	command.Flags().StringVar(&w.unwilling, "unwilling", "", "ID,…: unwilling processes (S5): not candidates if a message wakes them, or if all initiate at time 0")
}

// AtAnyTime sets a parameter that lets processes start at any time, if a flag asks for that and no parameter is given
// that sets when they do.
func (w *Waking) AtAnyTime(d *election.Declaration, start string, given map[string]string) {
	if d.Starts != election.Together || w.Wake == "" && w.unwilling == "" && (start == "" || start == "all") {
		return
	}
	for _, parameter := range d.Parameters {
		p, isChoice := parameter.(*election.Choice)
		if _, isGiven := given[parameter.String()]; isGiven || !isChoice {
			continue
		}
		for _, word := range p.Words {
			if set, err := d.Set(map[string]string{p.Name: word}); err == nil && d.With(set).Starts == election.AnyStart {
				given[p.Name] = word
				return
			}
		}
	}
}

// StartWord returns the results' text for the initiators: that of --start, unless --wake is given.
func (w *Waking) StartWord(start string) string {
	if w.Wake != "" {
		return "wake"
	}
	return start
}

// WakeUps reads when each of n positions wakes by itself; nil: determined by --start.
func (w *Waking) WakeUps(start string, n int) ([]election.Ticks, error) {
	switch {
	case w.Wake == "":
		return nil, nil
	case start != "":
		return nil, errors.New("--wake gives the initiators and their times; leave out --start")
	}
	texts := strings.Split(w.Wake, ",")
	if len(texts) != n {
		return nil, fmt.Errorf("--wake has a time or - for each of the %s, not for %d", amount.Of(n, "position"), len(texts))
	}
	times := make([]election.Ticks, n)
	for q, text := range texts {
		var ok bool
		if times[q], ok = wakeUp(strings.TrimSpace(text)); !ok {
			return nil, fmt.Errorf("--wake: %q is not a time to wake; it is a whole number of units from 0 to 2^128 - 2, or - for only by a message", text)
		}
	}
	return times, nil
}

func wakeUp(text string) (at election.Ticks, ok bool) {
	if text == "-" {
		return election.Forever, true
	}
	const most = 39 // digits of 2^128 - 1
	if text == "" || len(text) > most || strings.Trim(text, "0123456789") != "" {
		return at, false
	}
	number, _ := new(big.Int).SetString(text, 10)
	at, ok = election.TicksOf(number)
	return at, ok && at != election.Forever
}

// Reluctant adds the unwilling processes to a setup.
func (w *Waking) Reluctant(e *catalogue.Entry, i *network.Setup) (err error) {
	if w.unwilling == "" {
		return nil
	}
	if !e.Willingness {
		return fmt.Errorf("%s has no unwilling processes; --unwilling is for %s", e.Name,
			strings.Join(e.List().Where(func(e *catalogue.Entry) bool { return e.Willingness }), ", "))
	}
	if i.Unwilling, err = positions(*i, w.unwilling); err != nil {
		return fmt.Errorf("--unwilling: %w", err)
	}
	return nil
}

// Woken returns the arrangement of a counted election, and how it begins.
func (w *Waking) Woken(e *catalogue.Entry, d *election.Declaration, i network.Setup) (ids election.Arrangement, how string, err error) {
	if w.Wake == "" && w.unwilling == "" {
		return i.IDs, "all processes initiate", nil
	}
	together := d.Starts == election.Together
	if d.Timing != election.Synchronous || together && (w.Wake != "" || !d.Willingness) {
		return nil, "", fmt.Errorf("--wake and --unwilling are for synchronous algorithms whose processes may initiate at different times; %s is not one", d.Name)
	}
	if err := w.Reluctant(e, &i); err != nil {
		return nil, "", err
	}
	if _, err := network.Prepare(d, i); err != nil {
		return nil, "", err
	}
	n := i.IDs.Len()
	if together {
		return count.Woken{Arrangement: i.IDs, Wake: make([]election.Ticks, n), Unwilling: i.Unwilling}, "all processes initiate", nil
	}
	times, err := w.WakeUps("", n)
	if err != nil {
		return nil, "", err
	}
	if times == nil { // an unwilling process does not begin
		times = make([]election.Ticks, n)
		for _, q := range i.Unwilling {
			times[q] = election.Forever
		}
	}
	starters := 0
	for _, at := range times {
		if at != election.Forever {
			starters++
		}
	}
	if starters == 0 && w.Wake == "" {
		return nil, "", errors.New("--unwilling: no process is willing to lead; at least one must be")
	}
	if starters == 0 {
		return nil, "", errors.New("--wake: no process wakes spontaneously; at least one must")
	}
	return count.Woken{Arrangement: i.IDs, Wake: times, Unwilling: i.Unwilling}, fmt.Sprintf("%d of %d wake spontaneously", starters, n), nil
}
