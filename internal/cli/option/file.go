package option

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrLarge reports a file that is too large for what it should be.
var ErrLarge = errors.New("it is too large")

// tooLarge is an ErrLarge that tells how much is allowed.
type tooLarge struct {
	name string
	most int
}

func (t tooLarge) Error() string { return fmt.Sprintf("%s has more than %d bytes", t.name, t.most) }

func (tooLarge) Is(target error) bool { return target == ErrLarge }

// ReadFile reads a file of so many bytes at most: one without an end, such as /dev/zero, would be read until the memory is full.
func ReadFile(name string, most int) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err == nil && len(text) > most {
		err = tooLarge{name, most}
	}
	return text, err
}
