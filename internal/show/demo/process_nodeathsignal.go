//go:build unix && !linux

package demo

func isPaused(int) bool { return false } // a member is our child here
