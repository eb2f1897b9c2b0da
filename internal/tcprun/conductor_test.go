package tcprun

import (
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
