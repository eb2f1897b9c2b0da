package model

import "math/bits"

// Fingerprint is 128 bits of hash of a value or a configuration. It depends on the content alone, never on the numbers
// of interners, so that all workers agree on it.
//
// The fingerprint of a configuration is a sum over its parts, of a mixture of each part's content with its place. So a
// transition updates it by the parts that changed.
type Fingerprint struct{ Lo, Hi uint64 }

// Plus returns a sum.
func (f Fingerprint) Plus(g Fingerprint) Fingerprint { return Fingerprint{f.Lo + g.Lo, f.Hi + g.Hi} }

func (f Fingerprint) minus(g Fingerprint) Fingerprint { return Fingerprint{f.Lo - g.Lo, f.Hi - g.Hi} }

// fold multiplies two words, and folds the product into one.
func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// placeKey is what the contents at one place of a configuration are mixed with.
type placeKey [4]uint64

// placeKeys returns keys for so many places, made by SplitMix64.
func placeKeys(places int) []placeKey {
	keys, seed := make([]placeKey, places), uint64(0)
	for i := range keys {
		for j := range keys[i] {
			seed += 0x9E3779B97F4A7C15
			z := (seed ^ seed>>30) * 0xBF58476D1CE4E5B9
			z = (z ^ z>>27) * 0x94D049BB133111EB
			keys[i][j] = z ^ z>>31
		}
	}
	return keys
}

func (k *placeKey) Mix(f Fingerprint) Fingerprint {
	return Fingerprint{fold(f.Lo^k[0], f.Hi^k[1]), fold(f.Lo^k[2], f.Hi^k[3])}
}

// part returns what a part of a configuration adds to its fingerprint.
func (c *Checker) part(place int, number uint32) Fingerprint {
	var content Fingerprint
	switch {
	case place < c.N:
		content = c.Processes.Prints[number]
	case place < len(c.Keys)-1:
		content = c.Queues.Prints[number]
	default:
		content = c.Globals.Prints[number]
	}
	return c.Keys[place].Mix(content)
}

// Print returns the fingerprint of a configuration.
func (c *Checker) Print(conf Configuration) (f Fingerprint) {
	for place, number := range conf {
		f = f.Plus(c.part(place, number))
	}
	return f
}

// PrintAfter returns the fingerprint of a configuration from that of another one.
func (c *Checker) PrintAfter(f Fingerprint, before, after Configuration) Fingerprint {
	for place, number := range after {
		if old := before[place]; old != number {
			f = f.minus(c.part(place, old)).Plus(c.part(place, number))
		}
	}
	return f
}
