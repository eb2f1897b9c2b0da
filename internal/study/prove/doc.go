// Package prove makes obligations of the models of package logic, writes them in SMT-LIB 2, and has z3 and cvc5 prove them.
//
// There is an obligation for each invariant at first, for each pair of an action and an invariant, for each lemma, step and safety formula. A
// pair is kept by syntax if the action changes nothing that the invariant reads: it needs no solver, and is counted apart. An
// obligation is proved only if a solver calls its negation unsatisfiable. If a solver calls the axioms unsatisfiable, the model has no
// instance.
package prove
