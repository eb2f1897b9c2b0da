// Package core is the wing of what all engines stand on: processes whose types are hidden (process), states and messages as bytes
// (codec), loops that are compiled for each algorithm (loops), one source of pseudo-randomness (random), a mean over all orders (mean),
// and the memory of the program (memory).
//
// Who may come in: engines, the library of live members, tools, and catalogue/internal/runners; algorithms import mean alone. What comes in from
// outside is the contract: election, network and outcome. No room of another wing is imported here, so a change in a tool compiles no engine.
package core
