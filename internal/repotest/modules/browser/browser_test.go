// Package browser runs the tests of the pages of the lab in a browser.
package browser

import (
	"testing"

	"ringleader.example/ringleader/internal/repotest/modules"
)

func TestThePagesOfTheLab(t *testing.T) { modules.Pass(t, "../../../../tests", "./browser") }
