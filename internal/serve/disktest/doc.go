// Package disktest makes small disks, for tests that fill them. It needs root and Linux.
package disktest
