package sources

import (
	"slices"
	"testing"
)

func TestACitationIsFoundByKeyOrByAuthorsAndYear(t *testing.T) {
	for citation, want := range map[string]string{
		"S4 rule 3": "S4", "S5": "S5", "Marchetti-Spaccamela 1987, section 2 (S5)": "S5", "Franklin 1982": "", "LeLann 1977; S2": "",
	} {
		if w := Of(citation); w == nil || w.Key != want {
			t.Errorf("%s is %v", citation, w)
		}
	}
	for _, citation := range []string{"", "S6", "S41", "Franklin 1983", "Franklin 19820", "derived"} {
		if w := Of(citation); w != nil {
			t.Errorf("%s is %v", citation, w)
		}
	}
}

func TestEveryWorkIsListedOnceAndInOrder(t *testing.T) {
	var years []string
	for i, w := range Works {
		if w.Title == "" || w.About == "" || Of(w.Cite) != &Works[i] || w.Key != "" && Of(w.Key) != &Works[i] {
			t.Errorf("%+v", w)
		}
		if w.Key == "" {
			years = append(years, w.Cite[len(w.Cite)-4:])
		}
	}
	if !slices.IsSorted(years) {
		t.Errorf("years %v", years)
	}
}
