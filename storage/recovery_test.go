package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// interrupted is a store whose record has been saved three times, just before and just after the last Save.
type interrupted struct {
	made
	before, after []byte // the file
	at            int    // of the page that the last Save wrote
}

const long = MaxData // so that all sectors of a page have content

func interrupt(t *testing.T) interrupted {
	i := interrupted{made: newMade(t, 1)}
	d := i.mustRead(t)
	save(t, d, "r", strings.Repeat("0", long))
	save(t, d, "r", strings.Repeat("1", long))
	save(t, d, "r", strings.Repeat("2", long))
	i.before = bytes.Clone(i.cache)
	save(t, d, "r", strings.Repeat("3", long))
	i.after = bytes.Clone(i.cache)
	for i.before[i.at] == i.after[i.at] {
		i.at++
	}
	i.at = i.at / pageSize * pageSize
	return i
}

// bits yields bits of a page: all of the first and last bytes of each sector, where numbers, lengths and seals are, and one of each
// other byte.
func bits(yield func(bit int) bool) {
	for at := range pageSize {
		edge := at%sectorSize < 2*sealSize || at%sectorSize >= sectorSize-2*sealSize
		for bit := range 8 {
			if (edge || bit == at%8) && !yield(8*at+bit) {
				return
			}
		}
	}
}

// A device may write the sectors of a page in any order.
func TestAWriteThatLacksAnySectorsWasNeverAcknowledged(t *testing.T) {
	i := interrupt(t)
	const all = 1<<(pageSize/sectorSize) - 1
	for written := range all + 1 {
		copy(i.cache, i.before)
		for sector := range pageSize / sectorSize {
			if written>>sector&1 == 1 {
				from := i.at + sector*sectorSize
				copy(i.cache[from:from+sectorSize], i.after[from:])
			}
		}
		want := "2"
		if written == all {
			want = "3"
		}
		if got, err := i.load("r"); err != nil || got != strings.Repeat(want, long) {
			t.Fatalf("sectors %b are written: %.10q, %v; want %s", written, got, err, want)
		}
	}
}

// A device that does not write sectors as a whole may end anywhere. Then a seal of the write before is left, or the
// end is in the last seal.
func TestAWriteThatEndsAtAnyByteIsRecognisedUnlessItEndsInTheLastSeal(t *testing.T) {
	i := interrupt(t)
	for end := range pageSize + 1 {
		copy(i.cache, i.before)
		copy(i.cache[i.at:i.at+end], i.after[i.at:])
		want := "2"
		if bytes.Equal(i.cache, i.after) {
			want = "3"
		}
		got, err := i.load("r")
		inLastSeal := end > pageSize-sealSize && want == "2"
		if inLastSeal && !errors.Is(err, ErrDamaged) || !inLastSeal && (err != nil || got != strings.Repeat(want, long)) {
			t.Fatalf("%d bytes are written: %.10q, %v; want %s", end, got, err, want)
		}
	}
}

func TestDamageToWhatWasAcknowledgedLastIsAnError(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	i := interrupt(t)
	damaged := func(what string) {
		t.Helper()
		if got, err := i.load("r"); !errors.Is(err, ErrDamaged) || !errors.Is(err, ErrData) {
			t.Fatalf("%s: %.10q, %v", what, got, err)
		}
		copy(i.cache, i.after)
	}
	page := i.cache[i.at : i.at+pageSize]
	for bit := range bits {
		page[bit/8] ^= 1 << (bit % 8)
		damaged(fmt.Sprintf("bit %d is flipped", bit))
	}
	for from := 0; from < pageSize; from += sectorSize {
		for to := from + sectorSize; to <= pageSize; to += sectorSize {
			clear(page[from:to])
			damaged(fmt.Sprintf("bytes %d to %d are zero", from, to))
		}
	}
	other := i.after[i.at^pageSize:]
	copy(page, other[:pageSize])
	damaged("the other page was written here, too")
	copy(page[:sectorSize], other)
	damaged("a sector of the other page was written here, too")
	copy(page[7*sectorSize:], page[2*sectorSize:3*sectorSize])
	damaged("a sector of the page was written in another place of it, too")
	stranger := interrupt(t)
	copy(page, stranger.before[i.at:])
	damaged("the page is one of another store")
}

