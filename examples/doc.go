// Package examples has small programs, each in a folder of its own, that elect a leader and use it. Its tests run them as real
// processes.
package examples
