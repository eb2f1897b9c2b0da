// Command ringleader elects one leader among processes, and shows, counts and proves how elections go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/internal/cli"
)

//go:generate go run . run lcr --ids 5,4,3,2,1 --draw ../../docs/lcr.svg
//go:generate go run . run hirschberg-sinclair --ids 5,3,4,2,1 --draw ../../docs/hirschberg-sinclair.svg
//go:generate go run . compare lcr hirschberg-sinclair franklin peterson higham-przytycka --n 8..1024 --orders 20 --draw ../../docs/n-log-n.svg
//go:generate go run . compare lcr peterson stop-and-go-p1 stop-and-go-p2 variable-speeds known-size --n 64 --orders 20 --against time --draw ../../docs/trade-offs.svg
//go:generate go run . run stop-and-go-p1 --ids 3,1,4,2,5 --draw ../../docs/stop-and-go.svg
//go:generate go run . run --scenario s2-figures-2.7-2.8 --draw ../../docs/bully.svg
//go:generate go run . reproduce --markdown --out ../../docs/reproduction.md

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // whoever does not want to wait for a clean end signals again
	code := cli.Run(ctx, all.Algorithms, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}
