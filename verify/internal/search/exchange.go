package search

import (
	"encoding/binary"
	"sync"

	"ringleader.example/ringleader/verify/internal/model"
)

// exchange numbers the values that workers send each other in configurations. Each worker has interners of its own, so
// that it needs no lock; it asks here once for each value.
type exchange struct {
	mutex     sync.Mutex
	numbers   [model.Parts]map[string]uint32 // by portable encoding
	encodings [model.Parts][]string
}

func newExchange() *exchange {
	e := &exchange{}
	for i := range e.numbers {
		e.numbers[i] = map[string]uint32{}
	}
	return e
}

// number returns the shared number of an encoded value.
func (e *exchange) number(part int, encoding []byte) uint32 {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	number, found := e.numbers[part][string(encoding)]
	if !found {
		number = uint32(len(e.encodings[part]))
		e.encodings[part] = append(e.encodings[part], string(encoding))
		e.numbers[part][e.encodings[part][number]] = number
	}
	return number
}

func (e *exchange) encoding(part int, number uint32) []byte {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return []byte(e.encodings[part][number])
}

// translation holds the numbers of one kind of part that a worker has asked for.
type translation struct{ outward, inward []uint32 } // one more than the number; 0: not asked for yet

// look returns the place of a number in a list, which grows as needed.
func look(list *[]uint32, number uint32) *uint32 {
	for int(number) >= len(*list) {
		*list = append(*list, 0)
	}
	return &(*list)[number]
}

// export sets sent to a configuration by shared numbers.
func (w *worker) export(conf model.Configuration) {
	w.sent = append(w.sent[:0], conf...)
	if w.exchange == nil {
		return
	}
	for place, number := range conf {
		w.sent[place] = w.shared(place, number)
	}
}

// exportAfter is export for a configuration most parts of which are those of the state that is being expanded.
func (w *worker) exportAfter(conf model.Configuration) {
	if w.exchange == nil {
		w.sent = append(w.sent[:0], conf...)
		return
	}
	w.sent = append(w.sent[:0], w.came...)
	for place, number := range conf {
		if number != w.here[place] {
			w.sent[place] = w.shared(place, number)
		}
	}
}

// shared returns the shared number of a part of a configuration.
func (w *worker) shared(place int, number uint32) uint32 {
	part := w.KindOf(place)
	to := look(&w.numbers[part].outward, number)
	if *to == 0 {
		*to = w.exchange.number(part, w.Encoding(part, number)) + 1
	}
	return *to - 1
}

// load sets here to the first of some packed configurations, and returns the others.
func (w *worker) load(packed []byte) []byte {
	w.came = resized(w.came, len(w.Next))
	for place := range w.came {
		number, length := uint64(packed[0]), 1
		if number >= 0x80 { // it takes more than one byte
			number, length = binary.Uvarint(packed)
		}
		w.came[place], packed = uint32(number), packed[length:]
	}
	if w.exchange == nil {
		w.here = model.Configuration(w.came)
		return packed
	}
	w.here = resized(w.here, len(w.came))
	for place, number := range w.came {
		w.here[place] = w.own(place, number)
	}
	return packed
}

// own returns the worker's number of a part of a configuration from the shared one.
func (w *worker) own(place int, sent uint32) uint32 {
	part := w.KindOf(place)
	to := look(&w.numbers[part].inward, sent)
	if *to == 0 {
		*to = w.Decode(part, w.exchange.encoding(part, sent)) + 1
	}
	return *to - 1
}
