package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// decimal is the value of a flag that is a whole number. It has decimal digits only: pflag's own numbers read 010 as 8
// and 0x10 as 16, which lists of numbers do not.
type decimal[T int | uint64] struct{ value *T }

// decimalVar adds a flag that is a whole number. The short name may be empty.
func decimalVar[T int | uint64](f *pflag.FlagSet, p *T, name, short string, usual T, usage string) {
	*p = usual
	f.VarP(decimal[T]{p}, name, short, usage)
}

func (d decimal[T]) String() string {
	if d.value == nil { // pflag asks for the zero value
		return "0"
	}
	return fmt.Sprint(*d.value)
}

func (d decimal[T]) Type() string { return fmt.Sprintf("%T", *new(T)) }

func (d decimal[T]) Set(text string) (err error) {
	var number uint64
	switch p := any(d.value).(type) {
	case *int:
		*p, err = strconv.Atoi(text)
	case *uint64:
		if number, err = strconv.ParseUint(text, 10, 64); err == nil {
			*p = number
		}
	}
	return errors.Unwrap(err)
}
