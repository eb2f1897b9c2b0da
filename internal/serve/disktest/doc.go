// Package disktest has disks for tests: small ones, to fill, which need root and Linux, and slow ones in memory.
package disktest
