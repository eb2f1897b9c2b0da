// Package disktest makes small disks for tests of what happens when one is full. Only root can, on Linux.
package disktest
