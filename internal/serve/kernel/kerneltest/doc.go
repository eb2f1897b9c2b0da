// Package kerneltest helps tests that need what not every kernel allows.
package kerneltest
