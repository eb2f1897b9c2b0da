package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/core/property"
)

type point struct {
	ID   election.ID
	X, Y int16
}

// padded has padding between its fields, and no pointers.
type padded struct {
	Small uint8
	Large uint64
	Flag  bool
}

// everything has a field of every form.
type everything struct {
	Small  uint8
	Large  uint64
	Flag   bool
	Word   uint
	Signed int64
	Byte   int8
	Number int
	Corner point
	Until  election.Deadline
	Grid   [2][3]uint16
	Terms  []election.Term
	Paths  [][]point
	Shares []struct {
		Flag bool
		Ends [2]election.Deadline
	}
	hidden int32
}

// shapes are types of states: plain, each in its own way.
var shapes = []reflect.Type{
	reflect.TypeFor[struct{}](), reflect.TypeFor[bool](), reflect.TypeFor[int8](), reflect.TypeFor[election.ID](),
	reflect.TypeFor[election.Deadline](), reflect.TypeFor[padded](), reflect.TypeFor[[]point](), reflect.TypeFor[[0]uint64](),
	reflect.TypeFor[[3][]uint8](), reflect.TypeFor[[][][]bool](), reflect.TypeFor[everything](), reflect.TypeFor[[]everything](),
}

// draw fills a value at random; an empty slice is nil.
func draw(t *property.T, v reflect.Value, now election.Ticks) {
	v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem() // unexported fields too
	if d, ok := v.Addr().Interface().(*election.Deadline); ok {
		*d = election.DeadlineIn(election.Ticks{Hi: property.Uint64Range(0, 9).Draw(t, "hi"), Lo: property.Uint64().Draw(t, "lo")}, now)
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(property.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(property.Int64().Draw(t, "signed") >> (64 - v.Type().Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(property.Uint64().Draw(t, "unsigned") >> (64 - v.Type().Bits()))
	case reflect.Struct:
		for i := range v.NumField() {
			draw(t, v.Field(i), now)
		}
	case reflect.Slice:
		if n := property.IntRange(0, 3).Draw(t, "length"); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			draw(t, v.Index(i), now)
		}
	}
}

func planOf(t testing.TB, typ reflect.Type) *Plan {
	plan, err := Of(typ, true)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func drawTicks(t *property.T) election.Ticks {
	return election.Ticks{Hi: property.Uint64Range(0, 9).Draw(t, "hi of now"), Lo: property.Uint64().Draw(t, "lo of now")}
}

func TestAValueReadsAsItWasWritten(t *testing.T) {
	for _, typ := range shapes {
		plan := planOf(t, typ)
		property.Check(t, func(t *property.T) {
			now := drawTicks(t)
			value, read := reflect.New(typ), reflect.New(typ)
			draw(t, value.Elem(), now)
			before := property.SliceOf(property.Byte()).Draw(t, "before")
			after := property.SliceOf(property.Byte()).Draw(t, "after")
			encoded := plan.Append(bytes.Clone(before), value.UnsafePointer(), now)
			if !bytes.HasPrefix(encoded, before) {
				t.Fatalf("%s: what was there already changed", typ)
			}
			rest, err := plan.Decode(append(encoded[len(before):], after...), read.UnsafePointer(), now)
			if err != nil || !bytes.Equal(rest, after) || !reflect.DeepEqual(value.Interface(), read.Interface()) {
				t.Fatalf("%+v was read as %+v, %v; %v follows, not %v", value.Elem(), read.Elem(), err, rest, after)
			}
		})
	}
}

// Padding and spare capacity are not in the encoding.
func TestEqualValuesHaveEqualEncodings(t *testing.T) {
	for _, typ := range shapes {
		plan := planOf(t, typ)
		property.Check(t, func(t *property.T) {
			now := drawTicks(t)
			value := reflect.New(typ)
			draw(t, value.Elem(), now)
			encoded := plan.Append(nil, value.UnsafePointer(), now)

			dirty := reflect.New(typ)
			draw(t, dirty.Elem(), now) // the earlier contents do not matter
			if typ == reflect.TypeFor[padded]() {
				memory := unsafe.Slice((*byte)(dirty.UnsafePointer()), typ.Size())
				copy(memory, bytes.Repeat([]byte{0xff}, len(memory)))
			}
			if _, err := plan.Decode(encoded, dirty.UnsafePointer(), now); err != nil {
				t.Fatal(err)
			}
			if again := plan.Append(nil, dirty.UnsafePointer(), now); !bytes.Equal(again, encoded) {
				t.Fatalf("%+v is written as\n%v and\n%v", value.Elem(), encoded, again)
			}
		})
	}
	var nothing, none struct{ List []uint8 }
	none.List = make([]uint8, 0, 9)
	plan := planOf(t, reflect.TypeFor[struct{ List []uint8 }]())
	a, b := plan.Append(nil, unsafe.Pointer(&nothing), election.Ticks{}), plan.Append(nil, unsafe.Pointer(&none), election.Ticks{})
	if !bytes.Equal(a, b) {
		t.Errorf("no list is %v, an empty one %v", a, b)
	}
}

// Peers and data directories of other versions, and of other machines, read these bytes.
func TestTheEncodingIsThisOne(t *testing.T) {
	type inner struct {
		A bool
		B []int16
	}
	v := struct {
		A uint8
		B uint64
		C [2]int32
		D []inner
		E election.Deadline
	}{1, 2, [2]int32{3, -4}, []inner{{true, []int16{-5}}, {}}, election.DeadlineIn(election.Ticks{Hi: 7, Lo: 6}, election.Units(100))}
	plan := planOf(t, reflect.TypeOf(v))
	want := []byte{
		1,
		2, 0, 0, 0, 0, 0, 0, 0,
		3, 0, 0, 0, 0xfc, 0xff, 0xff, 0xff,
		2, 0, 0, 0, 1, 1, 0, 0, 0, 0xfb, 0xff, 0, 0, 0, 0, 0,
		6, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0,
	}
	if got := plan.Append(nil, unsafe.Pointer(&v), election.Units(100)); !bytes.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if got, want := plan.Schema(), "{A:0/8 B:0/64 C:[2]1/32 D:[]{A:2/8 B:[]1/16} E:4/128}"; got != want {
		t.Errorf("schema %s, want %s", got, want)
	}
	fixed := struct {
		A bool
		B [2]struct{ C, D int32 }
		E uint64
	}{true, [2]struct{ C, D int32 }{{1, -2}, {3, 4}}, 1 << 63}
	oracle, err := binary.Append(nil, binary.LittleEndian, fixed)
	if err != nil {
		t.Fatal(err)
	}
	plan = planOf(t, reflect.TypeOf(fixed))
	if got := plan.Append(nil, unsafe.Pointer(&fixed), election.Ticks{}); !bytes.Equal(got, oracle) {
		t.Errorf("%v; encoding/binary writes %v", got, oracle)
	}
}

func TestADeadlineIsWrittenAsWhatIsLeftOfIt(t *testing.T) {
	plan := planOf(t, reflect.TypeFor[election.Deadline]())
	at := func(deadline, now uint64) string {
		d := election.DeadlineIn(election.Units(deadline), election.Ticks{})
		return string(plan.Append(nil, unsafe.Pointer(&d), election.Units(now)))
	}
	if at(10, 3) != at(107, 100) {
		t.Error("7 are left, but it depends on the time")
	}
	if at(10, 3) == at(10, 4) {
		t.Error("a moment later nothing has changed")
	}
	if at(10, 10) != at(0, 0) || at(10, 11) != at(3, 99) {
		t.Error("those that have passed are not all alike")
	}
	property.Check(t, func(t *property.T) {
		before, after := drawTicks(t), drawTicks(t)
		left := drawTicks(t)
		d := election.DeadlineIn(left, before)
		encoded := plan.Append(nil, unsafe.Pointer(&d), before)
		var moved election.Deadline
		if _, err := plan.Decode(encoded, unsafe.Pointer(&moved), after); err != nil || moved.Left(after) != left {
			t.Fatalf("%s were left, and then %s, %v", left, moved.Left(after), err)
		}
	})
}

type forest []struct{ Below forest }

func TestWhatIsNotPlainIsRefusedByTheNameOfItsField(t *testing.T) {
	for _, test := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[struct{ P *int }](), ".P is a ptr"},
		{reflect.TypeFor[struct{ M map[int]int }](), ".M is a map"},
		{reflect.TypeFor[struct{ A struct{ Name string } }](), ".A.Name is a string"},
		{reflect.TypeFor[struct{ F []func() }](), ".F[] is a func"},
		{reflect.TypeFor[struct{ C [2][]chan int }](), ".C[][] is a chan"},
		{reflect.TypeFor[struct{ A, b any }](), ".A is a interface"},
		{reflect.TypeFor[struct{ hidden float64 }](), ".hidden is a float64"},
		{reflect.TypeFor[struct{ C complex64 }](), ".C is a complex64"},
		{reflect.TypeFor[struct{ U uintptr }](), ".U is a uintptr"},
		{reflect.TypeFor[struct{ U unsafe.Pointer }](), ".U is a unsafe.Pointer"},
		{reflect.TypeFor[struct{ Units []struct{} }](), ".Units is a list of values that take no space"},
		{reflect.TypeFor[struct{ A [1 << 30]struct{} }](), ".A is a list of values that take no space"},
		{reflect.TypeFor[forest](), "[].Below is a codec.forest within a codec.forest"},
		{reflect.TypeFor[struct{ Lease []election.Deadline }](), ".Lease[] is a Deadline, which only the state of one life may hold"},
	} {
		_, err := Of(test.typ, false)
		if !errors.Is(err, ErrPlain) || !strings.HasSuffix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want %q", test.typ, err, test.want)
		}
	}
}

