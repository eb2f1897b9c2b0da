package gallery

import (
	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/algorithms/logicalring"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/verify"
)

// failures are elections among known members that crash, recover and are cut off.
func failures() []Exhibit {
	everySet := func(o verify.Options) verify.Options {
		o.Starts = verify.EverySet
		return o
	}
	faults := func(o verify.Options, change func(*verify.Options)) verify.Options {
		change(&o)
		return o
	}
	crashRecovery := func(o *verify.Options) { o.Starts, o.Crashes, o.Recoveries = verify.EverySet, 1, 1 }
	return []Exhibit{
		exhibit(bully.Algorithm, Exhibit{
			Name: "bully-short-answer-timeout", Broken: "a process waits for answers longer than 2·delay", Property: verify.WrongLeader,
			Command: "bully --n 3 --start every-set --param answer-timeout=2", Options: everySet(with(3, "answer-timeout", "2")),
		}),
		exhibit(bully.Algorithm, Exhibit{
			Name: "bully-as-printed", Broken: "a coordinator below the known one is contested", Property: verify.NoLeader,
			Command: "bully --n 3 --start every-set --crash 1 --recover 1 --param bullying=no", Options: faults(with(3, "bullying", "no"), crashRecovery),
		}),
		exhibit(bully.Algorithm, Exhibit{
			Name: "bully-premature-victory", Broken: "a process that suspects all higher ones contests lower coordinators", Property: verify.Disagreement,
			Command: "bully --n 3 --start every-set --crash 1 --recover 1 --param bullying=no,victory=lower", Options: faults(with(3, "bullying", "no", "victory", "lower"), crashRecovery),
		}),
		exhibit(bully.Algorithm, Exhibit{
			Name: "bully-under-a-cut", Broken: "messages between live processes arrive", Property: verify.TwoLeaders,
			Command: "bully --n 3 --start all --cut 1", Options: faults(with(3), func(o *verify.Options) { o.Cuts = 1 }),
		}),
		exhibit(logicalRingWithoutAcknowledgements(), Exhibit{
			Name: "logical-ring-lost-with-a-member", Broken: "a list is sent again if its receiver crashes", Property: verify.Undecided,
			Options: faults(with(3), func(o *verify.Options) { o.Crashes = 1 }),
		}),
	}
}

// logicalRingWithoutAcknowledgements is the election on a logical ring that sends each list once.
func logicalRingWithoutAcknowledgements() election.Algorithm[logicalring.Process, logicalring.Message] {
	a := logicalring.Algorithm
	a.Timeout = func(p *logicalring.Process, _ election.Timer, _ *election.Out[logicalring.Message]) { p.Pending = nil }
	return a
}
