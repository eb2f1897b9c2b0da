package run

import (
	"errors"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/internal/cli/plan"
)

// overOptions has no flags: a page makes no connections.
type overOptions struct{ over string }

// flags adds none.
func (*overOptions) flags(*cobra.Command) {}

func (*Options) planOver(*plan.Program, *cobra.Command, *catalogue.Entry) (plan.Study, error) {
	return nil, errors.New("a page makes no connections")
}
