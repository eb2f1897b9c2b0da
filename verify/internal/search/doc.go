// Package search explores the configurations of an election, breadth first, and judges their graph: it holds the states and the
// frontier, shares the work among cores, keeps the limits, finds runs that attain extremes, and makes random walks. Package
// verify describes it in its comment.
package search
