// Package repotest holds the rules of this code base, as tests: which package may import which, what pure code may
// not do, what must be documented, how large functions, files and programs may be. It has no code of its own.
//
// A rule is a function from a source tree to complaints. The tests run every rule on this module, where it must return none,
// and on a small tree that breaks it, where it must return one.
package repotest
