package simulate_test

import (
	"testing"

	"ringleader.example/ringleader/algorithms/logicalring"
	"ringleader.example/ringleader/internal/core/codec"
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

func TestTheValuesOfARecordAreWhatItsTextsTell(t *testing.T) {
	runner := simulate.New(small(logicalring.Algorithm))
	plans := process.Opened(runner.Program()).Plans
	o := simulate.Options{Setup: network.On(10, 20, 30, 40), Record: true, Values: true}
	r, err := runner.Run(o)
	if err != nil {
		t.Fatal(err)
	}
	message := func(v trace.Value, kind string) string {
		m := v.Is.(logicalring.Message)
		return plans.Message.MessageText(codec.At(&m), kind, v.RealOf)
	}
	received := 0
	for i := range r.Record.Steps {
		s := &r.Record.Steps[i]
		state := s.StateValue.Is.(logicalring.Process)
		if text := plans.State.Text(codec.At(&state), s.Time, s.StateValue.RealOf); text != s.State {
			t.Errorf("step %d: the state is %s, and its text %s", s.Number, text, s.State)
		}
		if s.Event == trace.Receive {
			received++
			if text := message(s.MessageValue, s.Kind); text != s.Text {
				t.Errorf("step %d: receives %s, and its text is %s", s.Number, text, s.Text)
			}
		}
		for _, sent := range s.Sent {
			if text := message(sent.Value, sent.Kind); text != sent.Text {
				t.Errorf("step %d: sends %s, and its text is %s", s.Number, text, sent.Text)
			}
		}
	}
	if received == 0 {
		t.Error("nothing is received")
	}
	o.Values = false
	if r, err = runner.Run(o); err != nil || r.Record.Steps[0].StateValue.Is != nil || r.Record.Steps[0].Sent[0].Value.Is != nil {
		t.Errorf("values are recorded unasked; %v", err)
	}
}
