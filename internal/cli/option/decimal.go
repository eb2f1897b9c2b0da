package option

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"
)

// Decimal is the value of a flag that is a whole number. It has decimal digits only: pflag's own numbers read 010 as 8
// and 0x10 as 16, which lists of numbers do not.
type Decimal[T int | uint64] struct {
	Value    *T
	positive bool // the flag takes no number below 1: 0 means that the flag is missing
}

// Number adds a flag that is a whole number. The short name may be empty.
func Number[T int | uint64](f *pflag.FlagSet, p *T, name, short string, usual T, usage string) {
	*p = usual
	f.VarP(Decimal[T]{Value: p}, name, short, usage)
}

// Positive adds a flag that takes a whole number of at least 1. If the flag is missing, the number is 0, and the usage names the default.
func Positive[T int | uint64](f *pflag.FlagSet, p *T, name, usage string) {
	*p = 0
	f.Var(Decimal[T]{p, true}, name, usage)
}

// Once makes a flag one that is given once: of two members to remove, none is left out without a word. Of other flags the last one counts.
func Once(f *pflag.FlagSet, name string) {
	flag := f.Lookup(name)
	flag.Value = once{flag.Value, flag}
}

type once struct {
	pflag.Value
	flag *pflag.Flag
}

func (o once) Set(text string) error {
	if o.flag.Changed {
		return errTwice
	}
	return o.Value.Set(text)
}

// Repeat makes a flag one that may be given again, as for the completion of a line, which cobra reads twice.
func Repeat(f *pflag.Flag) {
	if o, is := f.Value.(once); is {
		f.Value = o.Value
	}
}

var (
	errSmall = errors.New("less than 1")
	errTwice = errors.New("given twice")
)

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
	var number T
	switch p := any(&number).(type) {
	case *int:
		*p, err = strconv.Atoi(text)
	case *uint64:
		*p, err = strconv.ParseUint(text, 10, 64)
	}
	switch {
	case err != nil:
		return errors.Unwrap(err)
	case d.positive && number < 1:
		return errSmall
	}
	*d.Value = number
	return nil
}
