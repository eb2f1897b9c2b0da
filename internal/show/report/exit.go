package report

import (
	"errors"
	"fmt"
	"os"
)

// The exit statuses of the binary.
const (
	ExitFine       = 0
	ExitNo         = 1 // the command ran, and the answer is no: violated, not elected, failed
	ExitIncomplete = 3 // a limit was reached before there was an answer

	// ExitUsage is the status of a wrong call, EX_USAGE of sysexits.h: no repetition repairs it. It is not 2, with which
	// every Go program ends that panics, so that a service manager can tell a wrong call from a crash.
	ExitUsage = 64
)

// ExitError is an error with an exit status of its own; every other error is one of usage, [ExitUsage].
// Without an Err nothing is printed: the command has already printed its result.
type ExitError struct {
	Code int
	Err  error
}

func (e ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

func (e ExitError) Unwrap() error { return e.Err }

// ErrNo is the error of a command that has printed its answer, which is no.
var ErrNo error = ExitError{Code: ExitNo}

// Failed returns the error of a valid call with the answer no.
func Failed(format string, args ...any) error {
	return ExitError{ExitNo, fmt.Errorf(format, args...)}
}

// Stopped returns the error of a command that ended before there was an answer.
func Stopped(format string, args ...any) error {
	return ExitError{ExitIncomplete, fmt.Errorf(format, args...)}
}

// Reason returns an error without the file's name and the operation.
func Reason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
