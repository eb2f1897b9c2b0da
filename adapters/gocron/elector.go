package leadergocron

import (
	"context"

	"github.com/go-co-op/gocron/v2"

	"ringleader.example/ringleader"
)

// NewElector returns the elector of a member. It lets a job run if a majority confirms that the member leads; see
// ringleader.Member.VerifyLeader for the errors with which it refuses. It waits for that at most until the lease of the member ends.
func NewElector(member *ringleader.Member) gocron.Elector { return elector{member} }

type elector struct{ member *ringleader.Member }

// IsLeader implements gocron.Elector.
func (e elector) IsLeader(ctx context.Context) error { return e.member.VerifyLeader(ctx) }
