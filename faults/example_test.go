package faults_test

import (
	"fmt"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/faults"
	"ringleader.example/ringleader/network"
)

func Example() {
	setup := network.On(1, 2, 3)
	p, err := network.Prepare(&bully.Algorithm.Declaration, setup)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := faults.NewReader(setup.IDs)
	for _, line := range []string{"crash 3 at 30 after 1 send", "recover 3 at 80", "partition 1 | others until 9", "crush 2"} {
		if err := r.Line(line); err != nil {
			fmt.Println(err)
		}
	}
	for _, line := range r.Script.Lines(p) {
		fmt.Println(line)
	}
	r.Script.Recoveries = nil
	r.Script.Crashes = append(r.Script.Crashes, faults.Crash{Process: 2, At: r.Script.Last()})
	fmt.Println(r.Script.Check(p, true))
	// Output:
	// no fault begins with "crush"; choose one of dead, crash, recover, partition, cut, slow, pause, suspect, drift, lose, duplicate, reorder, random
	// crash 3 at 30 after 1 send
	// recover 3 at 80
	// partition 1 | 2,3 from 0 until 9
	// crash 3 at 30: process 3 is down then; it can crash again once it has recovered
}
