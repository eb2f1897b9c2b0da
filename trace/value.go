package trace

import (
	"errors"
	"fmt"
	"reflect"

	"ringleader.example/ringleader/election"
)

// Value is a message or a state as its algorithm has it: for programs that read its fields, as the text beside it is
// for people. It is not part of a file.
type Value struct {
	Is     any                      // of the algorithm's type; nil unless the run was asked for values
	RealOf func(election.ID) uint64 // translates an identifier that the algorithm knows into the one that was given
}

// ErrField is the error for a value that has no such field.
var ErrField = errors.New("no such field")

// Field returns a field of a value, converted to T. An [ErrField] names a field that the value does not have, or that
// is no T.
func Field[T any](v Value, name string) (field T, err error) {
	if of := reflect.ValueOf(v.Is); of.Kind() == reflect.Struct {
		if f := of.FieldByName(name); f.IsValid() && f.CanInterface() && f.CanConvert(reflect.TypeFor[T]()) {
			return f.Convert(reflect.TypeFor[T]()).Interface().(T), nil
		}
	}
	return field, fmt.Errorf("%w: %s, as %T, of %T", ErrField, name, field, v.Is)
}

// Identifier returns a field of a value that is an identifier, as it was given.
func (v Value) Identifier(name string) (uint64, error) {
	id, err := Field[election.ID](v, name)
	if err != nil {
		return 0, err
	}
	return v.RealOf(id), nil
}
