// Package symbolic executes the handlers of an algorithm with unknown values: New, Start and Receive, as golang.org/x/tools/go/ssa has them.
// The result is one path for each way through a handler: its conditions, what it leaves in each field, and its effects, as terms over what the
// step began with.
//
// It executes loads and stores of fields, comparisons, truth values, additions and subtractions, branches, max and min, and calls of functions of
// the same package. Send, Lead and Follow of [election.Out] are effects. Anything else is an error that names its place: a loop, a map, a
// slice, a pointer of another kind, a goroutine, a channel, an interface, a function value, recursion, any other call.
//
// Arithmetic is exact where the result fits into its type, and any value of the type where it does not; so is the result of a shift and of
// a product, in any case. A parameter of the algorithm has any value.
//
// Two things that a step begins with have two names, and the variable Algorithm of a package is not named again in it: anything else is an error, too.
package symbolic
