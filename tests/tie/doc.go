// Package tie proves that each step of the code of an algorithm is a sequence of actions of its model in folder proofs, or changes nothing
// that the model speaks of. So what is proved of the model for every number of processes holds of the code.
//
// The file NAME.code there says what fields, messages and steps mean in NAME.model. Its forms, besides those of a model:
//
//	(code NAME)                                     the model
//	(uses INVARIANT …)                              invariants of the model that the proof needs
//	(in-order KIND …)                               a link delivers messages of this kind once each, in order: they have numbers, from 0
//	(assume "why" TERM)                             holds before each step
//	(coupled NAME "words" TERM)                     holds of each process n, before and after each step, and at first
//	(also TERM …)                                   processes of which that is assumed, besides me, other and their neighbours
//	(message KIND (WITNESS …) "words" TERM)         holds of each message that was sent to n, to arrive on port
//	(witnesses TERM …)                              what a witness of a message that is sent may be
//	(decision Lead "words" TERM)                    holds after a call of Lead, and of Follow with the argument leader
//	(cases "name" TERM)                             each path of Receive is two: name, and !name
//	(steps HANDLER (when ("condition" …) STEP …) …) a path is the steps of the first rule whose conditions it has
//
// A STEP is (ACTION ARGUMENT …), or (never): no process can take this path. Several forms steps of a handler follow each other. In terms, me is the
// process of the step and other any other one; go-FIELD is a field of a process; m-FIELD, m-port and m-kind are of the message that is
// received, ID and the like of the message of its form, and number of one in order; out-KIND and in-KIND count those on a port. The
// action send-KIND, if there is one, happens when such a message is sent.
//
// For each path a solver has to prove four parts: guards, that each action is possible; coupled, that what is coupled is so after it; messages, that
// those sent, and those on their way, mean what they should; decisions, that who leads or follows may.
package tie
