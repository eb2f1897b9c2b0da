package rig

import "time"

// Standstill begins to look whether this process stands still, as it does where the machine does, or has too much to do. The function that it returns
// ends that, and tells for how long it stood still at most.
func Standstill() (longest func() time.Duration) {
	done, result := make(chan struct{}), make(chan time.Duration)
	go func() {
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		longest := time.Duration(0)
		for last := time.Now(); ; {
			select {
			case <-ticker.C:
			case <-done:
				result <- max(longest, time.Since(last))
				return
			}
			longest = max(longest, time.Since(last))
			last = time.Now()
		}
	}()
	return func() time.Duration { close(done); return <-result }
}
