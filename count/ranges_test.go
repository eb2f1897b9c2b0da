package count

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
	"ringleader.example/ringleader/order"
)

// ranged are the closed forms by ranges, without hirschberg-sinclair, which has ring-bully's ranges.
var ranged = map[string]Ranged{
	"lcr": LCR, "lcr-synchronous": LCRSynchronous, "ring-bully-simple": RingBullySimple, "ring-bully": RingBully,
	"franklin": Franklin, "dolev-klawe-rodeh": DolevKlaweRodeh,
	"peterson": Peterson, "peterson-alternating": PetersonAlternating, "minmax": MinMax,
}

// joined returns the range of a whole ring that is read in equal parts.
func joined(t property.TB, r *Ranges, parts int) *Range {
	t.Helper()
	var all []*Range
	for part := range uint64(parts) {
		all = append(all, ranging(t, r, part*r.Len()/uint64(parts), (part+1)*r.Len()/uint64(parts)))
	}
	for len(all) > 1 {
		at := len(all)*2/3 - 1 // neither from the first on nor from the last on
		if err := r.Join(all[at], all[at+1]); err != nil {
			t.Fatal(err)
		}
		all[at] = filed(t, all[at])
		all = slices.Delete(all, at+1, at+2)
	}
	return all[0]
}

// ranging returns a range as it is read from a file.
func ranging(t property.TB, r *Ranges, from, to uint64) *Range {
	t.Helper()
	known, err := r.Read(context.Background(), from, to)
	if err != nil {
		t.Fatal(err)
	}
	return filed(t, known)
}

func filed(t property.TB, r *Range) *Range {
	t.Helper()
	again := new(Range)
	if err := json.Unmarshal(text(t, r), again); err != nil {
		t.Fatal(err)
	}
	return again
}

func text(t property.TB, r *Range) []byte {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTwoRangesAreTheBytesOfTheirUnion(t *testing.T) {
	property.Check(t, func(t *property.T) {
		n := property.Uint64Range(2, 40).Draw(t, "n")
		values := property.OneOf(property.Uint64Range(0, 60), property.Uint64Range(math.MaxUint64-60, math.MaxUint64))
		ids := election.List(property.Distinct(values, int(n), int(n)).Draw(t, "ids"))
		switch property.SampledFrom([]string{"as drawn", "rising", "falling"}).Draw(t, "how") {
		case "rising":
			slices.Sort(ids)
		case "falling":
			slices.Sort(ids)
			slices.Reverse(ids)
		}
		from := property.Uint64Range(0, n-2).Draw(t, "from")
		to := property.Uint64Range(from+2, n).Draw(t, "to")
		cut := property.Uint64Range(from+1, to-1).Draw(t, "cut")
		for name, f := range ranged {
			r, err := f(ids, election.Parameters{})
			if err != nil {
				t.Fatal(err)
			}
			first, second := ranging(t, r, from, cut), ranging(t, r, cut, to)
			if err := errors.Join(r.Check(first, from, cut), r.Check(second, cut, to)); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if r.Check(first, from, cut+1) == nil || r.Check(second, cut+1, to) == nil {
				t.Fatalf("%s: what is known of other positions passes", name)
			}
			if err := r.Join(first, second); err != nil {
				t.Fatal(err)
			}
			if got, want := text(t, first), text(t, ranging(t, r, from, to)); string(got) != string(want) {
				t.Fatalf("%s on %d, %d to %d cut at %d: %s\nwant %s", name, ids, from, to, cut, got, want)
			}
		}
	})
}

// A large ring is read in parts, and they are as many as processors have work for.
func TestALargeRingIsReadInPartsToTheSameResult(t *testing.T) {
	const n = 3 * minPart
	names := order.Names[:3]
	if testing.Short() {
		names = names[:1]
	}
	for _, name := range names {
		o, err := order.Parse(name, n, 1)
		if err != nil {
			t.Fatal(err)
		}
		for algorithm, f := range ranged {
			r, err := f(o, election.Parameters{})
			if err != nil {
				t.Fatal(err)
			}
			want, err := r.Result(joined(t, r, 1))
			if err != nil {
				t.Fatal(err)
			}
			done := 0
			if got, err := f.Count(t.Context(), o, election.Parameters{}, func(at, _ int) { done = at }); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %s: %+v, %v; want %+v", algorithm, name, got, err, want)
			}
			if done != n {
				t.Errorf("%s, %s: the progress ends at %d", algorithm, name, done)
			}
		}
	}
}

// What comes from a file can be anything. It is refused, or has some result, and nothing panics.
func TestWhatIsNoRangeOfARingIsRefused(t *testing.T) {
	ids := election.List{3, 1, 4, 15, 9, 2, 6, 5, 35, 8}
	n, random := uint64(len(ids)), rand.New(rand.NewPCG(1, 1))
	tries := 2000
	if testing.Short() {
		tries = 100
	}
	for name, f := range ranged {
		r, err := f(ids, election.Parameters{})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Join(&Range{}, &Range{}); !errors.Is(err, ErrRing) {
			t.Errorf("%s: nothing is joined: %v", name, err)
		}
		if err := r.Join(ranging(t, r, 0, 6), ranging(t, r, 4, n)); !errors.Is(err, ErrRing) {
			t.Errorf("%s: more than the ring is joined: %v", name, err)
		}
		if err := r.Join(ranging(t, r, 4, 8), ranging(t, r, 0, 4)); r.row == 0 && !errors.Is(err, ErrRing) {
			t.Errorf("%s: ranges are joined in the wrong order: %v", name, err)
		}
		if found, err := r.Result(ranging(t, r, 0, n-1)); !errors.Is(err, ErrRing) {
			t.Errorf("%s: %v is the result of a part", name, found)
		}
		over := ranging(t, r, 0, n)
		if len(over.Records) > 0 {
			over.Records[0].ID = 99
			if found, err := r.Result(over); !errors.Is(err, ErrRing) {
				t.Errorf("%s: an identifier beyond the largest is found, and the result is %v", name, found)
			}
		}
		bare := ranging(t, r, 0, 4)
		if bare.Last = nil; name == "ring-bully" && !errors.Is(r.Join(bare, ranging(t, r, 4, n)), ErrRing) {
			t.Errorf("%s: a range without its sums is joined", name)
		}
		for range tries {
			first, second := changed(t, ranging(t, r, 0, 4), random), changed(t, ranging(t, r, 4, n), random)
			if first != nil && second != nil && r.Join(first, second) == nil {
				_, _ = r.Result(first)
			}
		}
	}
}

// changed returns a range with some digits changed; nil if it is none then.
func changed(t *testing.T, r *Range, random *rand.Rand) *Range {
	t.Helper()
	line := text(t, r)
	for range random.IntN(3) {
		if i := random.IntN(len(line)); line[i] >= '0' && line[i] <= '9' {
			line[i] = byte('0' + random.IntN(10))
		}
	}
	again := new(Range)
	if json.Unmarshal(line, again) != nil {
		return nil
	}
	return again
}
