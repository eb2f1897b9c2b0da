//go:build linux

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestALeaseIsReplacedByAWriterThatHasSeenItsLastVersion(t *testing.T) {
	s := &store{leases: map[string]lease{}}
	const folder, file = "/leases", "/leases/leader"
	version := ""
	for _, c := range []struct {
		method, path, version string // "last" stands for the version of the last answer
		code                  int
	}{
		{http.MethodGet, file, "", http.StatusNotFound},
		{http.MethodPut, file, "last", http.StatusNotFound},
		{http.MethodPost, folder, "", http.StatusOK},
		{http.MethodPost, folder, "", http.StatusConflict},
		{http.MethodGet, file, "", http.StatusOK},
		{http.MethodPut, file, "last", http.StatusOK},
		{http.MethodPut, file, "1", http.StatusConflict},
		{http.MethodPut, file, "", http.StatusConflict},
		{http.MethodPut, file, "last", http.StatusOK},
	} {
		if c.version == "last" {
			c.version = version
		}
		body, err := json.Marshal(lease{Metadata: map[string]any{"name": "leader", "resourceVersion": c.version}})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(c.method, c.path, strings.NewReader(string(body))))
		if w.Code != c.code {
			t.Errorf("%s %s with version %q: %d, not %d", c.method, c.path, c.version, w.Code, c.code)
		}
		var answered lease
		if err := json.NewDecoder(w.Body).Decode(&answered); err != nil {
			t.Fatal(err)
		}
		if w.Code == http.StatusOK {
			version, _ = answered.Metadata["resourceVersion"].(string)
		}
	}
}
