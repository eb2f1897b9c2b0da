package election

import (
	"strings"
	"testing"
)

// A step that sends or decides in a loop without end stops before it has taken all memory.
func TestAStepWithTooManyEffectsPanics(t *testing.T) {
	const most = 1 << 22
	for what, loop := range map[string]func(*Out[struct{}]){
		"messages":      func(out *Out[struct{}]) { out.Send(0, 0, struct{}{}) },
		"other effects": func(out *Out[struct{}]) { out.NoLeader() },
	} {
		func() {
			defer func() {
				err, is := recover().(error)
				if !is || !strings.Contains(err.Error(), "more than 4194304 "+what) {
					t.Errorf("a loop of %s ends with %v", what, err)
				}
			}()
			out := &Out[struct{}]{sent: make([]Sent[struct{}], most-1, most), effects: make([]Effect, most-1, most)} // room for one more
			for {
				loop(out)
			}
		}()
	}
}
