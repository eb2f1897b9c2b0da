package proofs_test

import (
	"testing"

	"ringleader.example/ringleader/internal/study/logic"
	"ringleader.example/ringleader/internal/study/models"
)

func load(t *testing.T, name string) *logic.Model {
	t.Helper()
	m, err := models.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
