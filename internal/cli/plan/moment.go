package plan

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/trace"
)

// mostMoment is the largest size of a moment in bytes.
const mostMoment = 16 << 20

// MomentText returns a moment as a word of a run.
func MomentText(m *trace.Moment) string {
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // its fields are plain
	}
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return base64.RawURLEncoding.EncodeToString(packed.Bytes())
}

// ReadMoment is the inverse of [MomentText].
func ReadMoment(word string) (*trace.Moment, error) {
	m, err := readMoment(word)
	if err != nil {
		return nil, fmt.Errorf("--begins is no moment that explain --export has written: %w", err)
	}
	return m, nil
}

func readMoment(word string) (*trace.Moment, error) {
	packed, err := base64.RawURLEncoding.DecodeString(word)
	if err != nil {
		return nil, err
	}
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := option.ReadAtMost(r, mostMoment)
	if err != nil {
		return nil, err
	}
	m := new(trace.Moment)
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	return m, in.Decode(m)
}
