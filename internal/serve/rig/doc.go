// Package rig makes the parts of a group of real processes on one machine: free ports, links between the processes that can
// be cut and delayed, and processes that do not outlive their parent.
package rig
