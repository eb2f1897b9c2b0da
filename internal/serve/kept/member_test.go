package kept

import (
	"reflect"
	"testing"
)

func FuzzMember(f *testing.F) {
	f.Add((&Member{Incarnation: 1, Stores: map[uint64][16]byte{3: {1}, 2: {2}}}).Encode().Data)
	f.Fuzz(func(t *testing.T, b []byte) {
		r := Member{Stores: map[uint64][16]byte{}}
		if err := r.Decode(b); err != nil {
			return
		}
		again := Member{Stores: map[uint64][16]byte{}}
		if err := again.Decode(r.Encode().Data); err != nil || !reflect.DeepEqual(r, again) {
			t.Errorf("%v reads as %+v, which is written as %+v", b, r, again)
		}
	})
}
