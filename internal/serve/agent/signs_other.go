//go:build !linux

package agent

import (
	"errors"
	"runtime"
)

// signSocket does not exist.
type signSocket struct{ address string }

func listenForSigns(*credential, func(string)) (*signSocket, error) {
	return nil, errors.New("a command has no socket for sd_notify on " + runtime.GOOS)
}

func (*signSocket) close() {}
