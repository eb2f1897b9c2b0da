package report

import (
	"fmt"

	"ringleader.example/ringleader/catalogue"
)

// claimsJSON returns the JSON of claims.
func claimsJSON(found []catalogue.Claim) Object {
	if found == nil {
		return nil
	}
	var all []Object
	for _, claim := range found {
		all = append(all, Object{{"source", claim.Source}, {"claim", claim.Text}, {"holds", claim.Holds}, {"measured", claim.Measured}})
	}
	return Object{{"checks", all}}
}

// claims prints claims for people.
func (p *Printer) claims(found []catalogue.Claim) {
	paint := p.Paint()
	for i, claim := range found {
		if i == 0 {
			fmt.Fprintln(p.Out)
		}
		verdict := paint.Text(Green, "holds")
		if !claim.Holds {
			verdict = paint.Text(Red, "FAILS")
		}
		fmt.Fprintf(p.Out, "  %s  %s (%s)\n         %s\n", verdict, claim.Text, claim.Source, claim.Measured)
	}
}
