// Package core is the wing that all engines import. Its rooms:
//
//   - process: processes whose types are hidden
//   - codec: states and messages as bytes
//   - framing: a message with its length and its kind before it, as connections carry it
//   - loops: loops for large networks, compiled for each algorithm
//   - random: the one source of pseudo-randomness
//   - mean: a mean over all orders, which two algorithms declare
//   - memory: the memory of the program
//   - amount: amounts of things in words, for all that is printed
//   - property, leaks, collector, needs: properties of random cases, goroutines that stay, a garbage collector that rests, and programs
//     that a machine lacks, for tests
//
// Engines, live members, tools and internal/runners import this wing. Algorithms import mean only. The wing imports the contract:
// election, network and outcome. It imports no room of another wing, so a change in a tool compiles no engine.
package core
