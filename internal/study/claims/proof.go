package claims

import (
	"fmt"
	"math/big"
	"slices"
)

// The rest of this file is S5's proof of theorem 4.3, for the identities that walk in one phase of a run.

// colour is an identity's colour in the proof. An identity that is neither black nor white is red.
type colour struct{ black, white bool }

func (c colour) red() bool { return !c.black && !c.white }

// painted holds the identities that walk in a phase.
type painted struct {
	around   []*walk           // clockwise: their order never changes
	messages map[*walk]int     // the length of the segment: the processors that send it
	before   map[*walk][]*walk // B: those that a processor sends before this one
	colours  map[*walk]colour
}

// paint colours the identities that walk in a phase.
func (w *walks) paint(phase int) *painted {
	f := &painted{messages: map[*walk]int{}, before: map[*walk][]*walk{}, colours: map[*walk]colour{}}
	both := map[[2]*walk]int{} // the number of processors that send the one, and later the other
	passed := map[*walk]bool{} // a processor sends a smaller identity after it
	for _, row := range w.sent[phase] {
		for k, x := range row {
			if f.messages[x]++; f.messages[x] == 1 {
				f.around = append(f.around, x)
			}
			for _, y := range row[:k] {
				if !slices.Contains(f.before[x], y) {
					f.before[x] = append(f.before[x], y)
				}
				passed[y] = passed[y] || x.id < y.id
				both[[2]*walk{y, x}]++
			}
		}
	}
	slices.SortFunc(f.around, func(x, y *walk) int { return x.home - y.home })
	white := map[*walk]bool{} // the segment of another one contains its segment
	for _, x := range f.around {
		for _, y := range f.before[x] {
			processors := both[[2]*walk{y, x}]
			white[x] = white[x] || processors == f.messages[x]
			white[y] = white[y] || processors == f.messages[y]
		}
	}
	for _, x := range f.around {
		f.colours[x] = colour{black: !passed[x], white: white[x]}
	}
	return f
}

// share is a pair <id(i), k(i)> of the proof.
type share struct {
	id, k    *walk
	of       []*walk // B(i), or B'(i) in case 2
	next     *walk   // id(i+1)
	distance int     // from id(i) to id(i+1), in identities
	to       int     // from id(i) to k(i)
	two      bool    // case 2: there is a red identity in B(i)
}

// share makes the pair of an identity and finds the next one. If B(i) is empty, that is its neighbour.
func (f *painted) share(at int) share {
	n := len(f.around)
	s := share{id: f.around[at]}
	b := f.before[s.id]
	ahead := func(d int) *walk { return f.around[(at+d)%n] }
	for d := 1; d < n && len(b) > 0; d++ {
		if j := ahead(d); slices.Contains(b, j) && f.colours[j].red() {
			s.distance, s.two = d, true
		}
	}
	if !s.two {
		for s.distance = 1; s.distance < n && slices.Contains(b, ahead(s.distance)); {
			s.distance++
		}
	}
	for d := 1; d < n && len(b) > 0; d++ {
		j := ahead(d)
		if !slices.Contains(b, j) || s.two && d > s.distance {
			continue
		}
		s.of = append(s.of, j)
		if s.k == nil || j.id > s.k.id {
			s.k, s.to = j, d
		}
	}
	s.next = ahead(s.distance)
	return s
}

// shares goes round the ring from id(1) and makes the pairs whose B(i) is not empty. It returns how far it goes past
// id(1) in the end, in identities.
func (f *painted) shares(first int) (all []share, beyond int) {
	n, gone := len(f.around), 0
	for gone < n {
		s := f.share((first + gone) % n)
		gone += s.distance
		if len(s.of) > 0 {
			all = append(all, s)
		}
	}
	return all, gone - n
}

// proof holds the results about S5's proof of theorem 4.3 in all phases of a run. Each string is a counterexample.
type proof struct {
	disjoint                       bool // the segments of black identities
	black, others                  int  // messages in one phase, at most
	sentBefore                     string
	reds, whites, pairs            int
	lemma45                        string
	one, two                       int // pairs of each case
	oneFails, twoFails             string
	followed                       int
	nextFails                      string
	ordered, considered, sumsFails string
	n                              *big.Int
}

func (w *walks) addProof(v *verdicts) {
	p := proof{disjoint: true, n: big.NewInt(int64(w.n))}
	for phase := 1; phase < len(w.sent); phase++ {
		p.look(phase, w.hypothesis(phase).Big(), w.paint(phase), w.sent[phase])
	}
	v.add(Black, p.disjoint && p.black <= w.n, p.black, "together at most %d, n = %d", p.black, w.n)
	v.unless(p.sentBefore, SentBefore, p.pairs, "%d such pairs; %d red identities, %d white", p.pairs, p.reds, p.whites)
	v.unless(p.lemma45, Lemma45, p.pairs, "%d such pairs", p.pairs)
	v.unless(p.oneFails, CaseOne, p.one, "%d pairs, from each id(1)", p.one)
	v.unless(p.nextFails, CaseOneNext, p.followed, "%d times", p.followed)
	v.unless(p.twoFails, CaseTwo, p.two, "%d pairs, from each id(1)", p.two)
	v.unless(p.ordered, PairsOrdered, p.one+p.two, "%d pairs, from each id(1)", p.one+p.two)
	v.unless(p.considered, AllConsidered, p.reds+p.whites, "%d red and %d white identities", p.reds, p.whites)
	v.unless(p.sumsFails, RedAndWhite, p.others, "at most %d messages, n = %d", p.others, w.n)
}

