// Package sources is the bibliography of Ringleader: the five source texts, S1 to S5, and the papers and books behind them.
//
// Other packages cite a work by its key, such as "S4 rule 3", or by its authors and year, such as "Chang–Roberts 1979".
package sources

import "strings"

// Work is a text that Ringleader implements, checks or cites.
type Work struct {
	Key   string // S1 … S5; empty for a work that is cited by authors and year alone
	Cite  string // authors and year, as the field cites it: "Chang–Roberts 1979"
	Title string // the full reference
	About string // what Ringleader takes from it
}

// Works lists all works: S1 to S5 first, then the others by year.
var Works = []Work{
	{
		"S1", "Algorithms of Informatics §13.3",
		"A. Iványi (editor), Algorithms of Informatics, section 13.3: Leader election on rings",
		"two algorithms named Bully on an oriented asynchronous ring; lemma 13.9, theorems 13.8, 13.10 and 13.11",
	},
	{
		"S2", "Chowdhary, lecture 2",
		"A. Chowdhary, lecture notes 2: Leader election algorithms",
		"extrema-finding and preference-based elections; LCR, its synchronous form, the logical ring, trees, complete graphs, exercises",
	},
	{
		"S3", "Baliukonis, on Hirschberg–Sinclair 1980",
		"Baliukonis, Leader election in asynchronous rings",
		"Hirschberg–Sinclair with from, ok and no on a ring without common orientation, and its bound",
	},
	{
		"S4", "Bully algorithm, on Garcia-Molina 1982",
		"Bully algorithm, an encyclopaedia's article on Garcia-Molina 1982",
		"the Bully algorithm as five rules, with a failure detector, crashes and recoveries",
	},
	{
		"S5", "Marchetti-Spaccamela 1987",
		"A. Marchetti-Spaccamela, New protocols for the election of a leader in a ring, Theoretical Computer Science 54, 1987",
		"elections on synchronous rings: known size, the scheme of hypotheses, protocols P1 to P4, theorems 4.1 to 5.1",
	},
	{"", "LeLann 1977", "G. Le Lann, Distributed systems: towards a formal approach, IFIP Congress, 1977", "lelann"},
	{"", "Chang–Roberts 1979", "E. Chang, R. Roberts, An improved algorithm for decentralized extrema-finding in circular configurations of processes, Communications of the ACM 22(5), 1979", "lcr, and its average"},
	{"", "Angluin 1980", "D. Angluin, Local and global properties in networks of processors, STOC 1980", "why processes that are alike stay alike"},
	{"", "Burns 1980", "J. E. Burns, A formal model for message passing systems, Technical Report 91, Indiana University, 1980", "the adversary of the lower bound on asynchronous rings"},
	{"", "Hirschberg–Sinclair 1980", "D. S. Hirschberg, J. B. Sinclair, Decentralized extrema-finding in circular configurations of processors, Communications of the ACM 23(11), 1980", "ring-bully, hirschberg-sinclair"},
	{"", "Itai–Rodeh 1981", "A. Itai, M. Rodeh, Symmetry breaking in distributed networks, FOCS 1981; Information and Computation 88(1), 1990", "itai-rodeh, itai-rodeh-synchronous"},
	{"", "Franklin 1982", "R. Franklin, On an improved algorithm for decentralized extrema finding in circular configurations of processors, Communications of the ACM 25(5), 1982", "franklin"},
	{"", "Peterson 1982", "G. L. Peterson, An O(n log n) unidirectional algorithm for the circular extrema problem, ACM Transactions on Programming Languages and Systems 4(4), 1982", "peterson, peterson-alternating"},
	{"", "Dolev–Klawe–Rodeh 1982", "D. Dolev, M. Klawe, M. Rodeh, An O(n log n) unidirectional distributed algorithm for extrema finding in a circle, Journal of Algorithms 3(3), 1982", "dolev-klawe-rodeh, dolev-klawe-rodeh-b"},
	{"", "Garcia-Molina 1982", "H. Garcia-Molina, Elections in a distributed computing system, IEEE Transactions on Computers C-31(1), 1982", "bully, invitation"},
	{"", "Frederickson–Lynch 1984", "G. N. Frederickson, N. A. Lynch, The impact of synchronous communication on the problem of electing a leader in a ring, STOC 1984; Journal of the ACM 34(1), 1987", "variable-speeds; the lower bound on synchronous rings"},
	{"", "Vitányi 1984", "P. M. B. Vitányi, Distributed elections in an Archimedean ring of processors, STOC 1984", "variable-speeds"},
	{"", "Yamashita–Kameda 1988", "M. Yamashita, T. Kameda, Computing on an anonymous network, PODC 1988", "which elections are possible without distinct identifiers"},
	{"", "Gray–Cheriton 1989", "C. G. Gray, D. R. Cheriton, Leases: an efficient fault-tolerant mechanism for distributed file cache consistency, SOSP 1989", "leases, in quorum-bully"},
	{"", "Afek–Gafni 1991", "Y. Afek, E. Gafni, Time and message bounds for election in synchronous and asynchronous complete networks, SIAM Journal on Computing 20(2), 1991", "afek-gafni, afek-gafni-synchronous"},
	{"", "Tanenbaum 1992", "A. S. Tanenbaum, Modern Operating Systems, 1992", "logical-ring"},
	{"", "Higham–Przytycka 1993", "L. Higham, T. Przytycka, A simple, efficient algorithm for maximum finding on rings, WDAG 1993", "higham-przytycka, min-max"},
	{"", "Singh–Kurose 1994", "S. Singh, J. Kurose, Electing “good” leaders, Journal of Parallel and Distributed Computing 20(2), 1994", "preference, preference-ring"},
	{"", "Lynch 1996", "N. A. Lynch, Distributed Algorithms, 1996", "lcr-synchronous"},
	{"", "Attiya–Welch 2004", "H. Attiya, J. Welch, Distributed Computing, second edition, 2004", "a bound of variable-speeds"},
	{"", "Mamun–Masum–Mustafa 2004", "Q. E. K. Mamun, S. M. Masum, M. A. R. Mustafa, Modified Bully algorithm for electing coordinator in distributed systems, 2004", "modified-bully"},
	{"", "Fokkink–Pang 2006", "W. Fokkink, J. Pang, Variations on Itai–Rodeh leader election for anonymous rings and their analysis in PRISM, Journal of Universal Computer Science 12(8), 2006", "the finite form of itai-rodeh"},
	{"", "Lavault–Louchard 2006", "C. Lavault, G. Louchard, Asymptotic analysis of a leader election algorithm, Theoretical Computer Science 359, 2006", "a bound of itai-rodeh-synchronous"},
	{"", "Santoro 2006", "N. Santoro, Design and Analysis of Distributed Algorithms, 2006", "min-max, tree, preference-tree"},
	{"", "Ongaro–Ousterhout 2014", "D. Ongaro, J. Ousterhout, In search of an understandable consensus algorithm, USENIX Annual Technical Conference, 2014", "terms and majorities, in quorum-bully"},
}

// Of returns the work that a citation begins with, by its key or by its authors and year, or nil if none is known.
func Of(citation string) *Work {
	for i := range Works {
		w := &Works[i]
		if w.Key != "" && begins(citation, w.Key) || begins(citation, w.Cite) {
			return w
		}
	}
	return nil
}

// begins reports whether a text begins with a word or words, and not with a longer word.
func begins(text, words string) bool {
	rest, found := strings.CutPrefix(text, words)
	return found && (rest == "" || strings.ContainsRune(" ,;:)", rune(rest[0])))
}
