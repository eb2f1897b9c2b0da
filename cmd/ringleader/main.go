// Command ringleader elects one leader among processes, and shows, counts and proves how elections go.
package main

import "ringleader.example/ringleader/workbench"

//go:generate go run . run lcr --ids 5,4,3,2,1 --draw ../../docs/lcr.svg
//go:generate go run . run hirschberg-sinclair --ids 5,3,4,2,1 --draw ../../docs/hirschberg-sinclair.svg
//go:generate go run . compare lcr hirschberg-sinclair franklin peterson higham-przytycka --n 8..1024 --orders 20 --draw ../../docs/n-log-n.svg
//go:generate go run . compare lcr peterson stop-and-go-p1 stop-and-go-p2 variable-speeds known-size --n 64 --orders 20 --against time --draw ../../docs/trade-offs.svg
//go:generate go run . run stop-and-go-p1 --ids 3,1,4,2,5 --draw ../../docs/stop-and-go.svg
//go:generate go run . run --scenario s2-figures-2.7-2.8 --draw ../../docs/bully.svg
//go:generate go run . reproduce --markdown --out ../../docs/reproduction.md

func main() { workbench.Main() }
