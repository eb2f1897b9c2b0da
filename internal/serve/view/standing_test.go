package view

import (
	"bytes"
	"strings"
	"testing"
)

// maxReason is how much of a reason arrives.
const maxReason = 1000

func TestAStandingIsDecodedAsItWasTold(t *testing.T) {
	for _, s := range []Standing{
		{Weight: 1}, {Weight: 65535, Unable: "its disk fails"}, {Weight: 7, Warmth: Warm}, {Weight: 7, Warmth: Warming}, {Weight: 7, Warmth: Failed, Cold: "no source"}, {},
	} {
		if got, err := DecodeStanding(s.Append(nil, maxReason)); err != nil || got != s {
			t.Errorf("%+v is decoded as %+v, %v", s, got, err)
		}
	}
	long := Standing{Weight: 1, Unable: strings.Repeat("x", 2*maxReason)}
	if got, err := DecodeStanding(long.Append(nil, maxReason)); err != nil || got.Unable != long.Unable[:maxReason] {
		t.Errorf("of a long reason %d bytes arrive, %v", len(got.Unable), err)
	}
	for _, wrong := range [][]byte{nil, {1, 0}, {1, 0, byte(Warm+1) << 1}, {1, 0, 255}} {
		if s, err := DecodeStanding(wrong); err == nil {
			t.Errorf("%v is decoded as %+v", wrong, s)
		}
	}
}

func FuzzDecodeStanding(f *testing.F) {
	f.Add(Standing{Weight: 3, Warmth: Failed, Cold: "no source"}.Append(nil, maxReason))
	f.Fuzz(func(t *testing.T, from []byte) {
		s, err := DecodeStanding(from)
		if err != nil || len(from) > StandingSize+maxReason {
			return
		}
		if again, err := DecodeStanding(s.Append(nil, maxReason)); err != nil || again != s {
			t.Errorf("%v is %+v, and then %+v, %v", bytes.Clone(from), s, again, err)
		}
	})
}

// A warm member is above all that are not, whatever their weights are, and a member that may not lead is below all.
func TestWarmthIsRankBeforeWeight(t *testing.T) {
	rising := []Standing{
		{Weight: 9, Warmth: Warm, Unable: "its disk fails"},
		{Weight: 1, Warmth: Failed},
		{Weight: MaxPreparedWeight, Warmth: Failed},
		{Weight: 1, Warmth: Warming},
		{Weight: MaxPreparedWeight, Warmth: Warming},
		{Weight: 1, Warmth: Warm},
		{Weight: MaxPreparedWeight, Warmth: Warm},
	}
	for i := range rising[1:] {
		if low, high := rising[i].Weighs(), rising[i+1].Weighs(); low >= high {
			t.Errorf("%+v has the weight %d, and %+v has %d", rising[i], low, rising[i+1], high)
		}
	}
	if w := (Standing{Warmth: Warm}).Weighs(); w != 0 {
		t.Errorf("a witness that is warm has the weight %d", w)
	}
	if w := (Standing{Weight: 65535}).Weighs(); w != 65535 {
		t.Errorf("a member that prepares nothing has the weight %d in place of 65535", w)
	}
}
