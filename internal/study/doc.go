// Package study is the wing of what is counted, compared and judged. Its rooms:
//
//   - reproduce, claims, sources: statements of the sources, and the bibliography
//   - experiment, worstcase: costs of algorithms on the same networks, and costly inputs
//   - gallery: elections that are broken on purpose
//   - models, logic, finite, prove: proofs for every number of processes
//   - export: models and runs for other tools
//   - tcprun: one election over TCP
//   - work, cluster, secret: long computations in pieces, on one machine or many, and the token of a user's workers
//   - broker: starts the server of --nats embed
//   - worktest, tracetest, brokertest: jobs, records and that server, for tests
//
// The wing show and the command line import this wing, and the catalogue imports claims. It imports rooms of core, and none of serve or show: a
// study computes values, and others print and draw them.
package study
