package verify_test

import (
	"fmt"

	"ringleader.example/ringleader/algorithms/lcr"
	"ringleader.example/ringleader/verify"
)

func ExampleRun() {
	report, err := verify.Run(lcr.Algorithm, verify.Options{Size: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Orders, "orders,", report.States, "states, complete:", report.Complete)
	fmt.Println("violation:", report.Violation)
	fmt.Println("election messages:", report.MinMessages.Election, "to", report.MaxMessages.Election)
	// Output:
	// 6 orders, 233 states, complete: true
	// violation: <nil>
	// election messages: 7 to 10
}