func TestTextIsForPeople(t *testing.T) {
	real := func(id election.ID) uint64 { return 100 * uint64(id) }
	now := election.Units(1000)
	for _, test := range []struct {
		value any
		want  string
	}{
		{struct{}{}, ""},
		{struct{ ID election.ID }{5}, "500"},
		{struct{ Hops uint8 }{5}, "5"},
		{struct {
			ID  election.ID
			TTL uint32
		}{5, 3}, "ID 500, TTL 3"},
		{struct{ List []election.ID }{[]election.ID{1, 2}}, "[100 200]"},
		{struct {
			Corner point
			Flags  [2]bool
			None   []uint8
		}{point{1, -2, 3}, [2]bool{true, false}, nil}, "Corner {ID 100, X -2, Y 3}, Flags [true false]"},
		{[]struct{ Vote election.ID }{{1}, {2}}, "[{100} {200}]"},
		{struct{ Until, Gone election.Deadline }{
			election.DeadlineIn(election.Power(70), now), election.DeadlineIn(election.Units(9), election.Ticks{}),
		}, "Until in 1180591620717411303424"},
		{struct{ Hypotheses []election.Ticks }{[]election.Ticks{election.Units(2), election.Power(64)}}, "[2 18446744073709551616]"},
		{int64(-1 << 63), "-9223372036854775808"},
		{uint64(1<<64 - 1), "18446744073709551615"},
	} {
		v := reflect.New(reflect.TypeOf(test.value))
		v.Elem().Set(reflect.ValueOf(test.value))
		if got := planOf(t, v.Type().Elem()).Text(v.UnsafePointer(), now, real); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// probe is a message whose fields belong to kinds.
type probe struct {
	ID    election.ID `kinds:"probe,reply"`
	TTL   uint32      `kinds:"probe"`
	Final bool        `kinds:"probe"`
	Way   struct {
		Long  uint8
		Short uint8 `kinds:"reply"`
	} `kinds:"reply"`
}

func TestMessagesOfAKindHaveOneForm(t *testing.T) {
	real := func(id election.ID) uint64 { return 100 * uint64(id) }
	for _, test := range []struct {
		value      any
		kind, want string
	}{
		{probe{ID: 3, TTL: 1, Final: true}, "probe", "ID 300, TTL 1, Final true"},
		{probe{ID: 3}, "probe", "ID 300, TTL 0, Final false"},
		{probe{}, "reply", "ID none, Way {Long 0, Short 0}"},
		{probe{}, "terminate", ""},
		{probe{TTL: 7}, "terminate", "TTL 7"}, // what is there is shown
		{struct {
			X uint8
			L []election.ID
		}{}, "any", "X 0, L []"},
		{struct {
			ID election.ID `kinds:"uid"`
		}{}, "start", ""},
		{struct {
			ID election.ID `kinds:"uid"`
		}{}, "uid", "none"},
		{struct{ Hops uint8 }{}, "any", "0"},
	} {
		v := reflect.New(reflect.TypeOf(test.value))
		v.Elem().Set(reflect.ValueOf(test.value))
		if got := planOf(t, v.Type().Elem()).MessageText(v.UnsafePointer(), test.kind, real); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestALongerSliceThanAllowedIsNeitherWrittenNorRead(t *testing.T) {
	plan := planOf(t, reflect.TypeFor[[]bool]())
	longest := make([]bool, MaxElements)
	encoded := plan.Append(nil, unsafe.Pointer(&longest), election.Ticks{})
	var read []bool
	if rest, err := plan.Decode(encoded, unsafe.Pointer(&read), election.Ticks{}); err != nil || len(rest) > 0 || len(read) != MaxElements {
		t.Errorf("the longest slice was read as one of %d, %v", len(read), err)
	}

	binary.LittleEndian.PutUint32(encoded, MaxElements+1)
	if _, err := plan.Decode(append(encoded, 0), unsafe.Pointer(&read), election.Ticks{}); !errors.Is(err, ErrDecode) {
		t.Errorf("one more was read: %v", err)
	}
	defer func() {
		if got, want := fmt.Sprint(recover()), "codec: a slice of 65537 elements; at most 65536 are allowed"; got != want {
			t.Errorf("one more was written: %s", got)
		}
	}()
	longer := append(longest, false)
	plan.Append(nil, unsafe.Pointer(&longer), election.Ticks{})
}

func TestMalformedBytesAreRefused(t *testing.T) {
	for _, test := range []struct {
		typ  reflect.Type
		src  []byte
		now  election.Ticks
		want string
	}{
		{reflect.TypeFor[uint32](), []byte{1, 2, 3}, election.Ticks{}, "it ends early"},
		{reflect.TypeFor[point](), make([]byte, 7), election.Ticks{}, "it ends early"},
		{reflect.TypeFor[[3]bool](), []byte{1, 0}, election.Ticks{}, "it ends early"},
		{reflect.TypeFor[bool](), []byte{2}, election.Ticks{}, "2 is no truth value"},
		{reflect.TypeFor[[]uint8](), []byte{1, 0, 0}, election.Ticks{}, "it ends early"},
		{reflect.TypeFor[[]uint8](), []byte{2, 0, 0, 0, 9}, election.Ticks{}, "a list of 2 elements"},
		{reflect.TypeFor[[][100]uint64](), append([]byte{3, 0, 0, 0}, make([]byte, 2399)...), election.Ticks{}, "a list of 3 elements"},
		{reflect.TypeFor[[]uint8](), bytes.Repeat([]byte{255}, 99), election.Ticks{}, "a list of 4294967295 elements"},
		{reflect.TypeFor[election.Deadline](), make([]byte, 15), election.Ticks{}, "it ends early"},
		{reflect.TypeFor[election.Deadline](), bytes.Repeat([]byte{255}, 16), election.Units(1), "a deadline after the end of time"},
	} {
		_, err := planOf(t, test.typ).Decode(test.src, reflect.New(test.typ).UnsafePointer(), test.now)
		if !errors.Is(err, ErrDecode) || err.Error() != "malformed value: "+test.want {
			t.Errorf("%s: %v; want %q", test.typ, err, test.want)
		}
	}
}

// Decoding arbitrary bytes neither panics nor takes much memory, and the decoded value has only one encoding.
func FuzzDecode(f *testing.F) {
	var plans []*Plan
	for i, typ := range shapes {
		plans = append(plans, planOf(f, typ))
		f.Add(i, uint64(i), plans[i].Append(nil, reflect.New(typ).UnsafePointer(), election.Ticks{}))
	}
	f.Add(6, uint64(0), []byte{255, 255, 0, 0, 1, 2, 3})
	f.Add(9, uint64(0), []byte{1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, shape int, now uint64, src []byte) {
		if shape < 0 || shape >= len(shapes) {
			return
		}
		plan, v := plans[shape], reflect.New(shapes[shape])
		rest, err := plan.Decode(src, v.UnsafePointer(), election.Units(now))
		if most := 8 * len(src); reach(v.Elem()) > most {
			t.Fatalf("%d bytes took %d bytes of memory", len(src), reach(v.Elem()))
		}
		if err != nil {
			if !errors.Is(err, ErrDecode) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		if again := plan.Append(nil, v.UnsafePointer(), election.Units(now)); !bytes.Equal(append(again, rest...), src) {
			t.Fatalf("%v was read as %+v, which is written as %v, and %v", src, v.Elem(), again, rest)
		}
	})
}

// reach returns the memory of a value's slices.
func reach(v reflect.Value) (size int) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			size += reach(v.Field(i))
		}
	case reflect.Slice:
		size += v.Cap() * int(v.Type().Elem().Size())
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			size += reach(v.Index(i))
		}
	}
	return size
}

func BenchmarkAppend(b *testing.B) {
	for _, value := range []any{
		point{1, 2, 3},
		everything{hidden: 1, Terms: make([]election.Term, 4), Paths: make([][]point, 4)},
	} {
		v := reflect.New(reflect.TypeOf(value))
		v.Elem().Set(reflect.ValueOf(value))
		b.Run(v.Type().Elem().Name(), func(b *testing.B) {
			plan, buffer := planOf(b, v.Type().Elem()), []byte(nil)
			for b.Loop() {
				buffer = plan.Append(buffer[:0], v.UnsafePointer(), election.Ticks{})
			}
			b.SetBytes(int64(len(buffer)))
		})
	}
}

func TestSmallValuesWithoutListsFitIntoWords(t *testing.T) {
	for _, test := range []struct {
		value any
		want  bool
	}{
		{struct{}{}, true},
		{struct{ A election.ID }{}, true},
		{struct {
			A, B uint32
			C    uint8
		}{}, true},
		{[3]uint32{}, true},
		{[4]uint32{}, false},
		{uint64(0), unsafe.Alignof(uint64(0)) <= 4}, // words lie at multiples of 4
		{struct{ A []uint8 }{}, false},
	} {
		plan, err := Of(reflect.TypeOf(test.value), false)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Fits() != test.want {
			t.Errorf("%T fits: %v", test.value, plan.Fits())
		}
	}
	type value struct {
		A, B uint32
		C    uint8
	}
	if v := (value{1, 2, 3}); Unpack[value](Pack(v)) != v {
		t.Errorf("%+v is %+v in words", v, Unpack[value](Pack(v)))
	}
}

func TestACopyHasListsOfItsOwn(t *testing.T) {
	type value struct {
		N    int
		List []uint32
	}
	plan, err := Of(reflect.TypeFor[value](), false)
	if err != nil {
		t.Fatal(err)
	}
	v := value{7, []uint32{1, 2}}
	got := plan.Copy(At(&v), election.Ticks{})
	v.N, v.List[0] = 8, 9
	if want := (value{7, []uint32{1, 2}}); !reflect.DeepEqual(got, want) {
		t.Errorf("the copy is %v after a change of the original, want %v", got, want)
	}
}

func TestIdentifiersAreYieldedInTheirOrder(t *testing.T) {
	type value struct {
		First  election.ID
		Number uint32
		Inner  struct {
			Flag bool
			More []election.ID
		}
		Pairs [2]struct {
			Weight uint16
			ID     election.ID
		}
		Last election.ID
	}
	plan, err := Of(reflect.TypeFor[value](), false)
	if err != nil {
		t.Fatal(err)
	}
	v := value{First: 1, Number: 9, Last: 6}
	v.Inner.More = []election.ID{2, 3}
	v.Pairs[0].ID, v.Pairs[1].ID = 4, 5
	var ids []election.ID
	for id := range plan.Identifiers(At(&v)) {
		ids = append(ids, *id)
		if *id *= 10; *id == 50 {
			break
		}
	}
	if !slices.Equal(ids, []election.ID{1, 2, 3, 4, 5}) || v.Inner.More[1] != 30 || v.Pairs[1].ID != 50 || v.Last != 6 || v.Number != 9 {
		t.Errorf("%v, and then %+v", ids, v)
	}
	plain, err := Of(reflect.TypeFor[[]uint32](), false)
	if err != nil {
		t.Fatal(err)
	}
	numbers := []uint32{1, 2}
	for id := range plain.Identifiers(At(&numbers)) {
		t.Errorf("%d is no identifier", *id)
	}
}
