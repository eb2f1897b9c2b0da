//go:build !linux

package agent

import "context"

// Examine returns the means that this system has.
func Examine(context.Context, int) (x Examination, err error) {
	means, because := try(true)
	return Examination{Means: means, Because: text(because), Timer: text(checkTimer())}, nil
}
