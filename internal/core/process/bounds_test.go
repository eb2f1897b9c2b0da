package process

import (
	"errors"
	"math/big"
	"testing"

	"ringleader.example/ringleader/election"
)

// What a declaration refuses with is one line that a terminal shows as it is.
func TestErrorsOfADeclarationAreOneLine(t *testing.T) {
	wrong := errors.New("no\nway\x1b[31m")
	d := probing().Declaration
	d.AllowDuplicates = func(election.Arrangement) error { return wrong }
	d.Sequence = func(election.Parameters, uint64, uint) ([]*big.Int, error) { return nil, wrong }
	named := bounded(&d)
	_, err := named.Sequence(election.Parameters{}, 1, 1)
	for name, err := range map[string]error{"AllowDuplicates": named.AllowDuplicates(election.List{1, 1}), "Sequence": err} {
		if want := `no way\x1b[31m`; err == nil || err.Error() != want {
			t.Errorf("the error of %s is %v, want %s", name, err, want)
		}
	}
}
