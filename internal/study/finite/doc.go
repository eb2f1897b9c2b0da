// Package finite evaluates models of package logic on few things: terms, guards and assignments in a given state, the actions that are
// possible in it, and the smallest state that shows why an invariant is not inductive. It uses no solver.
//
// An [Interpretation] says which elements each sort has, over which integers quantifiers range, and what the constants are. All values are
// integers: the number of an element, 0 or 1 for a truth value, or the integer itself. A state function with an integer argument outside
// of the range is 0 there, and what is put there is lost, so a range must have all integers that a run reaches.
package finite
