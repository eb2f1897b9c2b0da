//go:build linux

package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"golang.org/x/sys/unix"
)

// results are those of one run.
type results struct {
	Options  options           `json:"options"`
	Machine  machine           `json:"machine"`
	Versions map[string]string `json:"versions"`
	Sizes    map[string]int64  `json:"binary_bytes"` // stripped
	Failover []*cell           `json:"failover"`
	Stable   []stable          `json:"steady"`
	Rested   []rested          `json:"idle"`
	Problems []string          `json:"problems"`
}

func describe() machine {
	m := machine{Cores: runtime.NumCPU(), Go: runtime.Version(), LoadBefore: load()}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		m.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == "model name" {
			m.Processor = strings.TrimSpace(value)
		}
	}
	if nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0); err == nil {
		m.Nice = 20 - nice // as the system call counts
	}
	return m
}

// spread is the median of values, the least and the greatest one.
type spread struct {
	count               int
	median, least, most float64
}

func summary(values []float64) spread {
	if len(values) == 0 {
		return spread{median: math.NaN()}
	}
	v := slices.Sorted(slices.Values(values))
	middle := len(v) / 2
	s := spread{len(v), v[middle], v[0], v[len(v)-1]}
	if len(v)%2 == 0 {
		s.median = (v[middle-1] + v[middle]) / 2
	}
	return s
}

func (s spread) String() string {
	if s.count == 0 {
		return "–"
	}
	return fmt.Sprintf("%s (%s–%s)", short(s.median), short(s.least), short(s.most))
}

