package trace

import (
	"errors"
	"fmt"
	"reflect"

	"ringleader.example/ringleader/election"
)

// Value is a message or a state with its algorithm's type, for programs that read its fields. It is not part of a
// file.
type Value struct {
	Is     any                      // of the algorithm's type; nil unless the run was asked for values
	RealOf func(election.ID) uint64 // translates the algorithm's identifier into the given one
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

// Identifier returns the given identifier in a field of a value.
func (v Value) Identifier(name string) (uint64, error) {
	id, err := Field[election.ID](v, name)
	if err != nil {
		return 0, err
	}
	return v.RealOf(id), nil
}
