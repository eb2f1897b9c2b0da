//go:build !linux

package clock

import "time"

// Boottime returns the larger of the advances of the monotonic clock and of the wall clock.
func (s *system) Boottime() time.Duration {
	now := time.Now()
	return max(now.Sub(s.begun), now.Round(0).Sub(s.begun.Round(0)))
}
