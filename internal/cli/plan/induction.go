package plan

// What the search for a counterexample to induction has in the lab and on the command line.
const (
	UsualRing = 3 // processes
	MostFacts = 8
	NoSolver  = "none" // in place of a solver's name: this search alone
)
