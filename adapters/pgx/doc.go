// Package fencepgx refuses writes of a leader that was replaced, in a database that a program reaches through pgx. It is what package
// fencesql, in adapters/sql, is for database/sql, and keeps terms in the same table, so programs with either driver may write to one resource.
// The comment of that package states the promises, and what they need of the database.
package fencepgx
