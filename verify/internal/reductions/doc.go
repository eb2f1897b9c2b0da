// Package reductions finds out what need not be explored: the schedules of confluent runs, the orders of independent events, and
// configurations that are alike. Package verify proves the theorems in its comment.
package reductions
