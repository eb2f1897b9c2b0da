package election_test

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"ringleader.example/ringleader/election"
)

func TestTicksKeepTheirValueThroughJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := election.Ticks{Hi: rapid.Uint64().Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo")}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got election.Ticks
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Fatalf("%s became %s, %v", want, got, err)
		}
	})
}

func TestTicksReadWholeNumbersBelowTheirLimitOnly(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), 128).String()
	for _, text := range []string{"-1", "1.0", "1e3", `"1"`, "null", "true", "{}", limit, strings.Repeat("9", 1000)} {
		var ticks election.Ticks
		err := json.Unmarshal([]byte(text), &ticks)
		if err == nil {
			t.Errorf("%s was read as %s", text, ticks)
		} else if len(err.Error()) > 200 {
			t.Errorf("the error for a text of %d bytes has %d", len(text), len(err.Error()))
		}
		if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
			t.Errorf("%s is not even JSON", text)
		}
	}
}
