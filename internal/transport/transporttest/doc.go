// Package transporttest has networks in memory, for tests of what runs over package transport.
package transporttest
