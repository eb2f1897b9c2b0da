package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/study/experiment"
)

// commands are those of the lab: a page has no processes, files and connections.
func (p *program) commands() []*cobra.Command {
	return []*cobra.Command{p.run(), p.countCommand().Command, p.compareCommand().Command, p.verifyCommand().Command, p.worstCommand().Command}
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
