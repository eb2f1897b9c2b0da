package drawing

import (
	"math"
	"slices"
	"strconv"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/trace"
)

type tick struct {
	x     float64
	at    election.Ticks // the time or the number of the step
	label string
}

func (t tick) half() float64 { return TextWidth(t.label, Small) / 2 }

// placeSteps places each step on the axis: a column for each or, with a clock, at its time.
func (d *diagram) placeSteps() {
	const before, behind = 24, 24 // from a line's begin to the first step, and from the last one to its end
	steps := d.past - d.first
	d.x = make([]float64, steps)
	room := Wide - Margin - d.endWidth() - d.left - before - behind
	if d.r.Clock {
		unit := d.placeByTime(d.left+before, room)
		d.labelling = d.r.N < labelled && unit >= 24
	} else {
		column := min(64, room/float64(max(1, steps-1)))
		d.labelling = d.r.N < labelled && column >= 12
		for i := range d.x {
			d.x[i] = d.left + before + float64(float64(i)*column)
			number := election.Units(uint64(d.first + i + 1))
			d.ticks = append(d.ticks, tick{d.x[i], number, number.String()})
		}
	}
	d.ticks = legible(d.ticks)
	d.end = d.left + 48
	if steps > 0 {
		d.end = slices.Max(d.x) + behind // not always the last: steps of one moment are side by side
	}
}

// endWidth returns the width of what follows the lines.
func (d *diagram) endWidth() float64 {
	width := TextWidth("time →", Small)
	for _, final := range d.final {
		width = max(width, TextWidth(final, Small))
	}
	return width + 14
}

// legible returns as many of the ticks as there is room for: the multiples of the least of 1, 2, 5, 10, 20, … that
// leaves enough, without those that touch the one before.
func legible(ticks []tick) []tick {
	apart := func(t, before tick) bool { return t.x-t.half() >= before.x+before.half()+8 }
	touch := func(ticks []tick) bool {
		for i := range len(ticks) - 1 {
			if !apart(ticks[i+1], ticks[i]) {
				return true
			}
		}
		return false
	}
	rest := ticks
	for scale := uint64(1); scale < math.MaxUint64/100 && touch(rest); scale *= 10 {
		for _, step := range []uint64{scale, 2 * scale, 5 * scale} {
			if touch(rest) {
				rest = slices.DeleteFunc(slices.Clone(ticks), func(t tick) bool { return t.at.Hi == 0 && t.at.Lo%step != 0 })
			}
		}
	}
	var kept []tick
	for _, t := range rest {
		if len(kept) == 0 || apart(t, kept[len(kept)-1]) {
			kept = append(kept, t)
		}
	}
	return kept
}

// placeByTime places times to scale, from x on and into that room, and returns the unit: the length of the median
// time between two moments. Times shorter than a quarter of that are drawn as a quarter, so that moments stay apart;
// times longer than two units are cut, and the axis shows a break. Steps of one moment are in causal order within a
// fraction of the unit: a process's steps one after the other, and a message after it was sent.
func (d *diagram) placeByTime(x, room float64) (unit float64) {
	const shortest, longest = 0.25, 2.0
	steps := d.r.Steps[d.first:d.past]
	var first []int // the first step of each moment
	for i := range steps {
		if i == 0 || steps[i].Time != steps[i-1].Time {
			first = append(first, i)
		}
	}
	gaps := make([]float64, len(first)) // before each moment
	for m := 1; m < len(first); m++ {
		gap := steps[first[m]].Time.Sub(steps[first[m-1]].Time)
		gaps[m] = float64(float64(gap.Hi)*(1<<64)) + float64(gap.Lo)
	}
	var median float64
	if len(gaps) > 1 {
		median = slices.Sorted(slices.Values(gaps[1:]))[(len(gaps)-2)/2]
	}
	ranks, most := ranks(steps, first)
	total := 1.0
	for m := 1; m < len(gaps); m++ {
		gaps[m] /= median
		total += min(longest, max(shortest, gaps[m]))
	}
	if unit = min(max(100, float64(2*len(d.arrows))), room/total); unit >= 8 {
		unit = math.Floor(unit)
	}
	for m, begin := range first {
		if m > 0 {
			length := float64(unit * min(longest, max(shortest, gaps[m])))
			if gaps[m] > longest {
				d.breaks = append(d.breaks, math.Round(x+length/2))
			}
			x += length
		}
		past, room := len(steps), unit
		if m+1 < len(first) {
			past = first[m+1]
			room = unit * min(1, max(shortest, gaps[m+1]))
		}
		apart := min(15, float64(0.6*room)/float64(max(1, most[m])))
		for i := begin; i < past; i++ {
			d.x[i] = x + float64(float64(ranks[i])*apart)
		}
		d.ticks = append(d.ticks, tick{x, steps[begin].Time, shortTime(steps[begin].Time)})
	}
	return unit
}

// ranks returns the places of steps among those of the same moment, and the last place of each moment.
func ranks(steps []trace.Step, first []int) (ranks, most []int) {
	ranks, most = make([]int, len(steps)), make([]int, len(first))
	sentIn := map[int]int{} // by message: the place of its step, if that is of this moment
	for m, begin := range first {
		past := len(steps)
		if m+1 < len(first) {
			past = first[m+1]
		}
		clear(sentIn)
		next := map[int]int{} // by process
		for i := begin; i < past; i++ {
			s := &steps[i]
			ranks[i] = next[s.Process]
			if sender, found := sentIn[s.Message]; found && s.Message != 0 {
				ranks[i] = max(ranks[i], sender+1)
			}
			next[s.Process] = ranks[i] + 1
			most[m] = max(most[m], ranks[i])
			for _, sent := range s.Sent {
				sentIn[sent.Message] = ranks[i]
			}
		}
	}
	return ranks, most
}

// shortTime returns a time in at most ten characters.
func shortTime(t election.Ticks) string {
	exact := t.String()
	if len(exact) <= 10 {
		return exact
	}
	if b := t.Big(); b.TrailingZeroBits() == uint(b.BitLen()-1) {
		return "2^" + strconv.Itoa(b.BitLen()-1)
	}
	return "≈" + exact[:1] + "." + exact[1:3] + "e" + strconv.Itoa(len(exact)-1)
}
