//go:build unix && !linux

package trials

// deathSignal reports whether the system kills a paused member together with the demo.
const deathSignal = false
