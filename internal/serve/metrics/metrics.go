// Package metrics writes numbers in the text format of Prometheus, version 0.0.4.
package metrics

import (
	"bytes"
	"fmt"
	"strconv"
)

// ContentType is the type of a [Text].
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Text is a text of metrics. Each name gets the prefix ringleader_, and each help is a sentence.
type Text struct{ bytes.Buffer }

// Sample is a value of a metric that has one for each of several things.
type Sample struct {
	Labels string // in braces
	Value  float64
}

// Counter writes a number that only grows.
func (t *Text) Counter(name, help string, value float64) { t.family(name, "counter", help, value) }

// Gauge writes a number that grows and shrinks.
func (t *Text) Gauge(name, help string, value float64) { t.family(name, "gauge", help, value) }

// Flag writes 1 for true and 0 for false.
func (t *Text) Flag(name, help string, is bool) { t.Gauge(name, help, Flag(is)) }

// Gauges writes a gauge of several things.
func (t *Text) Gauges(name, help string, samples ...Sample) { t.samples(name, "gauge", help, samples) }

func (t *Text) samples(name, kind, help string, samples []Sample) {
	t.head(name, kind, help)
	for _, s := range samples {
		t.value(name+s.Labels, s.Value)
	}
}

// Counters writes numbers that only grow, of several things.
func (t *Text) Counters(name, help string, samples ...Sample) {
	t.samples(name, "counter", help, samples)
}

// Summary writes how often something happened, and the sum of a measure of it.
func (t *Text) Summary(name, help string, sum float64, count uint64) {
	t.head(name, "summary", help)
	t.value(name+"_sum", sum)
	t.value(name+"_count", float64(count))
}

// Bucket is a part of a histogram.
type Bucket struct {
	Most  float64 // its bound
	Count uint64  // of values that are not above the bound
}

// Histogram writes how many values were not above each of several bounds, how many there were, and their sum.
func (t *Text) Histogram(name, help string, buckets []Bucket, sum float64, count uint64) {
	t.head(name, "histogram", help)
	for _, b := range buckets {
		t.value(fmt.Sprintf(`%s_bucket{le="%g"}`, name, b.Most), float64(b.Count))
	}
	t.value(name+`_bucket{le="+Inf"}`, float64(count))
	t.value(name+"_sum", sum)
	t.value(name+"_count", float64(count))
}

// Flag returns 1 for true and 0 for false.
func Flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func (t *Text) family(name, kind, help string, value float64) {
	t.head(name, kind, help)
	t.value(name, value)
}

func (t *Text) head(name, kind, help string) {
	fmt.Fprintf(t, "# HELP ringleader_%s %s\n# TYPE ringleader_%[1]s %[3]s\n", name, help, kind)
}

func (t *Text) value(name string, value float64) {
	fmt.Fprintf(t, "ringleader_%s %s\n", name, strconv.FormatFloat(value, 'g', -1, 64))
}
