package cli

// deathSignal says whether the system kills a paused member together with the demo.
const deathSignal = true
