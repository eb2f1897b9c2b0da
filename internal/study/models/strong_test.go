package models_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
	"ringleader.example/ringleader/proofs"
)

// An axiom that does not hold of an instance is refused, if that is sure: an instance has a few of the integers. One that is tried on none is named.
func TestAnAxiomThatIsTooStrongIsRefused(t *testing.T) {
	var many []string
	for n := range 300 {
		many = append(many, fmt.Sprintf("(v%d Process)", n))
	}
	deep, equal := "(define d0 () Bool \"w\" true)", strings.Repeat("(= true ", 80)+"true"+strings.Repeat(")", 80)
	for n := range 60 {
		deep += fmt.Sprintf("(define d%d () Bool \"w\" (and d%d d%[2]d d%[2]d d%[2]d))", n+1, n)
	}
	for _, c := range []struct{ model, now, says string }{
		{"lcr", deep + "(axiom mine \"w\" d60)", "[mine] <nil>"}, // too large to be tried
		{"bully", deep + "(axiom mine \"w\" d60)", "[mine] <nil>"},
		{"lcr", "(axiom mine \"w\" " + equal + ")", "[] <nil>"},
		{"quorum-bully", "", "[] <nil>"},
		{"lcr", "(axiom mine \"w\" (forall ((p Process) (q Process)) (= p q)))", "[] lcr: the axiom mine does not hold on the ring [1 2], so what is proved is not of every ring"},
		{"quorum-bully", "(axiom mine \"w\" (forall ((c Claim) (d Claim)) (= c d)))", "[] quorum-bully: the axiom mine does not hold on the instance of quorum-bully, so what is proved is not of every group"},
		{"quorum-bully", "(axiom mine \"w\" (forall ((c Claim) (s Int)) (= (share-end c s) (- s 1))))", "[] quorum-bully: the axiom mine does not hold on the instance of quorum-bully, so what is proved is not of every group"},
		{"tree", "(axiom mine \"w\" (forall ((p Process) (q Process)) (edge p q)))", "[] tree: the axiom mine does not hold on the instance of tree, so what is proved is not of every group"},
		{"lcr", "(axiom mine \"w\" (forall ((x Int)) (exists ((y Int)) (> y x))))", "[mine] <nil>"},
		{"lcr", "(axiom mine \"w\" (not (exists ((y Int)) (forall ((x Int)) (>= y x)))))", "[mine] <nil>"},
		{"lcr", "(define lesser ((x Int)) Bool \"w\" (exists ((y Int)) (< y x)))(axiom mine \"w\" (forall ((x Int)) (=> true (and (lesser x) true))))", "[mine] <nil>"},
		{"lcr", "(axiom mine \"w\" (= true (forall ((x Int)) (> x 0))))", "[mine] <nil>"},
		{"lcr", "(axiom mine \"w\" (forall ((x Int)) (< x 1)))", "[] lcr: the axiom mine does not hold on the ring [1], so what is proved is not of every ring"},
		{"lcr", "(constant far (Process) Process \"w\")(axiom mine \"w\" (forall ((p Process)) (= p (far p))))", "[mine] <nil>"},
		{"lcr", "(axiom mine \"w\" (forall (" + strings.Join(many, " ") + ") (= v0 v0)))", "[mine] <nil>"},
		{"lcr", "(invariant mine \"w\" (forall (" + strings.Join(many, " ") + ") (= v0 v0)))", "[] <nil>"},
		{"lcr", "(state mine (" + strings.Repeat("Process ", 40) + ") Bool \"w\")", "[] <nil>"},
		{"bully", "(constant far (Process) Process \"w\")(axiom mine \"w\" (forall ((p Process)) (= p (far p))))", "[mine] <nil>"},
	} {
		text, err := proofs.Files.ReadFile(c.model + ".model")
		if err != nil {
			t.Fatal(err)
		}
		m, err := logic.Load(fstest.MapFS{"m.model": {Data: []byte(string(text) + c.now)}}, proofs.Files, "m.model")
		if err != nil {
			t.Fatal(err)
		}
		unsure, err := models.TooStrong(m)
		if got := fmt.Sprint(unsure.Untried, " ", err); got != c.says {
			t.Errorf("%s: %s, want %s", c.now, got, c.says)
		}
	}
}

// An axiom that holds wherever it is tried may still be too strong. Axioms of the models of folder proofs are known.
func TestAnAxiomThatWasTriedIsNotTrueForThat(t *testing.T) {
	for _, c := range []struct{ model, now, says string }{
		{"lcr", "", "[]"},
		{"quorum-bully", "", "[]"},
		{"lcr", "(axiom four \"w\" (forall ((p Process) (q Process) (r Process) (s Process) (o Process)) (not (distinct p q r s o))))", "[these axioms hold on rings of up to four processes, and were tried nowhere else: four]"},
		{"bully", "(axiom four \"w\" (forall ((p Process) (q Process) (r Process) (s Process) (o Process)) (not (distinct p q r s o))))", "[these axioms hold on the instance of bully, and were tried nowhere else: four]"},
	} {
		text, err := proofs.Files.ReadFile(c.model + ".model")
		if err != nil {
			t.Fatal(err)
		}
		m, err := logic.Load(fstest.MapFS{"m.model": {Data: []byte(string(text) + c.now)}}, proofs.Files, "m.model")
		if err != nil {
			t.Fatal(err)
		}
		unsure, err := models.TooStrong(m)
		if got := fmt.Sprint(unsure.Warnings()); got != c.says || err != nil {
			t.Errorf("%s, %v, want %s", got, err, c.says)
		}
	}
}
