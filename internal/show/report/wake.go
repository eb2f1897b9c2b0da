package report

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/simulate"
)

// wakingJSON is the JSON of the participants, if given.
func wakingJSON(s *simulate.Options) (fields Object) {
	if s.Wake != nil {
		wake := make([]any, len(s.Wake)) // null: only by a message
		for q, at := range s.Wake {
			if at != election.Forever {
				wake[q] = at
			}
		}
		fields = append(fields, Field{"wake", wake})
	}
	if s.Setup.Unwilling != nil {
		unwilling := make([]uint64, len(s.Setup.Unwilling))
		for k, q := range s.Setup.Unwilling {
			unwilling[k] = s.Setup.IDs.At(q)
		}
		fields = append(fields, Field{"unwilling", unwilling})
	}
	return fields
}
