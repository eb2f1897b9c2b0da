// Package fencesql refuses writes of a leader that was replaced, in a database that a program reaches through database/sql.
//
// A process may be paused for any time between the moment at which it checks its lease and the moment at which its write arrives; see package
// fence. So a [Guard] compares terms in the transaction of the write. The table ringleader_fence has a row for each resource,
// with the highest term that has written. A transaction locks the row, compares, and keeps its own term there. So the writes
// of one resource run one at a time, and no write of a lower term follows one of a higher term.
//
// What a resource is, the program decides: all that must be written by one leader has one name. All writes to it go through the guard.
//
// # Paused leaders
//
// A leader that is paused in its transaction holds the row, and its successor waits for it. Guard.Idle bounds that: the server ends the
// session of a transaction that does nothing for so long, and the late write fails. The bound is that of the time between two statements. It
// does not bound a statement that itself takes long, or that reads a large result.
//
// # Databases
//
// It is for PostgreSQL and for what speaks its SQL, with any driver whose errors have a method SQLState, as those of pgx and lib/pq do. The
// guard makes a commit synchronous where the settings of the database do not. A failover to a replica that lacks the last commits
// loses terms with them, so use a synchronous replica. A replica that is read may be older than what a later leader has written.
package fencesql
