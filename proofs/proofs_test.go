package proofs

import (
	"testing"

	"ringleader.example/ringleader/internal/study/logic"
)

func load(t *testing.T, name string) *logic.Model {
	t.Helper()
	m, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
