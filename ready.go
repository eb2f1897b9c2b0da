package ringleader

import "ringleader.example/ringleader/election"

// SetReady tells, with Config.AwaitReady, whether the work of [Member.Lead] can serve, for example because it listens. The work begins without being
// ready. After the end of the leadership, and without Lead, it does nothing. The lease does not depend on it.
func (l Leadership) SetReady(ready bool) {
	if l.member != nil {
		l.member.work.setReady(l.term, ready)
	}
}

// setReady notes whether the work of a term is ready.
func (w *work) setReady(term election.Term, ready bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.term == term {
		w.ready = ready
	}
}

// isReady reports whether the work of a term runs and is ready.
func (w *work) isReady(term election.Term) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.term == term && w.ready
}
