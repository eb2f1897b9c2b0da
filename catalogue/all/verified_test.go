package all_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify"
)

var update = flag.Bool("update", false, "write docs/verified.md")

// path returns a path of so many processes.
func path(n int) network.Setup {
	i := network.Setup{}
	for p := range n {
		i.IDs = append(idList(i), uint64((p*3)%n+1))
		if p > 0 {
			i.Edges = append(i.Edges, [2]int{p - 1, p})
		}
	}
	return i
}

func idList(i network.Setup) election.List {
	l, _ := i.IDs.(election.List)
	return l
}

// with returns parameters: names and values in turn.
func with(parameters ...string) network.Setup {
	i := network.Setup{Parameters: map[string]string{}}
	for k := 0; k < len(parameters); k += 2 {
		i.Parameters[parameters[k]] = parameters[k+1]
	}
	return i
}

// verified are sizes that take at most a few seconds on two cores. Without a size the instance has the identifiers.
var verified = map[string]verify.Options{
	"ring-bully-simple":      {Size: 10},
	"ring-bully":             {Size: 8},
	"lcr":                    {Size: 10},
	"lcr-synchronous":        {Size: 9},
	"lelann":                 {Size: 9},
	"odd-one-out":            {Instance: network.Setup{IDs: election.List{2, 1, 1, 1, 1, 1, 1, 1}}},
	"odd-pair":               {Instance: network.Setup{IDs: election.List{7, 5, 5, 7, 5, 5, 5}}},
	"logical-ring":           {Size: 7},
	"preference":             {Size: 7},
	"preference-ring":        {Size: 10},
	"preference-tree":        {Instance: path(9)},
	"tree":                   {Instance: path(9)},
	"hirschberg-sinclair":    {Size: 7},
	"bully":                  {Size: 4},
	"modified-bully":         {Size: 5},
	"invitation":             {Size: 4},
	"quorum-bully":           {Instance: few(), Crashes: 1, Recoveries: 1, SafetyOnly: true},
	"franklin":               {Size: 8},
	"peterson":               {Size: 10},
	"peterson-alternating":   {Size: 10},
	"dolev-klawe-rodeh":      {Size: 10},
	"dolev-klawe-rodeh-b":    {Size: 10},
	"minmax":                 {Size: 10},
	"higham-przytycka":       {Size: 10},
	"itai-rodeh":             {Size: 4, Instance: with("rounds", "unnumbered")},
	"itai-rodeh-synchronous": {Size: 9},
	"afek-gafni":             {Size: 5},
	"afek-gafni-synchronous": {Size: 8},
	"known-size":             {Size: 9},
	"stop-and-go-p1":         {Size: 9},
	"stop-and-go-p2":         {Size: 9},
	"stop-and-go-p3":         {Size: 9},
	"stop-and-go-p4":         {Size: 9},
	"variable-speeds":        {Size: 9},
}

// few are three members of quorum-bully with rules 1 to 6 alone, in two terms.
func few() network.Setup {
	i := with("terms", "2", "renewals", "1", "lease", "6", "rho", "0", "renewal", "2",
		"answer-timeout", "1", "deferral", "1", "claim-timeout", "2", "asking", "no")
	i.IDs, i.Priorities = election.List{1, 2, 3}, []uint16{0, 1, 1}
	return i
}

// Every schedule of every algorithm, at a size that takes some seconds; docs/verified.md is the result.
func TestEveryAlgorithmIsVerified(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	var page bytes.Buffer
	page.WriteString(`# What is verified

Every schedule of every algorithm, with all orders of its identifiers where their order matters, at a size that takes at most a few
seconds on two cores. Every property holds in all of them. A test makes this table again. *One schedule*: every order, or so many of
them, is decided by one of its schedules, and the states are those of that schedule. *Partial order*, *symmetry*: states or orders are
left out that show nothing more. The package comment of ` + "`verify`" + ` has the proofs.

| algorithm | processes | orders | states | |
|---|---|---|---|---|
`)
	for _, e := range all.Algorithms {
		o, there := verified[e.Name]
		if !there {
			t.Errorf("%s is not verified", e.Name)
			continue
		}
		size := o.Size
		if size == 0 {
			size = o.Instance.IDs.Len()
		}
		o.Reduce, o.Cores = verify.AnyReduction, runtime.GOMAXPROCS(0)
		r, err := e.Verify(o)
		if err != nil || r.Violation != nil || !r.Complete {
			t.Errorf("%s: %+v, %v", e.Name, r, err)
			continue
		}
		var notes []string
		switch {
		case r.Confluent == r.Orders:
			notes = append(notes, "one schedule")
		case r.Confluent > 0:
			notes = append(notes, fmt.Sprintf("one schedule of %d", r.Confluent))
		}
		if r.Partial > 0 {
			notes = append(notes, "partial order")
		}
		if r.Symmetry {
			notes = append(notes, "symmetry")
		}
		for _, name := range slices.Sorted(maps.Keys(o.Instance.Parameters)) {
			notes = append(notes, "`"+name+"="+o.Instance.Parameters[name]+"`")
		}
		if o.Crashes > 0 {
			notes = append(notes, "a crash and a recovery")
		}
		fmt.Fprintf(&page, "| %s | %d | %d | %d | %s |\n", e.Name, size, r.Orders, r.States, strings.Join(notes, ", "))
	}
	const file = "../../docs/verified.md"
	if *update {
		if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(file); err != nil || !bytes.Equal(old, page.Bytes()) {
		t.Errorf("%s is not what is found: go test -run TestEveryAlgorithmIsVerified . -update makes it (%v)", file, err)
	}
}