// look goes through the proof in one phase, from each identity that may be id(1).
func (p *proof) look(phase int, h *big.Int, f *painted, sent [][]*walk) {
	p.lookAtBlack(f, sent)
	others := 0
	for _, x := range f.around {
		if c := f.colours[x]; !c.black {
			others += f.messages[x]
			if c.white {
				p.whites++
			} else {
				p.reds++
			}
		}
		for _, j := range f.before[x] {
			p.lookAtPair(phase, h, x, j)
		}
	}
	p.others = max(p.others, others)
	for first, x := range f.around {
		if !f.colours[x].white {
			p.goRound(phase, h, f, first, others)
		}
	}
}

func (p *proof) lookAtBlack(f *painted, sent [][]*walk) {
	sum := 0
	for _, row := range sent {
		black := 0
		for _, x := range row {
			if f.colours[x].black {
				black++
			}
		}
		p.disjoint = p.disjoint && black <= 1
		sum += black
	}
	p.black = max(p.black, sum)
}

// lookAtPair checks an identity i and one in its B(i): the statement about B(1), and lemma 4.5. An identity larger
// than i is not black then, by the definition of black.
func (p *proof) lookAtPair(phase int, h *big.Int, i, j *walk) {
	p.pairs++
	if j.id <= i.id {
		p.sentBefore = fmt.Sprintf("phase %d: j = %d is sent before i = %d", phase, j.id, i.id)
	}
	if j.id <= i.id || rise(j, i).Cmp(apart(h, i, j)) <= 0 {
		p.lemma45 = fmt.Sprintf("phase %d, j = %d, i = %d: t(j) = %d, t(i) = %d", phase, j.id, i.id, j.t, i.t)
	}
}

// rise returns t(i) - t(j).
func rise(j, i *walk) *big.Int { return new(big.Int).Sub(i.t, j.t) }

// apart returns h_m(j - i), for a larger j.
func apart(h *big.Int, i, j *walk) *big.Int {
	d := new(big.Int).SetUint64(j.id - i.id)
	return d.Mul(d, h)
}

// goRound makes the pairs from one id(1), and judges them.
func (p *proof) goRound(phase int, h *big.Int, f *painted, first, others int) {
	all, beyond := f.shares(first)
	from := f.around[first].id
	if beyond > 0 {
		p.ordered = fmt.Sprintf("phase %d, id(1) = %d: the last id(i) lies beyond it", phase, from)
	}
	sum, considered := new(big.Int), map[*walk]int{}
	for _, s := range all {
		messages := 0
		for _, j := range s.of {
			considered[j]++
			messages += f.messages[j]
		}
		sum.Add(sum, rise(s.k, s.id))
		pair := fmt.Sprintf("phase %d, id(i) = %d, k(i) = %d", phase, s.id.id, s.k.id)
		many := new(big.Int).Mul(h, big.NewInt(int64(len(s.of))))
		bounded := big.NewInt(int64(messages)).Cmp(many) <= 0 && s.k.id > s.id.id &&
			many.Cmp(apart(h, s.id, s.k)) <= 0 && apart(h, s.id, s.k).Cmp(rise(s.k, s.id)) <= 0
		failure := fmt.Sprintf("%s: %d identities, %d messages, t(id(i)) - t(k(i)) = %d", pair, len(s.of), messages, rise(s.k, s.id))
		if s.two {
			if p.two++; !bounded {
				p.twoFails = failure
			}
		} else {
			if p.one++; !bounded {
				p.oneFails = failure
			}
			p.followed++
			if !f.colours[s.next].black {
				p.nextFails = fmt.Sprintf("%s: %d follows, and is not black", pair, s.next.id)
			}
		}
		if s.to > s.distance || rise(s.k, s.id).Sign() <= 0 {
			p.ordered = pair + ": k(i) lies beyond id(i+1), or is later"
		}
	}
	for _, x := range f.around {
		if !f.colours[x].black && considered[x] != 1 {
			p.considered = fmt.Sprintf("phase %d, id(1) = %d: %d is considered %d times", phase, from, x.id, considered[x])
		}
	}
	if sum.Cmp(big.NewInt(int64(others))) < 0 || sum.Cmp(p.n) > 0 {
		p.sumsFails = fmt.Sprintf("phase %d, id(1) = %d: %d messages, the sum is %d", phase, from, others, sum)
	}
}
