package electiontest

import (
	"testing"

	"ringleader.example/ringleader/election"
)

// The contract is proven by algorithms each of which needs another part of it. The catalogue tests those that it has;
// the others are here, one file each:
//
//	a ring that is not oriented; only the leader decides    hirschbergsinclair_test.go
//	a tree                                                  saturation_test.go
//	messages that carry lists                               collect_test.go
//	chance                                                  coins_test.go
//	waiting for 2¹⁰⁰ units                                  patience_test.go
//	leases, persistence, commands                           lease_test.go

func TestHirschbergSinclairConforms(t *testing.T) { Conform(t, hirschbergSinclair, Options{}) }

func TestSaturationConforms(t *testing.T) { Conform(t, saturation, Options{Verify: 4}) }

func TestCollectingConforms(t *testing.T) { Conform(t, collecting, Options{}) }

func TestCoinsConform(t *testing.T) { Conform(t, coins, Options{}) }

func TestPatienceConforms(t *testing.T) { Conform(t, patience, Options{Verify: 4}) }

func TestLeaseConforms(t *testing.T) {
	Conform(t, lease, Options{Sizes: []int{1, 2, 3, 5}, Verify: 2})
}

func title(name string) election.Declaration {
	return election.Declaration{Name: name, Title: name, Source: "test"}
}
