package program_test

import (
	"fmt"
	"log"
	"testing"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/verify"
)

// One value runs on two engines.
func Example() {
	p := program.Must(program.Of(&lcr.Algorithm))
	result, err := simulate.New(p).Run(simulate.Options{Setup: network.On(3, 2, 1)})
	if err != nil {
		log.Fatal(err)
	}
	report, err := verify.Program(p, verify.Options{Size: 3})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Declared().Name, result.Messages.Total, report.Complete)
	// Output: lcr 9 true
}

type foreign struct{}

func (foreign) Declared() *election.Declaration { return &lcr.Algorithm.Declaration }

func TestAProgramOfAnotherModuleIsRefused(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an engine takes it")
		}
	}()
	simulate.New(foreign{})
}
