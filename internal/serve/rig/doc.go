// Package rig has what a group of real processes on one machine is made of: ports that are free, links between the
// processes that can be cut and delayed, and processes that do not outlive the one that started them.
package rig
