// Package program hides the types of an algorithm, so that engines and tools can hold any algorithm as one value. [Of] makes
// a program; simulate.Runner has one, too, and every engine takes either.
//
// The functions of engines that have type parameters, such as simulate.Run and verify.Run, take algorithms as they are.
//
// This package is v0: its API may change with any version.
package program

import (
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/process"
)

// Program is an algorithm with hidden types. Only this module makes programs: engines refuse others by a panic.
type Program interface {
	// Declared returns what the algorithm declares.
	Declared() *election.Declaration
}

// Of hides the types of an algorithm. The error is that of [election.Algorithm.Validate], or names the type that is not plain.
func Of[S, M any](a *election.Algorithm[S, M]) (Program, error) {
	p, err := process.Of(a)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Must returns the program, and panics on an error. It is for algorithms that are known to be valid.
func Must(p Program, err error) Program {
	if err != nil {
		panic(err)
	}
	return p
}
