package plan

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"ringleader.example/ringleader/election"
)

func TestTheTextOfAWalkHasEveryEvent(t *testing.T) {
	var walk []SavedChoice
	for _, kind := range walkKinds {
		for _, number := range []string{"0", "1", "255"} {
			c := SavedChoice{What: kind.what, Order: kind.order}
			for _, f := range kind.fields {
				if err := f.set(&c, number); err != nil {
					t.Fatal(err)
				}
			}
			walk = append(walk, c)
		}
	}
	walk = append(walk,
		SavedChoice{What: "deliver", Process: math.MaxInt32, Link: math.MaxUint32, Draw: math.MaxUint64},
		SavedChoice{What: "pass", Time: election.Ticks{Hi: math.MaxUint64, Lo: math.MaxUint64}},
		SavedChoice{What: "cut", Cut: "partition 1,2 | 3,4,5"},
		SavedChoice{What: "recover", Process: 1, Life: 7, State: "AQ-_AA"},
		SavedChoice{What: "heal", Process: 2, Cut: "cut 1 -> 2"},
	)
	read, err := ReadWalk(WalkText(walk))
	if err != nil || !reflect.DeepEqual(read, walk) {
		t.Errorf("%v: %s\nis %+v\nand not %+v", err, WalkText(walk), read, walk)
	}
	for _, c := range walk { // no two kinds have one letter
		if again, err := ReadWalk(c.Text()); err != nil || len(again) != 1 || again[0] != c {
			t.Errorf("%s is %+v, %v", c.Text(), again, err)
		}
	}
}

func TestATextThatIsNoWalkIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		"s0d1.":         `event 2 of the walk, "d1.": "" is not a number`,
		"s0 s1":         `" s1" is no event of a walk, such as d1.0; the address or command may be cut off`,
		"z3":            "there is no kind of event z",
		"s1.2":          "it has 2 numbers, and start has at most 1",
		"e0.256":        `"256" is not a number that it can have`,
		"d0.4294967296": `"4294967296" is not a number that it can have`,
		"c0(partition":  "is no event of a walk",
	} {
		if _, err := ReadWalk(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
