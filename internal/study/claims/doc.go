// Package claims judges the record of a run by the statements that a source makes about every run, and reports the
// measured values. It knows only the record, and nothing of the engine that made it.
package claims

// Claim is a statement of a source about every run, judged on one.
type Claim struct {
	Statement Statement
	Source    string // where it is stated
	Text      string // the statement
	Holds     bool   // in this run
	Count     int    // the number of cases, or the largest amount; see the statements
	Measured  string // the measured values, or the first failure
}

// Statement names a claim.
type Statement uint8

// The statements of S5. The comments give the meaning of Count.
const (
	OneMessage    Statement = iota // messages of one identity at a time, at most
	EndsOfPhases                   // ends of phases
	GrowingPhases                  // hypotheses
	OneHome                        // identities that returned to their origin
	OneWaits                       // messages that wait at one processor, at most
	OrderKept                      // identities that walked
	LatestEntry                    // nothing
	LastEntry                      // units from the first that wakes to the last that enters phase 1
	SumOfRises                     // the sum of the rises of t round the ring
	PhaseMessages                  // messages of one phase, at most
	Black                          // messages of black identities in one phase, at most
	SentBefore                     // pairs of which a processor sends one before the other
	Lemma45                        // the same pairs
	CaseOne                        // pairs <id(i), k(i)> of case 1
	CaseOneNext                    // those that another identity follows
	CaseTwo                        // pairs of case 2
	PairsOrdered                   // pairs of either case
	AllConsidered                  // red and white identities
	RedAndWhite                    // messages of red and white identities in one phase, at most
	Elected                        // processors that know the leader
)

// sources gives the place of each statement, and its text.
var sources = [...]struct{ source, text string }{
	OneMessage:    {"S5 section 4, observation (1)", "each participating identity has at most one message in the ring"},
	EndsOfPhases:  {"S5 section 4, observation (2)", "at the end of phase m an alive identity has walked h_m steps, or is home"},
	GrowingPhases: {"S5 section 4, observation (3)", "each hypothesis is greater than the one before"},
	OneHome:       {"S5 section 4, observation (4)", "only the identity of the leader arrives at the processor where it started"},
	OneWaits:      {"S5 section 3", "at most one message waits at a processor"},
	OrderKept:     {"S5 section 4", "the cyclic order of the alive identities never changes"},
	LatestEntry:   {"S5 section 4", "t(j) <= t(i) + dist(i, j)"},
	LastEntry:     {"S5 theorem 4.2", "at most n units between the first to wake and the last to enter phase 1"},
	SumOfRises:    {"S5 lemma 4.4", "the sum of the rises of t round the ring is at most n"},
	PhaseMessages: {"S5 theorem 4.3", "fewer than 2n messages in each phase"},
	Black:         {"S5 theorem 4.3, proof", "the segments of black identities are disjoint, and together at most n"},
	SentBefore:    {"S5 theorem 4.3, proof", "if a processor in phase m sends j, and later i, then j > i, and j is red or white"},
	Lemma45:       {"S5 lemma 4.5", "t(j) < t(i) - h_m(j - i) if a processor in phase m sends j, and later i"},
	CaseOne:       {"S5 theorem 4.3, proof, case 1", "no red identity in B(i): its messages are at most h_m |B(i)| <= h_m(k(i) - id(i)) <= t(id(i)) - t(k(i))"},
	CaseOneNext:   {"S5 theorem 4.3, proof, case 1", "the next identity that is not in B(i) is black"},
	CaseTwo:       {"S5 theorem 4.3, proof, case 2", "a red identity in B(i): those of B'(i) are at most h_m |B'(i)| <= h_m(k(i) - id(i)) <= t(id(i)) - t(k(i))"},
	PairsOrdered:  {"S5 theorem 4.3, proof", "id(1), k(1), id(2), … are clockwise ordered, id(i) is not k(i), and t(id(i)) > t(k(i))"},
	AllConsidered: {"S5 theorem 4.3, proof", "each red or white identity is in one B(i) or B'(i)"},
	RedAndWhite:   {"S5 theorem 4.3, proof", "red and white identities take at most n messages, the sum of t(id(i)) - t(k(i))"},
	Elected:       {"S5 theorem 4.1", "at the end a leader has been elected"},
}

// Text returns the statement in words. No two statements have the same.
func (s Statement) Text() string { return sources[s].text }
