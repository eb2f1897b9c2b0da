//go:build unix && !linux

package cli

// deathSignal says whether the system kills a paused member together with the demo.
const deathSignal = false
