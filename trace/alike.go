package trace

import "slices"

// Alike reports whether steps of two records are the same event with the same effects. Times do not count, nor the copies of messages,
// which are made on the way, nor lines and values, which a run has if it was asked for them.
func (s *Step) Alike(other *Step) bool {
	return s.Number == other.Number && s.Process == other.Process && s.Event == other.Event && s.Message == other.Message &&
		s.From == other.From && s.Port == other.Port && s.Kind == other.Kind && s.Text == other.Text && s.State == other.State && s.Broken == other.Broken &&
		slices.EqualFunc(s.Sent, other.Sent, alikeSent) && slices.EqualFunc(s.Timers, other.Timers, alikeTimers) && slices.EqualFunc(s.Decided, other.Decided, alikeDecisions)
}

func alikeSent(m, other Sent) bool {
	return m.Message == other.Message && m.To == other.To && m.Port == other.Port && m.Kind == other.Kind && m.Text == other.Text
}

func alikeTimers(t, other Timer) bool { return t.Name == other.Name && same(t.After, other.After) }

func alikeDecisions(d, other Decision) bool {
	return d.Role == other.Role && d.Term == other.Term && same(d.Leader, other.Leader) && same(d.Lease, other.Lease)
}

// same reports whether two pointers are both nil, or point to equal values.
func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }
