//go:build unix

package trials

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/cli/clitest"
	"ringleader.example/ringleader/internal/core/needs"
)

const monitoring = "../../../monitoring"

// promtool runs a tool of Prometheus.
func promtool(t *testing.T, stdin string, arguments ...string) {
	t.Helper()
	command := exec.Command(needs.Program(t, "promtool", "prometheus"), arguments...)
	command.Stdin, command.Dir = strings.NewReader(stdin), monitoring
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("promtool %q: %v\n%s", arguments, err, out)
	}
}

// metricName matches the name of a metric.
var metricName = regexp.MustCompile(`\bringleader_[a-z_]+`)

// names returns the metrics that a text names, each once.
func names(text string) []string {
	all := metricName.FindAllString(text, -1)
	slices.Sort(all)
	return slices.Compact(all)
}

func TestAlertsAndDashboardUseMetricsThatMembersHaveAndAllAreDocumented(t *testing.T) {
	t.Parallel()
	g := newTrio(t)
	g.join(1)
	g.until(1, "electing", "status", "--data", g.data[0])
	response, err := http.Get("http://" + g.http[0] + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var exported []string
	for line := range strings.Lines(string(answer)) {
		if !strings.HasPrefix(line, "#") {
			exported = append(exported, names(line)...)
		}
	}
	if !slices.Contains(exported, "ringleader_certificate_expiry_timestamp_seconds") || len(names(string(answer))) < 20 {
		t.Fatalf("the member has few metrics:\n%s", answer)
	}
	for _, file := range []string{"alerts.yml", "alerts_test.yml", "dashboard.json"} {
		for _, name := range names(string(clitest.Contents(t, filepath.Join(monitoring, file)))) {
			if !slices.Contains(exported, name) {
				t.Errorf("%s has %s, which no member exports", file, name)
			}
		}
	}
	page := string(clitest.Contents(t, "../../../docs/operate.md"))
	for _, name := range exported {
		name, _ = strings.CutSuffix(name, "_sum")
		name, _ = strings.CutSuffix(name, "_count")
		name, _ = strings.CutSuffix(name, "_bucket")
		if short := strings.TrimPrefix(name, "ringleader_"); !strings.Contains(page, "| `"+short+"`") && !strings.Contains(page, ", `"+short+"`") {
			t.Errorf("docs/operate.md does not document %s", name)
		}
	}
	promtool(t, string(answer), "check", "metrics")
}

func TestAlertsFireWhenTheyHaveTo(t *testing.T) {
	t.Parallel()
	tests := string(clitest.Contents(t, filepath.Join(monitoring, "alerts_test.yml")))
	for _, alert := range regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(clitest.Contents(t, filepath.Join(monitoring, "alerts.yml"))), -1) {
		if !strings.Contains(tests, "alertname: "+alert[1]+"\n") {
			t.Errorf("no test lets %s fire", alert[1])
		}
	}
	promtool(t, "", "check", "config", "prometheus.yml")
	promtool(t, "", "test", "rules", "alerts_test.yml")
}

// dashboard is the part of a dashboard of Grafana that is checked.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Annotations   struct{ List []query }
	Templating    struct {
		List []struct{ Name, Type string }
	}
	Panels []panel
}

type panel struct {
	ID                       int
	Title, Type, Description string
	Datasource               source
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []query
}

type query struct {
	RefID, Expr string
	Datasource  source
}

type source struct{ Type, UID string }

// overlaps reports whether two panels share a place of the grid.
func (p panel) overlaps(o panel) bool {
	a, b := p.GridPos, o.GridPos
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

// fromVariable is the source of data that the user of a dashboard chooses.
var fromVariable = source{"prometheus", "${datasource}"}

// check checks a query, and writes it as a rule, which promtool can check.
func (q query) check(t *testing.T, where string, rules io.Writer) {
	t.Helper()
	expr := strings.ReplaceAll(q.Expr, "$__rate_interval", "5m")
	if q.Datasource != fromVariable || !strings.Contains(expr, `{job="$job"}`) {
		t.Errorf("%s is not about the chosen group: %+v", where, q)
	}
	fmt.Fprintf(rules, "  - record: expression\n    expr: %q\n    labels: {at: %q}\n", expr, where+q.RefID)
}

func (p panel) check(t *testing.T, where string) {
	t.Helper()
	if p.ID == 0 || p.Title == "" || p.Description == "" || p.Datasource != fromVariable || len(p.Targets) == 0 || p.GridPos.X+p.GridPos.W > 24 {
		t.Errorf("%slacks something: %+v", where, p)
	}
	if !slices.Contains([]string{"stat", "table", "timeseries"}, p.Type) {
		t.Errorf("%shas the type %s", where, p.Type)
	}
}

func TestTheDashboardIsWellFormed(t *testing.T) {
	var d dashboard
	if err := json.Unmarshal(clitest.Contents(t, filepath.Join(monitoring, "dashboard.json")), &d); err != nil {
		t.Fatal(err)
	}
	if d.UID == "" || d.Title == "" || d.SchemaVersion == 0 || len(d.Panels) == 0 {
		t.Errorf("it has no identifier, title, version or panel: %+v", d)
	}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name+" "+v.Type)
	}
	if want := []string{"datasource datasource", "job query"}; !slices.Equal(variables, want) {
		t.Errorf("its variables are %q, want %q", variables, want)
	}
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	for i, p := range d.Panels {
		where := fmt.Sprintf("panel %d, %q, ", p.ID, p.Title)
		p.check(t, where)
		for _, o := range d.Panels[:i] {
			if p.ID == o.ID || p.overlaps(o) {
				t.Errorf("%shas the identifier or the place of %q", where, o.Title)
			}
		}
		for j, q := range p.Targets {
			if slices.ContainsFunc(p.Targets[:j], func(o query) bool { return o.RefID == q.RefID }) || q.RefID == "" {
				t.Errorf("%shas two queries %q", where, q.RefID)
			}
			q.check(t, where, &rules)
		}
	}
	for _, a := range d.Annotations.List {
		a.check(t, "annotation", &rules)
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "", "check", "rules", file)
}
