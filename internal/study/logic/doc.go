// Package logic reads models of algorithms: transition systems over any number of processes, each with an invariant that every action keeps.
// Package prove makes obligations for solvers of them, and package finite runs them with few processes.
//
// A model is a text of forms in parentheses. Terms are SMT-LIB 2 terms over Bool, Int and the sorts of the model:
//
//	true false 3 x (f x y) (not a) (and a b) (or a b) (=> a b) (= x y) (distinct x y) (ite a x y) (< x y) (<= x y) (> x y) (>= x y) (+ x y) (- x)
//	(forall ((x Sort)) a) (exists ((x Sort)) a) (! a :pattern ((f x)))
//
// Words are texts in double quotes. A semicolon begins a comment. Of control characters only tabs and ends of lines are allowed. Each name is
// declared before it is used, and no variable has the name of another one or of a function. These are the forms, in any order that keeps to that:
//
//	(model NAME (title "…") (theorem "…") (source "…") (code "FOLDER") (search))
//	(assumption NAME "what is assumed" (holds "why the code satisfies it") (breaks "where it may not"))
//	(include NAME)                                the forms of another file, NAME.axioms
//	(sort NAME "words")                           things, any number of them but none
//	(constant NAME (SORT …) SORT "words")         a function that never changes
//	(axiom NAME "the reason" TERM)                holds of the constants
//	(state NAME (SORT …) SORT "words")            a function that actions change
//	(define NAME ((x SORT) …) SORT "words" TERM)  an abbreviation
//	(initially (f x …) TERM)                      the value of a state function at first, for all arguments x; without it, any
//	(action NAME ((X SORT) …) "words" CLAUSE …)   a step, with these clauses:
//	    (guard "words" TERM)                          the step is possible only if this holds
//	    (put (f TERM …) TERM)                         changes f for these arguments
//	    (set (f x …) TERM)                            changes f for all arguments x
//	(invariant NAME "words" TERM)                 holds at first, and after each action if all held before
//	(lemma NAME "words" TERM (by NAME …))         follows from these invariants and earlier lemmas, in the same state
//	(safety NAME "words" TERM)                    follows from the invariants and lemmas
//	(step NAME ACTION "words" TERM)               follows from them and the guards of the action, before it
//	(premises ACTION INVARIANT NAME …)            what suffices to prove that the action keeps the invariant; the default is all invariants
//	(tie a|b|c "FOLDER" "TEST")                   a test of the repository that compares the model with the code, see [Tie]
//
// All values of an action are those before it. (search), in the head, lets solvers look for instances of quantified formulas without
// patterns. (spare "why it is there") at the end of a guard, an axiom or an invariant states that the proof does not need it.
package logic
