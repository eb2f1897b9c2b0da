package transport_test

import (
	"fmt"

	"ringleader.example/ringleader/transport"
)

func ExampleMemberName() {
	fmt.Println(transport.MemberName("payments", 3))
	fmt.Println(transport.MemberName("payments/eu west", 3))
	// Output:
	// ringleader:payments/3
	// ringleader:payments%2Feu%20west/3
}

func ExampleAppendFrame() {
	key, message := []byte("group 17"), []byte("a message")
	frame := transport.AppendFrame(nil, 2, key, message)
	kind, payload := transport.SplitFrame(frame)
	fmt.Printf("%d %s\n", kind, payload)
	// Output: 2 group 17a message
}