func TestDamageToWhatCountsWhileAWriteIsCutShortIsAnError(t *testing.T) {
	i := interrupt(t)
	copy(i.cache, i.before)
	copy(i.cache[i.at:i.at+sectorSize], i.after[i.at:])
	i.cache[i.at^pageSize] ^= 1
	if got, err := i.load("r"); !errors.Is(err, ErrDamaged) {
		t.Errorf("neither page is whole: %.10q, %v", got, err)
	}
}

func TestDamageToWhatANewerSaveReplacedLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	i := interrupt(t)
	other := i.cache[i.at^pageSize:][:pageSize]
	for bit := range bits {
		other[bit/8] ^= 1 << (bit % 8)
		if got, err := i.load("r"); err != nil || got != strings.Repeat("3", long) {
			t.Fatalf("bit %d is flipped: %.10q, %v", bit, got, err)
		}
		copy(i.cache, i.after)
	}
	clear(other)
	if got, err := i.load("r"); !errors.Is(err, ErrDamaged) {
		t.Errorf("it could be the newer one, for all that is left of it: %.10q, %v", got, err)
	}
}

func TestEveryBitOfTheHeaderMatters(t *testing.T) {
	if testing.Short() {
		t.Skip("it only computes")
	}
	m := newMade(t, 1)
	good := bytes.Clone(m.cache)
	for bit := range bits { // its newest page is the second one
		for _, at := range []int{pageSize, 0} {
			m.cache[at+bit/8] ^= 1 << (bit % 8)
			_, err := m.load("r")
			if replaced := at == 0 && bit >= 8*len(magic); (err == nil) != replaced || err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) {
				t.Fatalf("bit %d of page %d is flipped: %v", bit, at/pageSize, err)
			}
			copy(m.cache, good)
		}
	}
}

// A page may have sectors of a failed attempt and of the next one.
func TestTwoAttemptsAreNotTakenForOne(t *testing.T) {
	for _, whole := range []bool{false, true} { // the first attempt
		m := newMade(t, 2)
		d := m.mustRead(t)
		save(t, d, "r", strings.Repeat("0", long))
		m.device.write = func([]byte, int64) (int, error) {
			m.device.write = func([]byte, int64) (int, error) { return 0, io.ErrShortWrite }
			if whole {
				return pageSize, nil
			}
			return 4 * sectorSize, io.ErrShortWrite
		}
		if err := d.Save([]Record{{"r", []byte(strings.Repeat("1", long))}, {"s", nil}}); !errors.Is(err, ErrWrite) {
			t.Fatal(err)
		}
		m.device.write, m.device.flush = nil, func() error { return io.ErrShortWrite }
		if err := d.Save([]Record{{"r", []byte(strings.Repeat("2", long))}}); !errors.Is(err, ErrFlush) {
			t.Fatal(err)
		}
		m.device.flush = nil
		for sector, versions := range m.versions {
			if sector%(pageSize/sectorSize) < 4 {
				m.versions[sector] = versions[:1]
			} else {
				m.versions[sector] = versions[len(versions)-1:]
			}
		}
		m.lose(func(n int) int { return n - 1 })
		if got, err := m.load("r"); err != nil || got != strings.Repeat("0", long) {
			t.Errorf("%.10q, %v", got, err)
		}
	}
}

// A power failure leaves the first half of a write, and the next one the second half of another write. Together they are no content.
func TestAnAttemptAfterAPowerFailureHasANumberOfItsOwn(t *testing.T) {
	var store [16]byte
	p, pages := newPair(store, 0, bytes.Repeat([]byte("0"), capacity))
	write := func(digit string, from, to int) {
		page := p.at(store, p.next).page(p.next, bytes.Repeat([]byte(digit), capacity))
		copy(pages[p.next%2*pageSize:][:pageSize][from:to], page[from:to])
	}
	counts := func() {
		t.Helper()
		if got, ok := p.judge(store, pages); !ok || !bytes.Equal(got, bytes.Repeat([]byte("0"), capacity)) {
			t.Fatalf("%v: %.10q … %.10q", ok, got, got[max(0, len(got)-10):])
		}
	}
	write("1", 0, pageSize/2)
	counts()
	write("2", pageSize/2, pageSize)
	counts()
}

