package option

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// tooLarge is the error of what has more bytes than it may have.
type tooLarge int

func (t tooLarge) Error() string { return fmt.Sprintf("it has more than %d bytes", int(t)) }

// ReadAtMost reads to the end of what has so many bytes at most: something without an end would be read until the memory is full.
func ReadAtMost(in io.Reader, most int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, int64(most)+1))
	if err == nil && len(text) > most {
		return nil, tooLarge(most)
	}
	return text, err
}

// ReadFile is [ReadAtMost] for a file. Its error is an [fs.PathError].
func ReadFile(name string, most int) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := ReadAtMost(file, most)
	if large := tooLarge(0); errors.As(err, &large) {
		err = &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return text, err
}
