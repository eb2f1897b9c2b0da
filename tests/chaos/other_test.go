//go:build !linux

package chaos

import "testing"

func TestChaos(t *testing.T) {
	t.Skip("faults on real processes need Linux: parent-death signals, handles of processes, and one clock for all of them")
}
