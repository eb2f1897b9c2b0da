// Package order arranges the identifiers 1 … n, or others in a row, on a ring: in increasing, decreasing, random or
// bit-reversal order, evaluated position by position, so that a ring of billions need not be stored.
//
// This package is v0: its API may change with any version.
package order
