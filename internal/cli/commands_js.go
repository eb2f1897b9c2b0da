package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/study/experiment"
)

// commands are those of the lab: a page has no processes, files and connections.
func (p *program) commands() []*cobra.Command {
	return []*cobra.Command{p.run(), p.count(), p.compare(), p.verify(), p.worst()}
}

// overOptions has no flags: a page makes no connections.
type overOptions struct{ over string }

// flags adds none.
func (*overOptions) flags(*cobra.Command) {}

func (*runOptions) planOver(*program, *cobra.Command, *catalogue.Entry) (study, error) {
	return nil, errors.New("a page makes no connections")
}

func (o *compareOptions) readFile(*program) (*experiment.Study, error) {
	return nil, errors.New("a page reads no files")
}

// distribution has no flags: a page computes on its own machine.
type distribution struct{}

// flags adds none.
func (*distribution) flags(*cobra.Command, *program) {}

func (*distribution) asked() bool { return false }

func (*distribution) check() error { return nil }

func (*distribution) hired(context.Context, *program, func(string)) (crew, error) { return nil, nil }
