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
	if s.Instance.Unwilling != nil {
		unwilling := make([]uint64, len(s.Instance.Unwilling))
		for k, q := range s.Instance.Unwilling {
			unwilling[k] = s.Instance.IDs.At(q)
		}
		fields = append(fields, Field{"unwilling", unwilling})
	}
	return fields
}