// short writes three digits or so.
func short(v float64) string {
	if math.Abs(v) < 9.95 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// row is one row of the table: a system with so many members.
type row struct {
	system  *system
	members int
	cells   map[string]*cell
}

// rows returns the failovers by system and size, in the order of the systems.
func (r *results) rows() (rows []row) {
	for i := range all {
		for _, c := range r.Failover {
			if c.System != all[i].Name {
				continue
			}
			at := slices.IndexFunc(rows, func(r row) bool { return r.system == &all[i] && r.members == c.Members })
			if at < 0 {
				at = len(rows)
				rows = append(rows, row{&all[i], c.Members, map[string]*cell{}})
			}
			rows[at].cells[c.Fault] = c
		}
	}
	return rows
}

func title(name string) string {
	for _, s := range all {
		if s.Name == name {
			return s.Title
		}
	}
	return name
}

// table is a table for people.
type table struct {
	title string
	lines [][]string // the first one has the names of the columns
}

// tables returns all results.
func (r *results) tables() (tables []table) {
	if rows := r.rows(); len(rows) > 0 {
		tables = append(tables, r.times(rows), r.bothLead(rows))
		if t := r.tails(rows); len(t.lines) > 1 {
			tables = append(tables, t)
		}
	}
	if len(r.Stable) > 0 {
		t := table{"No fault of a process: changes of the leader", [][]string{{"system", "members", "state", "seconds", "changes"}}}
		for _, s := range r.Stable {
			t.lines = append(t.lines, []string{title(s.System), fmt.Sprint(s.Members), s.State, short(s.Seconds), fmt.Sprint(s.Changes)})
		}
		tables = append(tables, t)
	}
	if len(r.Rested) > 0 {
		t := table{"Idle: percent of a core for a member, with its warden; MB of 10⁶ bytes", [][]string{
			{"system", "members", "CPU, mean", "CPU, busiest", "memory of a member", "of its warden (own)", "binary"},
		}}
		for _, s := range r.middle() {
			at := slices.IndexFunc(all, func(a system) bool { return a.Name == s.System })
			warden := "–"
			if s.Warden > 0 {
				warden = fmt.Sprintf("%.1f (%.1f)", s.Warden, s.Own)
			}
			t.lines = append(t.lines, []string{
				title(s.System), fmt.Sprint(s.Members), fmt.Sprintf("%.2f", s.Percent), fmt.Sprintf("%.2f", s.Largest), fmt.Sprintf("%.1f", s.Memory), warden,
				short(float64(r.Sizes[all[at].program]) / 1e6),
			})
		}
		tables = append(tables, t)
		if r.Options.IdleRounds > 1 {
			tables = append(tables, r.dearer())
		}
	}
	return tables
}

// rounds returns the rounds of a system with so many members that did nothing.
func (r *results) rounds(name string, members int) (all []rested) {
	for _, s := range r.Rested {
		if s.System == name && s.Members == members {
			all = append(all, s)
		}
	}
	return all
}

// middle returns the medians of the rounds of each system and size, in the order of the first round.
func (r *results) middle() (all []rested) {
	for _, s := range r.Rested {
		if slices.ContainsFunc(all, func(m rested) bool { return m.System == s.System && m.Members == s.Members }) {
			continue
		}
		rounds := r.rounds(s.System, s.Members)
		of := func(value func(s *rested) float64) float64 {
			var values []float64
			for i := range rounds {
				values = append(values, value(&rounds[i]))
			}
			return summary(values).median
		}
		all = append(all, rested{
			s.System, s.Members, of(func(s *rested) float64 { return s.Percent }), of(func(s *rested) float64 { return s.Largest }),
			of(func(s *rested) float64 { return s.Memory }), of(func(s *rested) float64 { return s.Warden }), of(func(s *rested) float64 { return s.Own }),
		})
	}
	return all
}

// dearer is the table of what idle groups cost more than those of the first system, round by round.
func (r *results) dearer() table {
	t := table{"Idle: CPU of a member more than that of the first system, in percent of that, by round", [][]string{{"system", "members", "median", "quartiles", "95 % interval of the median", "rounds"}}}
	middle := r.middle()
	for _, m := range middle[1:] {
		first, these := r.rounds(middle[0].System, m.Members), r.rounds(m.System, m.Members)
		var more []float64
		for i := range min(len(first), len(these)) {
			more = append(more, 100*(these[i].Percent/first[i].Percent-1))
		}
		if len(more) == 0 {
			continue
		}
		low, high := interval(func(random *rand.Rand) float64 { return quantile(again(random, more), 0.5) })
		t.lines = append(t.lines, []string{
			title(m.System), fmt.Sprint(m.Members), fmt.Sprintf("%+.1f", quantile(more, 0.5)), fmt.Sprintf("%+.1f to %+.1f", quantile(more, 0.25), quantile(more, 0.75)),
			fmt.Sprintf("%+.1f to %+.1f", low, high), fmt.Sprint(len(more)),
		})
	}
	return t
}

// fewest is how many failovers have a 99th percentile.
const fewest = 100

// tails is the table of the 99th percentiles, and of how much they are greater than that of the first system.
func (r *results) tails(rows []row) table {
	first := rows[max(0, slices.IndexFunc(rows, func(line row) bool { return len(r.Options.Systems) > 0 && line.system.Name == r.Options.Systems[0] }))]
	t := table{"The 99th percentile, ms, and how much more that is than that of the first system (95 % interval)", [][]string{{"system", "members", "fault", "median", "99 %", "more", "count"}}}
	for _, line := range rows {
		for _, fault := range r.Options.Faults {
			c, base := line.cells[fault], first.cells[fault]
			if c == nil || len(c.Times) < fewest {
				continue
			}
			more := "–"
			if base != nil && base != c && len(base.Times) >= fewest {
				low, high := interval(func(random *rand.Rand) float64 {
					return quantile(again(random, c.Times), 0.99) - quantile(again(random, base.Times), 0.99)
				})
				more = fmt.Sprintf("%+.2f (%+.2f to %+.2f)", quantile(c.Times, 0.99)-quantile(base.Times, 0.99), low, high)
			}
			t.lines = append(t.lines, []string{
				line.system.Title, fmt.Sprint(line.members), fault, fmt.Sprintf("%.2f", quantile(c.Times, 0.5)), fmt.Sprintf("%.2f", quantile(c.Times, 0.99)), more, fmt.Sprint(len(c.Times)),
			})
		}
	}
	return t
}

// quantile returns the value that a part of the values does not exceed.
func quantile(values []float64, part float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}

// again draws as many values from some, each time from all.
func again(random *rand.Rand, values []float64) []float64 {
	drawn := make([]float64, len(values))
	for i := range drawn {
		drawn[i] = values[random.IntN(len(values))]
	}
	return drawn
}

// interval returns between what 95 % of some statistics of drawn values are.
func interval(statistic func(random *rand.Rand) float64) (low, high float64) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []float64
	for range 2000 {
		all = append(all, statistic(random))
	}
	return quantile(all, 0.025), quantile(all, 0.975)
}

