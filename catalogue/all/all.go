// Package all is the table of all algorithms of Ringleader.
//
// This package is v0: its API may change with any version.
package all

import (
	"strings"

	"ringleader.example/ringleader/algorithms"
	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/count"
	"ringleader.example/ringleader/internal/core/loops"
	"ringleader.example/ringleader/internal/runners/afekgafni"
	"ringleader.example/ringleader/internal/runners/afekgafnisynchronous"
	"ringleader.example/ringleader/internal/runners/bully"
	"ringleader.example/ringleader/internal/runners/dolevklawerodeh"
	"ringleader.example/ringleader/internal/runners/dolevklawerodehb"
	"ringleader.example/ringleader/internal/runners/franklin"
	"ringleader.example/ringleader/internal/runners/highamprzytycka"
	"ringleader.example/ringleader/internal/runners/hirschbergsinclair"
	"ringleader.example/ringleader/internal/runners/invitation"
	"ringleader.example/ringleader/internal/runners/itairodeh"
	"ringleader.example/ringleader/internal/runners/itairodehsynchronous"
	"ringleader.example/ringleader/internal/runners/knownsize"
	"ringleader.example/ringleader/internal/runners/lcr"
	"ringleader.example/ringleader/internal/runners/lcrsynchronous"
	"ringleader.example/ringleader/internal/runners/lelann"
	"ringleader.example/ringleader/internal/runners/logicalring"
	"ringleader.example/ringleader/internal/runners/minmax"
	"ringleader.example/ringleader/internal/runners/modifiedbully"
	"ringleader.example/ringleader/internal/runners/oddoneout"
	"ringleader.example/ringleader/internal/runners/oddpair"
	"ringleader.example/ringleader/internal/runners/peterson"
	"ringleader.example/ringleader/internal/runners/petersonalternating"
	"ringleader.example/ringleader/internal/runners/preference"
	"ringleader.example/ringleader/internal/runners/preferencering"
	"ringleader.example/ringleader/internal/runners/preferencetree"
	"ringleader.example/ringleader/internal/runners/quorumbully"
	"ringleader.example/ringleader/internal/runners/ringbully"
	"ringleader.example/ringleader/internal/runners/ringbullysimple"
	"ringleader.example/ringleader/internal/runners/stopandgo"
	"ringleader.example/ringleader/internal/runners/tree"
	"ringleader.example/ringleader/internal/runners/variablespeeds"
	"ringleader.example/ringleader/internal/study/claims"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/simulate"
	"ringleader.example/ringleader/trace"
)

// Algorithms is the list of all algorithms, in the order of their sources.
var Algorithms = catalogue.New(
	ranged(ringbullysimple.Program, count.RingBullySimple),
	ranged(ringbully.Program, count.RingBully),
	ranged(lcr.Program, count.LCR).Also("chang-roberts"),
	ranged(lcrsynchronous.Program, count.LCRSynchronous),
	of(lelann.Program, count.LeLann).Also("le-lann"),
	of(oddoneout.Program, nil),
	of(oddpair.Program, nil),
	of(logicalring.Program, nil).Also("tanenbaum"),
	form("preference", of(preference.Program, nil).Also("singh-kurose")),
	form("preference", of(preferencering.Program, nil)),
	form("preference", of(preferencetree.Program, nil)),
	of(tree.Program, nil),
	ranged(hirschbergsinclair.Program, count.HirschbergSinclair).Also("hs"),
	of(bully.Program, nil).Also("garcia-molina"),
	of(modifiedbully.Program, nil).Also("mamun"),
	of(invitation.Program, nil),
	of(quorumbully.Program, nil),
	ranged(franklin.Program, count.Franklin),
	ranged(peterson.Program, count.Peterson),
	ranged(petersonalternating.Program, count.PetersonAlternating),
	ranged(dolevklawerodeh.Program, count.DolevKlaweRodeh).Also("dkr"),
	of(dolevklawerodehb.Program, count.DolevKlaweRodehB).Also("dkr-b"),
	ranged(minmax.Program, count.MinMax).Also("min-max"),
	of(highamprzytycka.Program, count.HighamPrzytycka).Also("hp"),
	of(itairodeh.Program, nil).Also("ir"),
	of(itairodehsynchronous.Program, nil),
	of(afekgafni.Program, nil).Also("ag"),
	of(afekgafnisynchronous.Program, nil),
	of(knownsize.Program, count.KnownSize(knownsize.Program.Sequence)).Also("marchetti-spaccamela"),
	stopAndGo(stopandgo.P1),
	stopAndGo(stopandgo.P2),
	stopAndGo(stopandgo.P3),
	stopAndGo(stopandgo.P4),
	of(variablespeeds.Program, count.VariableSpeeds).Also("frederickson-lynch", "vitanyi"),
)

// of joins an algorithm to the engines. Its folder has its name without hyphens.
func of(program *loops.Program, exact count.Func) catalogue.Entry {
	e := catalogue.Of(simulate.New(program), exact)
	return listed(e, strings.ReplaceAll(e.Name, "-", ""))
}

// ranged joins an algorithm whose rings can be counted by ranges.
func ranged(program *loops.Program, exact count.Ranged) catalogue.Entry {
	e := of(program, exact.Count)
	e.Ranges = exact
	return e
}

// listed returns an algorithm with the listing of a folder.
func listed(e catalogue.Entry, folder string) catalogue.Entry {
	e.Listing = func() ([]string, func(string, int) int) { return algorithms.Listing(folder) }
	return e
}

// form returns an algorithm as one form of a family, whose forms do the same on other networks.
func form(family string, e catalogue.Entry) catalogue.Entry {
	e.Family = family
	return e
}

// stopAndGo adds S5's statements about every run of its protocols.
func stopAndGo(program *loops.Program) catalogue.Entry {
	e := listed(of(program, count.StopAndGo(program.Sequence)), "stopandgo")
	e.Check = func(r *trace.Record, p *network.Instance) (found []catalogue.Claim, err error) {
		judged, err := claims.StopAndGo(r, p.Parameters.Sequence())
		for _, c := range judged {
			found = append(found, catalogue.Claim{Source: c.Source, Text: c.Text, Holds: c.Holds, Count: c.Count, Measured: c.Measured})
		}
		return found, err
	}
	return e
}
