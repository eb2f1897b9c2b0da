// Package transporttest has two networks in memory, for tests in synctest bubbles.
//
// [LAN] carries bytes, as TCP does: give its listeners and dialers to a transport.TCP. It separates addresses and single
// links, resets connections, and stops members as SIGSTOP does.
//
// [Exchange] carries frames, and is a transport itself. A test scripts them one by one:
//
//	e := transporttest.NewExchange()
//	// … members join with Transport: e.Open …
//	e.Hold(func(f transporttest.Frame) bool { return f.From == 3 && f.What == transporttest.Message })
//	// … 3 sends something …
//	for i, f := range e.Held() {
//		fmt.Println(i, f.From, f.To, f.Kind)
//	}
//	e.Deliver(1) // the second before the first
//	e.Deliver(0)
package transporttest
