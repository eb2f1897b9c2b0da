// Package order arranges the identifiers 1 … n on a ring: in increasing, decreasing, random or
// bit-reversal order, evaluated position by position, so that a ring of billions need not be stored.
package order
