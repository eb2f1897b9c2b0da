package all_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/catalogue"
	"ringleader.example/ringleader/catalogue/all"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/verify"
)

var (
	update = flag.Bool("update", false, "write docs/verified.md")
	longer = flag.Bool("long", false, "verify sizes that take a minute each, too")
)

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
	"odd-one-out":            {Setup: network.Setup{IDs: election.List{2, 1, 1, 1, 1, 1, 1, 1}}},
	"odd-pair":               {Setup: network.Setup{IDs: election.List{7, 5, 5, 7, 5, 5, 5}}},
	"logical-ring":           {Size: 7},
	"preference":             {Size: 7},
	"preference-ring":        {Size: 10},
	"preference-tree":        {Setup: path(7)},
	"tree":                   {Setup: path(7)},
	"hirschberg-sinclair":    {Size: 7},
	"bully":                  {Size: 4},
	"modified-bully":         {Size: 5},
	"invitation":             {Size: 4},
	"quorum-bully":           {Setup: few("2"), Crashes: 1, Recoveries: 1, SafetyOnly: true},
	"franklin":               {Size: 8},
	"peterson":               {Size: 10},
	"peterson-alternating":   {Size: 10},
	"dolev-klawe-rodeh":      {Size: 10},
	"dolev-klawe-rodeh-b":    {Size: 10},
	"minmax":                 {Size: 10},
	"higham-przytycka":       {Size: 10},
	"itai-rodeh":             {Size: 4, Setup: with("rounds", "unnumbered")},
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

// few are three members of quorum-bully with rules 1 to 6 alone, in so many terms.
func few(terms string) network.Setup {
	i := with("terms", terms, "renewals", "1", "lease", "6", "rho", "0", "renewal", "2",
		"answer-timeout", "1", "deferral", "1", "claim-timeout", "2", "asking", "no")
	i.IDs, i.Priorities = election.List{1, 2, 3}, []uint16{0, 1, 1}
	return i
}

// long are larger sizes, which take at most a minute or two on one core and 2 GiB. Where the size is that of verified, the next one
// takes more.
var long = map[string]verify.Options{
	"ring-bully-simple":      {Size: 11},
	"ring-bully":             {Size: 9},
	"lcr":                    {Size: 11},
	"lcr-synchronous":        {Size: 10},
	"lelann":                 {Size: 11},
	"odd-one-out":            {Setup: equals(1 << 17)},
	"odd-pair":               {Setup: pair(1 << 13)},
	"logical-ring":           {Size: 8},
	"preference":             {Size: 11},
	"preference-ring":        {Size: 11},
	"preference-tree":        {Setup: path(8)},
	"tree":                   {Setup: path(8)},
	"hirschberg-sinclair":    {Size: 8},
	"bully":                  {Size: 4},
	"modified-bully":         {Size: 6},
	"invitation":             {Size: 5},
	"quorum-bully":           {Setup: few("4"), Crashes: 1, Recoveries: 1, SafetyOnly: true},
	"franklin":               {Size: 9},
	"peterson":               {Size: 11},
	"peterson-alternating":   {Size: 11},
	"dolev-klawe-rodeh":      {Size: 11},
	"dolev-klawe-rodeh-b":    {Size: 11},
	"minmax":                 {Size: 11},
	"higham-przytycka":       {Size: 11},
	"itai-rodeh":             {Size: 5, Setup: with("rounds", "unnumbered")},
	"itai-rodeh-synchronous": {Size: 10},
	"afek-gafni":             {Size: 6},
	"afek-gafni-synchronous": {Size: 9},
	"known-size":             {Size: 10},
	"stop-and-go-p1":         {Size: 10},
	"stop-and-go-p2":         {Size: 10},
	"stop-and-go-p3":         {Size: 10},
	"stop-and-go-p4":         {Size: 10},
	"variable-speeds":        {Size: 10},
}

// pair are so many identifiers, of which the first and the fourth differ.
func pair(n int) network.Setup {
	ids := slices.Repeat(election.List{5}, n)
	ids[0], ids[3] = 7, 7
	return network.Setup{IDs: ids}
}

// equals are so many identifiers, of which the first differs.
func equals(n int) network.Setup {
	ids := slices.Repeat(election.List{1}, n)
	ids[0] = 2
	return network.Setup{IDs: ids}
}

const head = `# What is verified

Every schedule of every algorithm, with all orders of its identifiers where their order matters, at a size that takes at most a few
seconds on two cores. Every property holds in all of them. A test makes this table again: rows of 200 000 states or more with ` + "`-long`" + `.
*One schedule*: every order, or so many of them, is decided by one of its schedules, and the states are those of that schedule. *Partial order*, *symmetry*: states or orders are
left out that show nothing more. The package comment of ` + "`verify`" + ` has the proofs.

Each row assumes this, also where the algorithm declares to need less: all processes initiate first, and links are FIFO. Messages of timed
algorithms take one unit. No process fails, except in rows that name a fault. Trees are paths, in one order, ports are numbered clockwise, and each
process is willing and votes for itself. Of the members of quorum-bully two can lead, and only safety is judged, since its elections never end.
Identifiers are 1 to n, except those of ` + "`odd-one-out`" + ` and ` + "`odd-pair`" + `. Parameters have their defaults, unless the row names others.
` + "`ringleader verify`" + ` assumes less at smaller sizes, and says what it has left out.

| algorithm | processes | orders | states | |
|---|---|---|---|---|
`

