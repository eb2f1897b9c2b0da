// Package export writes elections for other tools: models for the checkers Spin and TLC, and runs as pictures and logs
// for Graphviz, Mermaid and ShiViz.
//
// A model is made of the tables of [verify.Model], hence of the algorithm's own steps. So it has the same states and
// steps as the search of package verify, and another checker can confirm the verdict and the counts.
package export
