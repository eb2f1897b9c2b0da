package cli

import (
	"fmt"
	"strings"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
)

// given reads the faults that are given by flags.
func (o *runOptions) given(i election.Instance) (simulate.Faults, error) {
	r := simulate.ReadFaults(i.IDs)
	line := func(flag, line string) error {
		if err := r.Line(line); err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
		return nil
	}
	if o.dead != "" {
		if err := line("--dead", "dead "+o.dead); err != nil {
			return r.Faults, err
		}
	}
	for _, f := range []struct {
		flag, verb string
		list       []string
	}{{"--crash", "crash", o.crash}, {"--recover", "recover", o.recover}} {
		for _, text := range f.list {
			at := strings.LastIndexByte(text, '@')
			if at < 0 {
				return r.Faults, fmt.Errorf("%s: %.40q is not ID@TIME, such as 5@30", f.flag, text)
			}
			if err := line(f.flag, f.verb+" "+text[:at]+" at "+text[at+1:]); err != nil {
				return r.Faults, err
			}
		}
	}
	var err error
	if r.Faults.Lose, err = simulate.ParseChance(o.lose); err != nil {
		return r.Faults, fmt.Errorf("--lose: %w", err)
	}
	if r.Faults.Duplicate, err = simulate.ParseChance(o.duplicate); err != nil {
		return r.Faults, fmt.Errorf("--duplicate: %w", err)
	}
	r.Faults.Unordered = o.unordered
	return r.Faults, nil
}
