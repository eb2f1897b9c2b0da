package ringleader_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
	"ringleader.example/ringleader/transport/transporttest"
)

// Three members find each other by records. Later there are records of one of them alone, which is no majority.
func TestWhatIsFoundIsNeverAMajority(t *testing.T) {
	t.Parallel()
	names, err := transporttest.NewNames()
	if err != nil {
		t.Fatal(err)
	}
	defer names.Close()
	const service = "_ringleader._tcp.jobs.example"
	members := []ringleader.MemberAddress{{ID: 1, Address: "jobs-0"}, {ID: 2, Address: "jobs-1"}, {ID: 3, Address: "jobs-2"}}
	var records []transporttest.Record
	joined := map[uint64]*ringleader.Member{}
	for _, m := range members {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		host := m.Address + ".jobs.example"
		names.Set(host, transporttest.Record{IP: "127.0.0.1"})
		records = append(records, transporttest.Record{Target: host, Port: uint16(l.Addr().(*net.TCPAddr).Port)})
		disk, err := storage.Memory().Open()
		if err != nil {
			t.Fatal(err)
		}
		open := transport.TCP{Listener: l, Insecure: true, SRV: service, Resolver: names.Resolver(), Refresh: 10 * time.Millisecond}.Open
		joined[m.ID], err = ringleader.Join(t.Context(), ringleader.Config{
			ID: m.ID, Members: members, SRV: service, Listen: "127.0.0.1:0", Storage: disk, Timing: ringleader.Test(), Transport: open,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer joined[m.ID].Close()
	}
	if why := strings.Join(joined[1].Status().Why, "\n"); !strings.Contains(why, "a leader needs the votes of 2") {
		t.Errorf("without records: %s", why)
	}
	names.Set(service, append(records, transporttest.Record{Target: "jobs-3.jobs.example", Port: 1})...)
	for _, m := range joined {
		if _, err := m.WaitLeader(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	names.Set(service, records[0])
	joined[2].Close()
	joined[3].Close()
	lapse, cancel := context.WithTimeout(t.Context(), ringleader.Test().Lease)
	defer cancel()
	for range joined[1].Observe(lapse) { // one of them may have voted for the last one before its end
	}
	for v := range joined[1].Observe(t.Context()) {
		if !v.Known {
			break
		}
	}
	ctx, end := context.WithTimeout(t.Context(), 2*ringleader.Test().Lease)
	defer end()
	for v := range joined[1].Observe(ctx) {
		if v.Role == ringleader.Leader {
			t.Fatal("one of three leads")
		}
	}
	if s := joined[1].Status(); len(s.Members) != 3 {
		t.Errorf("%+v", s.Members)
	}
}

func TestAnAddressWithoutAPortNeedsRecords(t *testing.T) {
	config := ringleader.Config{ID: 1, Members: []ringleader.MemberAddress{{ID: 1, Address: "jobs-0"}}, Data: "d"}
	for _, c := range []struct{ srv, listen, want string }{
		{"", "", `the address of member 1: "jobs-0" is not host:port`},
		{"_a._tcp.example", "", "Listen is missing: the address \"jobs-0\" of member 1 has no port"},
		{"_a._tcp.example", ":7001", ""},
	} {
		config.SRV, config.Listen = c.srv, c.listen
		if err := config.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