// The whole history of a store, with all faults that a process survives, all that it does not, and all moments in
// which the power can fail.
func TestNothingAcknowledgedIsLostAndNothingComesBack(t *testing.T) {
	seeds := uint64(500)
	if testing.Short() {
		seeds = 100
	}
	m := newMade(t, 1)
	fresh := bytes.Clone(m.cache)
	for seed := range seeds {
		m.device.cache, m.device.disk, m.device.versions = bytes.Clone(fresh), bytes.Clone(fresh), nil
		h := history{made: m, t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 0)), may: map[string][]string{}, is: map[string]string{}}
		h.open()
		for range 1 + h.choose(30) {
			h.step()
		}
	}
}

// history is what happens to a store, and what may be in it.
type history struct {
	made
	t      *testing.T
	seed   uint64
	random *rand.Rand
	d      *Directory
	is     map[string]string   // what was acknowledged, or loaded
	may    map[string][]string // what was not, since then
	n      int
}

func (h *history) choose(n int) int { return h.random.IntN(n) }

func (h *history) fatal(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("seed %d: %s", h.seed, fmt.Sprintf(format, args...))
}

// fail lets a later write or the next flush fail, or none.
func (h *history) fail() {
	broken := errors.New("broken")
	h.device.write, h.device.flush = nil, nil
	switch h.choose(4) {
	case 0:
		left := h.choose(4)
		h.device.write = func(b []byte, _ int64) (int, error) {
			left--
			if left >= 0 {
				return len(b), nil
			}
			return h.choose(len(b)/sectorSize) * sectorSize, []error{broken, io.ErrShortWrite}[h.choose(2)]
		}
	case 1:
		h.device.flush = func() error {
			h.spill(h.choose)
			return broken
		}
	}
}

// open begins a process, and another one if that fails.
func (h *history) open() {
	for {
		h.fail()
		d, err := h.read()
		faulty := h.device.write != nil || h.device.flush != nil
		h.device.write, h.device.flush = nil, nil
		if err == nil {
			h.d = d
			break
		}
		if !faulty || !errors.Is(err, ErrWrite) && !errors.Is(err, ErrFlush) {
			h.fatal("a process finds %v", err)
		}
		if h.choose(2) == 0 {
			h.lose(h.choose)
		}
	}
	for _, name := range names {
		b, err := h.d.Load(name)
		before, was := h.is[name]
		ok := err == nil && (b == nil && !was || b != nil && was && string(b) == before)
		for _, data := range h.may[name] {
			ok = ok || err == nil && b != nil && string(b) == data
		}
		if !ok {
			h.fatal("%q is %.20q, %v; it was %.20q, and may be %.20q", name, b, err, before, h.may[name])
		}
		delete(h.may, name)
		if b != nil {
			h.is[name] = string(b)
		}
	}
}

var names = []string{"", "a", "b", "c", "d"}

func (h *history) step() {
	switch h.choose(6) {
	case 0:
		h.open()
	case 1:
		h.lose(h.choose)
		h.open()
	default:
		h.save()
	}
}

func (h *history) save() {
	var records []Record
	for range 1 + h.choose(3) {
		h.n++
		data := []byte(strings.Repeat(fmt.Sprint(h.n, " "), 1+h.choose(MaxData/8)))
		name := names[h.choose(len(names))]
		if before, ok := h.is[name]; ok && h.choose(3) == 0 {
			data = []byte(before)
		}
		records = append(records, Record{name, data})
		h.may[name] = append(h.may[name], string(data))
	}
	h.fail()
	err := h.d.Save(records)
	flushed := h.device.flush == nil
	h.device.write, h.device.flush = nil, nil
	switch {
	case err == nil:
		for _, r := range records {
			h.is[r.Name] = string(r.Data)
		}
		for _, r := range records {
			delete(h.may, r.Name)
		}
	case errors.Is(err, ErrFlush) && !flushed:
		if again := h.d.Save(records); !errors.Is(again, ErrFlush) {
			h.fatal("after a failed flush it saves again: %v", again)
		}
		h.open()
	case !errors.Is(err, ErrWrite):
		h.fatal("%v", err)
	}
}
