package verify

import (
	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/verify/internal/model"
)

// EverySchedule is [Probabilities] over all schedules, also where one would do.
func EverySchedule(program *process.Program, o Options) (*Chances, error) {
	return probabilities(program, o, func(*model.Checker) bool { return false })
}
