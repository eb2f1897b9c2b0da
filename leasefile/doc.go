// Package leasefile keeps the lease of a member in a small file that processes in any language map into memory: whether the
// member leads, in which term, and until when.
//
// A [Writer] belongs to a member: see Config.LeaseFile of package ringleader. A [Reader] asks no member and no network. Its
// answer is right if the member was killed, or is stopped: the end of the lease is in the file, and the reader compares it
// with the clocks of the machine. A member writes that it leads no more before it lets its lease go.
//
// The page docs/lease-file.md has the format. The folder clients has readers in other languages.
//
// A lease file is for Linux: elsewhere there is no clock that both sides can read and that goes on during suspension.
//
// This package is v0: its API may change with any version.
package leasefile
