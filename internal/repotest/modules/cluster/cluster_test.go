// Package cluster runs the tests of the server of workers.
package cluster

import (
	"testing"

	"ringleader.example/ringleader/internal/repotest/modules"
)

func TestTheServerOfWorkers(t *testing.T) { modules.Pass(t, "../../../../cluster", "./...") }
