// Command ringleader elects one leader among processes, and shows, counts and proves how elections go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"ringleader.example/ringleader/internal/cli"
)

//go:generate go run . run lcr --ids 5,4,3,2,1 --draw ../../docs/lcr.svg
//go:generate go run . reproduce --markdown --out ../../docs/reproduction.md

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}
