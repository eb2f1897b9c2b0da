// Package all is the table of all algorithms of Ringleader.
package all

import (
	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/runners/afekgafni"
	"ringleader.example/ringleader/catalogue/runners/afekgafnisynchronous"
	"ringleader.example/ringleader/catalogue/runners/bully"
	"ringleader.example/ringleader/catalogue/runners/dolevklawerodeh"
	"ringleader.example/ringleader/catalogue/runners/dolevklawerodehb"
	"ringleader.example/ringleader/catalogue/runners/franklin"
	"ringleader.example/ringleader/catalogue/runners/highamprzytycka"
	"ringleader.example/ringleader/catalogue/runners/hirschbergsinclair"
	"ringleader.example/ringleader/catalogue/runners/invitation"
	"ringleader.example/ringleader/catalogue/runners/itairodeh"
	"ringleader.example/ringleader/catalogue/runners/itairodehsynchronous"
	"ringleader.example/ringleader/catalogue/runners/knownsize"
	"ringleader.example/ringleader/catalogue/runners/lcr"
	"ringleader.example/ringleader/catalogue/runners/lcrsynchronous"
	"ringleader.example/ringleader/catalogue/runners/lelann"
	"ringleader.example/ringleader/catalogue/runners/logicalring"
	"ringleader.example/ringleader/catalogue/runners/minmax"
	"ringleader.example/ringleader/catalogue/runners/modifiedbully"
	"ringleader.example/ringleader/catalogue/runners/oddoneout"
	"ringleader.example/ringleader/catalogue/runners/oddpair"
	"ringleader.example/ringleader/catalogue/runners/peterson"
	"ringleader.example/ringleader/catalogue/runners/petersonalternating"
	"ringleader.example/ringleader/catalogue/runners/preference"
	"ringleader.example/ringleader/catalogue/runners/preferencering"
	"ringleader.example/ringleader/catalogue/runners/preferencetree"
	"ringleader.example/ringleader/catalogue/runners/quorumbully"
	"ringleader.example/ringleader/catalogue/runners/ringbully"
	"ringleader.example/ringleader/catalogue/runners/ringbullysimple"
	"ringleader.example/ringleader/catalogue/runners/stopandgo"
	"ringleader.example/ringleader/catalogue/runners/tree"
	"ringleader.example/ringleader/catalogue/runners/variablespeeds"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/internal/claims"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// Algorithms are all algorithms, in the order of their sources.
var Algorithms = catalogue.New(
	catalogue.Of(ringbullysimple.Runner, count.RingBullySimple),
	catalogue.Of(ringbully.Runner, count.RingBully),
	catalogue.Of(lcr.Runner, count.LCR),
	catalogue.Of(lcrsynchronous.Runner, count.LCRSynchronous),
	catalogue.Of(lelann.Runner, count.LeLann),
	catalogue.Of(oddoneout.Runner, nil),
	catalogue.Of(oddpair.Runner, nil),
	catalogue.Of(logicalring.Runner, nil),
	form("preference", catalogue.Of(preference.Runner, nil)),
	form("preference", catalogue.Of(preferencering.Runner, nil)),
	form("preference", catalogue.Of(preferencetree.Runner, nil)),
	catalogue.Of(tree.Runner, nil),
	catalogue.Of(hirschbergsinclair.Runner, count.HirschbergSinclair),
	catalogue.Of(bully.Runner, nil),
	catalogue.Of(modifiedbully.Runner, nil),
	catalogue.Of(invitation.Runner, nil),
	catalogue.Of(quorumbully.Runner, nil),
	catalogue.Of(franklin.Runner, count.Franklin),
	catalogue.Of(peterson.Runner, count.Peterson),
	catalogue.Of(petersonalternating.Runner, count.PetersonAlternating),
	catalogue.Of(dolevklawerodeh.Runner, count.DolevKlaweRodeh),
	catalogue.Of(dolevklawerodehb.Runner, count.DolevKlaweRodehB),
	catalogue.Of(minmax.Runner, count.MinMax),
	catalogue.Of(highamprzytycka.Runner, count.HighamPrzytycka),
	catalogue.Of(itairodeh.Runner, nil),
	catalogue.Of(itairodehsynchronous.Runner, nil),
	catalogue.Of(afekgafni.Runner, nil),
	catalogue.Of(afekgafnisynchronous.Runner, nil),
	catalogue.Of(knownsize.Runner, count.KnownSize(knownsize.Runner.Program().Sequence)),
	stopAndGo(stopandgo.P1),
	stopAndGo(stopandgo.P2),
	stopAndGo(stopandgo.P3),
	stopAndGo(stopandgo.P4),
	catalogue.Of(variablespeeds.Runner, count.VariableSpeeds),
)

// form is an algorithm that does on its network what others of the same family do on other networks.
func form(family string, e catalogue.Entry) catalogue.Entry {
	e.Family = family
	return e
}

// stopAndGo adds what S5 claims of every run of its protocols.
func stopAndGo(runner *simulate.Runner) catalogue.Entry {
	e := catalogue.Of(runner, count.StopAndGo(runner.Program().Sequence))
	e.Check = func(r *trace.Record, p *network.Instance) ([]claims.Claim, error) {
		return claims.StopAndGo(r, p.Parameters.Sequence())
	}
	return e
}
