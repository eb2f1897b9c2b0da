package simulate_test

import (
	"fmt"
	"testing"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/algorithms/ringbully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
)

func TestX(t *testing.T) {
	r, err := simulate.Run(lcr.Algorithm, simulate.Options{Instance: election.On(5, 4, 3, 2, 1), Record: true})
	fmt.Printf("%+v %v %v\n", r, r.Time, err)
	r, err = simulate.Run(ringbully.Algorithm, simulate.Options{Instance: election.On(1, 5, 3, 7, 2, 6, 4, 8), Schedule: simulate.Random})
	fmt.Printf("%+v %v %v\n", r, r.Time, err)
	r, err = simulate.Run(bully.Algorithm, simulate.Options{Instance: election.On(1, 2, 3, 4, 5, 6, 7), Initiators: []int{3}, Dead: []int{6}})
	fmt.Printf("%+v %v %v\n", r, r.Time, err)
	big := make([]uint64, 1<<20)
	for i := range big {
		big[i] = uint64(i*7919) % uint64(len(big)) * 3
	}
	r, err = simulate.Run(ringbully.Algorithm, simulate.Options{Instance: election.On(big...)})
	fmt.Printf("%+v %v %v %v\n", r.Messages, r.Time, err, float64(r.Bytes)/float64(len(big)))
}