const minutes = `
## A minute

The same at larger sizes, which take at most a minute or two on one core, and 2 GiB of memory. ` + "`bash .ci/run --long`" + ` makes this table
again. There is no reduction here but one schedule, so a size may be that of the first table.

| algorithm | processes | orders | states | |
|---|---|---|---|---|
`

const verifiedPage = "../../docs/verified.md"

// many is the number of states from which on a row of the page is made only with -long; otherwise three processes fewer are verified.
const many = 200_000

// Every schedule of every algorithm, at a size that takes some seconds; docs/verified.md is the result.
func TestEveryAlgorithmIsVerified(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	for _, e := range all.Algorithms {
		for _, sizes := range []map[string]verify.Options{verified, long} {
			if _, there := sizes[e.Name]; !there {
				t.Errorf("%s is not verified", e.Name)
			}
		}
	}
	page, err := os.ReadFile(verifiedPage)
	if err != nil {
		t.Fatal(err)
	}
	reduce := func(*catalogue.Entry, *verify.Options) verify.Reduction { return verify.AnyReduction }
	compare(t, head+rows(t, verified, reduce, func(e *catalogue.Entry, o *verify.Options) (row string) {
		row = regexp.MustCompile(`(?m)^\| ` + e.Name + ` \|.*\n`).FindString(string(page))
		var size, orders, states uint64
		if _, err := fmt.Sscanf(row, "| "+e.Name+" | %d | %d | %d |", &size, &orders, &states); err != nil || *update || *longer || states < many || o.Size == 0 {
			return ""
		}
		o.Size -= 3
		return row
	}), 0)
}

// The same at sizes that take a minute each, half an hour in all.
func TestEveryAlgorithmIsVerifiedForAMinute(t *testing.T) {
	if !*longer {
		t.Skip("it takes half an hour; .ci/run --long does it")
	}
	compare(t, minutes+rows(t, long, func(e *catalogue.Entry, o *verify.Options) verify.Reduction {
		o.Memory = 2 << 30
		one := *o
		one.Reduce, one.MaxStates = verify.Confluence, 1
		if _, err := e.Verify(one); err != nil {
			return verify.NoReduction
		}
		return verify.Confluence
	}, func(*catalogue.Entry, *verify.Options) string { return "" }), 1)
}

// rows verifies algorithms, and returns a row of the page for each. written returns the row where another size is verified.
func rows(t *testing.T, sizes map[string]verify.Options, reduce func(*catalogue.Entry, *verify.Options) verify.Reduction, written func(*catalogue.Entry, *verify.Options) string) string {
	t.Helper()
	var page strings.Builder
	for _, e := range all.Algorithms {
		o, there := sizes[e.Name]
		if !there {
			continue
		}
		size := o.Size
		if size == 0 {
			size = o.Setup.IDs.Len()
		}
		old := written(e, &o)
		o.Reduce, o.Cores = reduce(e, &o), runtime.GOMAXPROCS(0)
		r, err := e.Verify(o)
		if err != nil || r.Violation != nil || !r.Complete {
			t.Errorf("%s: %+v, %v", e.Name, r, err)
			continue
		}
		if old != "" {
			page.WriteString(old)
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
		for _, name := range slices.Sorted(maps.Keys(o.Setup.Parameters)) {
			notes = append(notes, "`"+name+"="+o.Setup.Parameters[name]+"`")
		}
		if o.Crashes > 0 {
			notes = append(notes, "a crash and a recovery")
		}
		row := fmt.Sprintf("| %s | %d | %d | %d | %s |\n", e.Name, size, r.Orders, r.States, strings.Join(notes, ", "))
		t.Log(row)
		page.WriteString(row)
	}
	return page.String()
}

// compare compares one of the two parts of the page with what is found, or writes it.
func compare(t *testing.T, found string, part int) {
	t.Helper()
	text, err := os.ReadFile(verifiedPage)
	if err != nil {
		t.Fatal(err)
	}
	const border = "\n## A minute\n"
	first, second, _ := strings.Cut(string(text), border)
	parts := []string{first, border + second}
	if parts[part] == found {
		return
	}
	if parts[part] = found; *update {
		if err := os.WriteFile(verifiedPage, []byte(parts[0]+parts[1]), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s is not what is found: go test -run %s . -update makes it", verifiedPage, t.Name())
}
