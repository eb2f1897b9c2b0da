package quorumbully

import (
	"testing"

	"ringleader.example/ringleader/election"
)

// lived returns member 3 of 3 in a life that its host gives a number, after a life with durable state or without.
func lived(number uint64, kept *Kept) *Process {
	p := New(election.Local{ID: 3, Degree: 3, Priority: 1, Incarnation: number, Parameters: mustSet()})
	var collect election.Collector[Message]
	collect.Clock(election.Ticks{})
	if kept == nil {
		p.Start(collect.Out())
	} else {
		p.Kept = *kept
		p.Recover(collect.Out())
	}
	return &p
}

func mustSet() election.Parameters {
	p, err := Algorithm.Set(map[string]string{"rho": "0", "lease": "20"})
	if err != nil {
		panic(err)
	}
	return p
}

// Rule 4: the incarnation is the larger of the stored one plus one and the host's number.
func TestAnIncarnationExceedsTheStoredOneAndIsAtLeastTheHostsNumber(t *testing.T) {
	kept := &Kept{Incarnation: 7}
	for _, c := range []struct {
		number uint64
		kept   *Kept
		want   uint64
	}{
		{0, nil, 1},
		{0, kept, 8}, // a simulation counts
		{1000, nil, 1000},
		{1000, kept, 1000},
		{5, kept, 8}, // the clock was set back
	} {
		if got := lived(c.number, c.kept).Kept.Incarnation; got != c.want {
			t.Errorf("number %d, kept %+v: %d, want %d", c.number, c.kept, got, c.want)
		}
	}
}

// A member whose disk is lost is heard in spite of the tombstones of its earlier lives, if its host gives numbers.
func TestALostDiskSilencesNoMember(t *testing.T) {
	for number, heard := range map[uint64]bool{0: false, 99: false, 100: false, 101: true} {
		p := New(election.Local{ID: 1, Degree: 3, Priority: 1, Parameters: mustSet()})
		var collect election.Collector[Message]
		collect.Clock(election.Ticks{})
		collect.Choices(func(uint32) uint32 { return 0 })
		p.Start(collect.Out())
		p.Command(election.Command{Order: election.Died, Member: 3, Number: 100}, collect.Out())
		p.Receive(election.To(3), Election, Message{Sender: Sender{100, 1, true}}, collect.Out())
		collect.Reset()
		again := lived(number, nil)
		p.Receive(election.To(3), Claim, Message{
			Sender: Sender{again.Kept.Incarnation, 1, true}, Request: Request{Term: 5, Incarnation: again.Kept.Incarnation, Number: 1, Lease: 20},
		}, collect.Out())
		granted := p.Given.Holder == 3 && p.Given.Term == 5
		if granted != heard {
			t.Errorf("number %d: granted %v", number, granted)
		}
	}
}
