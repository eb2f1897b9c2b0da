package tcprun

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringleader.example/ringleader/algorithms/bully"
	"ringleader.example/ringleader/network"
)

// slow is a control that answers late.
type slow time.Duration

func (s slow) Ask(Request) (Reply, error) {
	<-time.After(time.Duration(s))
	return Reply{}, nil
}

func (slow) Close() error { return nil }

func TestAProcessorThatIsStoppedIsNotWaitedForEndlessly(t *testing.T) {
	for _, test := range []struct {
		delays []time.Duration
		want   string
	}{
		{[]time.Duration{0, 1000 * time.Hour, 0}, "2: no answer for 1m0s; is it stopped?"},
		{[]time.Duration{0, 50 * time.Second, 100 * time.Second}, ""}, // one after the other
	} {
		synctest.Test(t, func(t *testing.T) {
			p, err := network.Prepare(&bully.Algorithm.Declaration, network.On(1, 2, 3))
			if err != nil {
				t.Fatal(err)
			}
			c := &conductor{p: p}
			for _, delay := range test.delays {
				c.controls = append(c.controls, slow(delay))
			}
			begun := time.Now()
			_, err = c.all(t.Context(), Request{Order: Go}, func(q int) bool { return q > 0 })
			if (err != nil) != (test.want != "") || err != nil && !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("%v after %v; want %q", err, time.Since(begun), test.want)
			}
			<-time.After(2000 * time.Hour) // the requests end, too
		})
	}
}

// late is a control that answers late, with that reply or error.
type late struct {
	after time.Duration
	reply Reply
	err   error
}

func (l late) Ask(Request) (Reply, error) {
	<-time.After(l.after)
	return l.reply, l.err
}

func (late) Close() error { return nil }

// A process that ends refuses connections, which its neighbour reports, perhaps first.
func TestTheEndOfAProcessExplainsMoreThanARefusedConnection(t *testing.T) {
	refused := late{0, Reply{Error: "cannot connect to process 2: it refuses the connection"}, nil}
	for _, test := range []struct {
		other late
		want  string
	}{
		{late{grace / 2, Reply{}, errors.New("its process ended: signal: killed")}, "process 2: its process ended: signal: killed"},
		{late{grace / 2, Reply{}, nil}, "process 1: cannot connect to process 2: it refuses the connection"},
		{late{1000 * time.Hour, Reply{}, nil}, "process 1: cannot connect to process 2: it refuses the connection"},
	} {
		synctest.Test(t, func(t *testing.T) {
			p, err := network.Prepare(&bully.Algorithm.Declaration, network.On(1, 2))
			if err != nil {
				t.Fatal(err)
			}
			c := &conductor{p: p, controls: []Control{refused, test.other}}
			begun := time.Now()
			if _, err = c.all(t.Context(), Request{Order: Connect}, nil); err == nil || err.Error() != test.want || time.Since(begun) > grace {
				t.Errorf("%v after %v; want %q", err, time.Since(begun), test.want)
			}
			<-time.After(2000 * time.Hour) // the requests end, too
		})
	}
}
