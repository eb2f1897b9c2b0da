//go:build !js

package report

import (
	"fmt"
	"text/tabwriter"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/certificates"
)

// Certificates are the files that cert has made.
type Certificates certificates.Made

// JSON returns the files for programs.
func (c Certificates) JSON() any {
	return Object{{"authority", c.Authority}, {"files", c.Files}, {"expires", c.Expires}}
}

// Text prints the files for people.
func (c Certificates) Text(p *Printer) error {
	for _, file := range c.Files {
		fmt.Fprintf(p.Out, "made       %s\n", file)
	}
	fmt.Fprintf(p.Out, "authority  %s\nvalid to   %s\n", c.Authority, c.Expires.Format(time.DateTime))
	return nil
}

// Measurement is a length of time that was measured several times.
type Measurement struct {
	What          string
	Median, Worst time.Duration
}

// ClockRate is by what fraction the clock at an address is faster than that of this machine, and the largest error of that.
type ClockRate struct {
	Address     string
	Faster, Off float64
}

// Examination is what doctor has found.
type Examination struct {
	Wrong, Notes []string
	Measurements []Measurement
	Clocks       []ClockRate
	Timing       ringleader.Timing // that is recommended; zero: none
}

// JSON returns the findings for programs.
func (e Examination) JSON() any {
	measured := []Object{}
	for _, m := range e.Measurements {
		measured = append(measured, Object{{"what", m.What}, {"median_seconds", m.Median.Seconds()}, {"worst_seconds", m.Worst.Seconds()}})
	}
	clocks := []Object{}
	for _, c := range e.Clocks {
		clocks = append(clocks, Object{{"address", c.Address}, {"faster", c.Faster}, {"off", c.Off}})
	}
	o := Object{{"wrong", append([]string{}, e.Wrong...)}, {"notes", append([]string{}, e.Notes...)}, {"measured", measured}, {"clocks", clocks}}
	recommended := Object{}
	for _, t := range e.recommended() {
		recommended = append(recommended, Field{t.name + "_seconds", t.value.Seconds()})
	}
	if len(recommended) > 0 {
		recommended = append(recommended, Field{"drift", e.Timing.Drift})
	}
	return append(o, Field{"recommended", recommended})
}

type length struct {
	name  string
	value time.Duration
}

// recommended returns the lengths that are recommended, if any.
func (e Examination) recommended() []length {
	t := e.Timing
	if t == (ringleader.Timing{}) {
		return nil
	}
	return []length{
		{"lease", t.Lease},
		{"shortest_lease", t.ShortestLease},
		{"renewal", t.Renewal},
		{"answers", t.Answers},
		{"defer", t.Defer},
		{"claim", t.Claim},
		{"grace", t.Grace},
		{"margin", t.Margin},
		{"heartbeat", t.Heartbeat},
		{"suspicion", t.Suspicion},
	}
}

// Text prints the findings for people.
func (e Examination) Text(p *Printer) error {
	w := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "measured\tmedian\tworst")
	for _, m := range e.Measurements {
		fmt.Fprintf(w, "%s\t%.2f ms\t%.2f ms\n", m.What, ms(m.Median), ms(m.Worst))
	}
	for _, c := range e.Clocks {
		fmt.Fprintf(w, "clock of %s\t%+.0f ppm\t± %.0f ppm\n", c.Address, 1e6*c.Faster, 1e6*c.Off)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if lengths := e.recommended(); lengths != nil {
		fmt.Fprintln(p.Out, "\nrecommended timing")
		for _, t := range lengths {
			fmt.Fprintf(w, "  %s\t%v\n", t.name, t.value)
		}
		fmt.Fprintf(w, "  drift\t%.3g\n", e.Timing.Drift)
		if err := w.Flush(); err != nil {
			return err
		}
	}
	for _, note := range e.Notes {
		fmt.Fprintf(p.Out, "\nnote: %s\n", note)
	}
	for _, wrong := range e.Wrong {
		fmt.Fprintf(p.Out, "\nWRONG: %s\n", wrong)
	}
	if len(e.Wrong) == 0 {
		fmt.Fprintln(p.Out, "\nNothing is wrong.")
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
