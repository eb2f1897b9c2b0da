package bully

import (
	bullying "ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/study/reproduce"
	"ringleader.example/ringleader/simulate"
)

// The kinds of messages.
const (
	Election    = bullying.Election
	Answer      = bullying.Answer
	Coordinator = bullying.Coordinator
)

// Variant runs Bully after a change of its state machine. It mentions none of its types, so that a change in Bully compiles
// this package, and none that uses it.
type Variant func(simulate.Options) *simulate.Result

// machine is Bully's state machine.
type machine = election.Algorithm[bullying.Process, bullying.Message]

func changed(change func(*machine)) Variant {
	return func(o simulate.Options) *simulate.Result {
		m := bullying.Algorithm
		change(&m)
		return reproduce.Variant(m, o)
	}
}

// Mute is Bully as S2's step 4 has it: a winner announces itself to no process.
var Mute = changed(func(m *machine) {
	m.Receive = func(p *bullying.Process, port election.Port, kind election.Kind, message bullying.Message, out *election.Out[bullying.Message]) {
		if kind != bullying.Coordinator {
			p.Receive(port, kind, message, out)
		}
	}
})

// Patient is Bully without the parenthesis of rule 3: a process that waits for a victory waits for ever.
var Patient = changed(func(m *machine) {
	m.Timeout = func(p *bullying.Process, timer election.Timer, out *election.Out[bullying.Message]) {
		if timer == bullying.AnswerTimeout {
			p.Timeout(timer, out)
		}
	}
})

// unbelieving is S4 as printed, which ignores the end of a wrong suspicion.
var unbelieving = changed(func(m *machine) {
	m.Trust = func(*bullying.Process, election.Port, *election.Out[bullying.Message]) {}
})
