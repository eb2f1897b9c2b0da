// Package transporttest has two networks in memory, for tests in synctest bubbles, and a name server.
//
// [LAN] carries bytes, as TCP does: give its listeners and dialers to a transport.TCP, with TLS or with Insecure. It
// separates addresses and single links, resets connections, and stops members as SIGSTOP does.
//
// [Exchange] carries frames, and is a transport itself. A test scripts them one by one:
//
//	e := transporttest.NewExchange()
//	// … members join with Transport: e.Open …
//	e.Hold(func(f transporttest.Frame) bool { return f.From == 3 && f.What == transporttest.Message })
//	// … 3 sends something …
//	for i, f := range e.Held() {
//		fmt.Println(i, f.From, f.To, f.Kind, f.Slot, f.Payload)
//	}
//	e.Duplicate(1) // a copy of the second is the third
//	e.Deliver(1)   // the second before the first
//	e.Deliver(0)
//	e.Drop(0) // the copy
//
// What such a function for Hold selects is a fault:
//
//   - Some messages: they are late, and arrive in any order.
//   - All frames between two members, in one direction or both: the link is cut. Heartbeats are then lost, so the
//     receiver's connection ends after its suspicion timeout, and attempts to connect fail after that of the dialer.
//   - All frames from and to a member: it is cut off.
//
// After the fault, the test calls Hold(nil), and delivers or drops what is held.
//
// This package is v0: its API may change with any version.
package transporttest
