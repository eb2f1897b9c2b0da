package labour

import (
	"context"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/show/report"
)

// Server has no flags: a page computes on its own machine.
type Server struct{}

// Define adds none.
func (*Server) Define(*cobra.Command, *report.Printer) {}

// Asked is false.
func (*Server) Asked() bool { return false }

// Check finds nothing.
func (*Server) Check() error { return nil }

func (*Server) hired(context.Context, *report.Printer, func(string)) (crew, error) { return nil, nil }
