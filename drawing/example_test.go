package drawing_test

import (
	"bytes"
	"fmt"
	"log"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// A run of LCR on a ring of three is drawn as a space–time diagram.
func Example() {
	result, err := simulate.Run(lcr.Algorithm, simulate.Options{Setup: network.On(3, 2, 1), Record: true})
	if err != nil {
		log.Fatal(err)
	}
	d, err := drawing.Diagram(result.Record, trace.Window{})
	if err != nil {
		log.Fatal(err)
	}
	var svg bytes.Buffer
	if err := d.SVG(&svg); err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Title)
	// Output: LCR (LeLann, Chang, Roberts): space–time diagram
}
