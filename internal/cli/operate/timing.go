//go:build !js

package operate

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"ringleader.example/ringleader"
)

// timingSetting is the name of a field of a Timing for operators.
type timingSetting struct{ field, setting, otherwise string }

// timingSettings are the fields of a Timing, and the settings that determine them. A field without one follows from the lease or from the preset.
var timingSettings = []timingSetting{
	{"LongestLease", "lease", ""}, // before Lease, which is a part of its name
	{"ShortestLease", "shortest-lease", ""},
	{"Lease", "lease", ""},
	{"Renewal", "renewal", ""},
	{"Grace", "stop-grace", "the grace (a tenth of --lease)"},
	{"Margin", "", "the margin (a tenth of --lease)"},
	{"Preempt", "preempt-delay", ""},
	{"Handover", "handover-wait", "the wait for a warm member"},
	{"MessageDelay", "delay", ""},
	{"Heartbeat", "heartbeat", ""},
	{"Suspicion", "suspicion", ""},
	{"Hang", "hang", ""},
	{"Stall", "stall", ""},
	{"Progress", "progress", "the promise of progress"},
	{"Answers", "", "the wait for answers of --preset "},
	{"Defer", "", "the deferral of --preset "},
	{"Claim", "", "the wait for votes of --preset "},
	{"Drift", "", "the allowance for clocks"},
}

// inSettings returns the errors of a configuration, with the settings that a command has in place of the fields of a Timing.
func inSettings(flags *pflag.FlagSet, preset string, err error) (faults []error) {
	all, several := err.(interface{ Unwrap() []error })
	if !several {
		return nil // there is none
	}
	names := []string{ringleader.ErrConfig.Error() + ": Timing.", "", "Timing.", ""}
	for _, t := range timingSettings {
		name := t.otherwise
		switch {
		case flags.Lookup(t.setting) != nil:
			name = "--" + t.setting
		case strings.HasSuffix(name, "--preset "):
			name += preset
		}
		names = append(names, t.field, name)
	}
	translate := strings.NewReplacer(names...)
	seen := map[string]bool{}
	for _, fault := range all.Unwrap() {
		if text := fault.Error(); strings.HasPrefix(text, names[0]) {
			fault = errors.New(translate.Replace(text))
		}
		if !seen[fault.Error()] { // LongestLease is the lease
			seen[fault.Error()] = true
			faults = append(faults, fault)
		}
	}
	return faults
}
