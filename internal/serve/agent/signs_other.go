//go:build !linux

package agent

import (
	"errors"
	"runtime"
)

// signSocket does not exist.
type signSocket struct{ address string }

func listenForSigns(*credential, func()) (*signSocket, error) {
	return nil, errors.New("a command tells progress by a file only on " + runtime.GOOS)
}

func (*signSocket) close() {}
