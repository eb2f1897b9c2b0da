// Package study has the commands on many elections, and on what is known of algorithms: verify, count, compare, worst, reproduce, prove,
// algorithms and sources. Each call is a [plan.Study], which the command line, a worker, a merge or the lab carries out.
//
// The root has its commands. The room jobs opens their long work, and the room lab answers with their results. It imports plan, and no
// room beside it.
package study
