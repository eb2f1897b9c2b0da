package itairodeh_test

import (
	"testing"

	"ringleader.example/ringleader/internal/core/collector"
)

// TestMain spares processor time.
func TestMain(m *testing.M) { collector.Main(m) }
