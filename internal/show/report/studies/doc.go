// Package studies prints what whole studies find: comparisons and their drawings, proofs, what sources say and what came of it, and
// the worst inputs.
package studies
