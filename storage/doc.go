// Package storage keeps the durable state of one member: a record for the member itself, and one for each of its groups.
//
// [Init] makes a store in a directory, once. [Open] locks and reads it. [Directory.Save] returns when the records are
// durable: it writes them to slots that exist already, and flushes once for all of them. [Memory] is a store for tests.
// Other stores implement [Storage].
package storage