// times is the table of the failovers.
func (r *results) times(rows []row) table {
	t := table{"Until another node leads, ms: median (least–most) × the median by that of the first line; for how long two led at worst, if they did", [][]string{
		append(append([]string{"system", "members"}, r.Options.Faults...), "count"),
	}}
	for i := range rows {
		line := &rows[i]
		cells := []string{line.system.Title, fmt.Sprint(line.members)}
		var counts []string
		for _, fault := range r.Options.Faults {
			text, count := line.text(fault, &rows[0])
			cells, counts = append(cells, text), append(counts, count)
		}
		t.lines = append(t.lines, append(cells, strings.Join(counts, " ")))
	}
	return t
}

// show prints tables on a terminal.
func show(to io.Writer, tables []table) {
	for _, t := range tables {
		fmt.Fprintf(to, "\n%s\n", t.title)
		w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
		for _, line := range t.lines {
			fmt.Fprintln(w, strings.Join(line, "\t"))
		}
		w.Flush()
	}
}

// mark writes tables as Markdown.
func mark(path string, tables []table) error {
	if path == "" {
		return nil
	}
	var text strings.Builder
	for _, t := range tables {
		fmt.Fprintf(&text, "%s\n\n", t.title)
		for i, line := range t.lines {
			fmt.Fprintf(&text, "| %s |\n", strings.Join(line, " | "))
			if i == 0 {
				fmt.Fprintf(&text, "|%s\n", strings.Repeat(" --- |", len(line)))
			}
		}
		text.WriteString("\n")
	}
	return os.WriteFile(path, []byte(text.String()), 0o600)
}

// text returns a cell of the table, and how many faults it stands for.
func (line *row) text(fault string, first *row) (text, count string) {
	c := line.cells[fault]
	if c == nil || len(c.Times)+c.Missed == 0 {
		return "–", "0"
	}
	s := summary(c.Times)
	text = s.String()
	if base := first.cells[fault]; base != nil && line != first && s.count > 0 {
		text += " ×" + short(s.median/summary(base.Times).median)
	}
	if c.Missed > 0 {
		text += fmt.Sprintf(", %d never", c.Missed)
	}
	if times, worst := c.overlap(); c.Unaware > 0 {
		text += "; the old one leads on"
	} else if times > 0 {
		text += fmt.Sprintf("; two for %s", short(worst))
	}
	return text, fmt.Sprint(s.count + c.Missed)
}

// bothLead is the table of the leaders that did not know of the next one.
func (r *results) bothLead(rows []row) table {
	t := table{"For how long the old leader believed to lead after the next one did, ms: the worst (how many of all)", [][]string{{"system", "members"}}}
	for _, fault := range r.Options.Faults {
		if survives(fault) {
			t.lines[0] = append(t.lines[0], fault)
		}
	}
	for _, line := range rows {
		cells := []string{line.system.Title, fmt.Sprint(line.members)}
		for _, fault := range t.lines[0][len(cells):] {
			cells = append(cells, line.cells[fault].worst())
		}
		t.lines = append(t.lines, cells)
	}
	return t
}

// overlap returns how often two led at a time, and for how long at worst, as far as that has ended.
func (c *cell) overlap() (times int, worst float64) {
	times = c.Unaware
	for _, v := range c.Both {
		if v > 0 {
			times++
			worst = max(worst, v)
		}
	}
	return times, worst
}

func (c *cell) worst() string {
	if c == nil || len(c.Both)+c.Unaware == 0 {
		return "–"
	}
	times, worst := c.overlap()
	total := len(c.Both) + c.Unaware
	switch {
	case c.Unaware > 0:
		return fmt.Sprintf("it leads on (%d of %d)", times, total)
	case times == 0:
		return fmt.Sprintf("never (0 of %d)", total)
	}
	return fmt.Sprintf("%s (%d of %d)", short(worst), times, total)
}
