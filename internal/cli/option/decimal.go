package option

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// Decimal is the value of a flag that is a whole number. It has decimal digits only: pflag's own numbers read 010 as 8
// and 0x10 as 16, which lists of numbers do not.
type Decimal[T int | uint64] struct{ Value *T }

// Number adds a flag that is a whole number. The short name may be empty.
func Number[T int | uint64](f *pflag.FlagSet, p *T, name, short string, usual T, usage string) {
	*p = usual
	f.VarP(Decimal[T]{p}, name, short, usage)
}

func (d Decimal[T]) String() string {
	if d.Value == nil { // pflag asks for the zero value
		return "0"
	}
	return fmt.Sprint(*d.Value)
}

// Type returns the name of the type, for the help.
func (d Decimal[T]) Type() string { return fmt.Sprintf("%T", *new(T)) }

// Set sets the value from its digits.
func (d Decimal[T]) Set(text string) (err error) {
	var number uint64
	switch p := any(d.Value).(type) {
	case *int:
		*p, err = strconv.Atoi(text)
	case *uint64:
		if number, err = strconv.ParseUint(text, 10, 64); err == nil {
			*p = number
		}
	}
	return errors.Unwrap(err)
}
