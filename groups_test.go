package ringleader

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// shards joins many groups at a member, and returns them by name.
func shards(t *testing.T, m *Member) map[string]*Member {
	all := map[string]*Member{}
	for i := range 20 {
		name := fmt.Sprint("shard ", i)
		shard, err := m.Join(context.Background(), GroupConfig{Group: name})
		if err != nil {
			t.Fatal(err)
		}
		all[name] = shard
	}
	return all
}

func TestManyGroupsOverOneConnectionFailOverAndSurviveARestart(t *testing.T) {
	g := &group{t: t, config: Config{Group: "first", Timing: Test()}, members: map[uint64]*Member{}}
	for id := range uint64(3) {
		g.config.Members = append(g.config.Members, MemberAddress{ID: id + 1, Address: freeAddress(t)})
	}
	data, all := t.TempDir(), map[uint64]map[string]*Member{}
	start := func(id uint64) {
		c := g.config
		c.ID, c.Data = id, filepath.Join(data, fmt.Sprint(id))
		all[id] = shards(t, g.join(context.Background(), c))
	}
	for id := range uint64(3) {
		if err := Init(filepath.Join(data, fmt.Sprint(id+1)), "first", id+1); err != nil {
			t.Fatal(err)
		}
		start(id + 1)
	}
	t.Cleanup(func() {
		for _, m := range g.members {
			m.Close()
		}
	})
	terms := map[string]uint64{}
	for _, gone := range []uint64{3, 2, 1} {
		g.members[gone].Close()
		for name, m := range all[gone] {
			if v := m.View(); v.Known {
				t.Errorf("after its end, %d knows %+v in %s", gone, v, name)
			}
		}
		delete(g.members, gone)
		delete(all, gone)
		for id, groups := range all {
			for name, m := range groups {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				if !await(ctx, m, func(v View) bool { return v.Known && v.Leader != gone && v.Term >= terms[name] }) {
					t.Errorf("%d knows %+v in %s", id, m.View(), name)
				}
				cancel()
				terms[name] = max(terms[name], m.View().Term)
			}
		}
		start(gone)
	}
	for name, term := range terms {
		if term < 2 {
			t.Errorf("%s is in term %d after several leaders", name, term)
		}
	}
}

func TestAGroupEndsWithItsContext(t *testing.T) {
	g := quorum(t, Config{}, 1)
	g.agree(1)
	ctx, cancel := context.WithCancel(context.Background())
	m, err := g.members[1].Join(ctx, GroupConfig{Group: "other"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.WaitLeader(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case <-m.Done():
	case <-time.After(patience):
		t.Fatal("it goes on")
	}
	g.agree(1)
}
