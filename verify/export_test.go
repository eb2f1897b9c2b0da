package verify

import "ringleader.example/ringleader/internal/core/process"

// EverySchedule is [Probabilities] over all schedules, also where one would do.
func EverySchedule(program *process.Program, o Options) (*Chances, error) {
	return probabilities(program, o, func(*checker) bool { return false })
}
