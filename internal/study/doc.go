// Package study is the wing of what is counted, compared and judged: statements of the sources (reproduce, claims, sources), costs of
// algorithms on the same networks (experiment, worstcase), broken elections (gallery), proofs for every number of
// processes (logic, finite, prove), models for other checkers (export), one election over TCP (tcprun), and long computations in pieces, on one machine or many (work, cluster, worktest).
//
// Who may come in: the catalogue for claims, the wing show, and the command line. Rooms of core are imported here, and none of serve or show: a study
// computes values, and others print and draw them.
package study
