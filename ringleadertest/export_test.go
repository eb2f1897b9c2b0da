package ringleadertest

// Lie gives all others a proof of the death of a member that runs: its warden lies.
func (c *Cluster) Lie(id uint64) { c.disclose(id) }
