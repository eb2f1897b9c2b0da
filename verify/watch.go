package verify

import (
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/program"
	"ringleader.example/ringleader/verify/internal/model"
)

// Move is one transition between two configurations, as [Watch] shows it.
type Move = model.Move

// MoveSent is a message that a step sends.
type MoveSent = model.MoveSent

// ErrWatch reports that a step breaks the contract, or that the process panics in it.
var ErrWatch = model.ErrWatch

// Watch shows each transition that a run can make, breadth first, for who compares them with something else. It explores what [Run]
// does, on one core and without reductions. Properties are not judged. It ends when visit returns false, and no configuration beyond
// [Options.MaxStates] is explored. The result is how many were.
func Watch(a program.Program, o Options, visit func(*Move) bool) (states int, complete bool, err error) {
	program := process.Opened(a)
	o.Reduce = NoReduction
	if err := o.check(program.Declaration, program.Functions); err != nil {
		return 0, false, err
	}
	c, err := model.NewChecker(program, o.model(), o.Instance)
	if err != nil {
		return 0, false, err
	}
	return model.Watch(c, o.MaxStates, visit)
}
