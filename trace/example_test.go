package trace_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"ringleader.example/ringleader/trace"
)

// Two processes on a ring. An engine fills such a record; here it is written by hand.
func Example() {
	r := trace.Record{
		Header: trace.Header{
			Format: trace.Format, Algorithm: "lcr", Title: "LCR", Topology: "ring", N: 2, IDs: []uint64{7, 9}, Timing: "asynchronous",
			Kinds: []trace.Kind{{Name: "election", Class: "election"}, {Name: "leader", Class: "announcement"}},
		},
		Steps: []trace.Step{
			{Number: 1, Process: 1, Event: trace.Start, Port: -1, Sent: []trace.Sent{{Message: 1, To: 0, Kind: "election", Text: "9"}}},
			{
				Number: 2, Process: 0, Event: trace.Receive, Message: 1, From: 2, Port: 1, Kind: "election", Text: "9",
				Sent: []trace.Sent{{Message: 2, To: 1, Kind: "election", Text: "9"}},
			},
			{
				Number: 3, Process: 1, Event: trace.Receive, Message: 2, From: 1, Port: 1, Kind: "election", Text: "9",
				Sent: []trace.Sent{{Message: 3, To: 0, Kind: "leader", Text: "9"}},
			},
			{
				Number: 4, Process: 0, Event: trace.Receive, Message: 3, From: 2, Port: 1, Kind: "leader", Text: "9",
				Sent:    []trace.Sent{{Message: 4, To: 1, Kind: "leader", Text: "9"}},
				Decided: []trace.Decision{{Role: "follower", Leader: new(uint64(9))}},
			},
			{
				Number: 5, Process: 1, Event: trace.Receive, Message: 4, From: 1, Port: 1, Kind: "leader", Text: "9",
				Decided: []trace.Decision{{Role: "leader", Leader: new(uint64(9))}},
			},
		},
	}
	if err := r.Story(os.Stdout); err != nil {
		log.Fatal(err)
	}

	var file bytes.Buffer
	if _, err := r.WriteTo(&file); err != nil {
		log.Fatal(err)
	}
	again, err := trace.Read(&file)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(again.Steps), "steps read")
	// Output:
	// 1  9  initiates                      sends ⟨election 9⟩ to 7
	// 2  7  receives ⟨election 9⟩ from 9   sends ⟨election 9⟩ to 9
	// 3  9  receives ⟨election 9⟩ from 7   sends ⟨leader 9⟩ to 7
	// 4  7  receives ⟨leader 9⟩ from 9     sends ⟨leader 9⟩ to 9; follower of 9
	// 5  9  receives ⟨leader 9⟩ from 7     LEADER
	// 5 steps read
}
