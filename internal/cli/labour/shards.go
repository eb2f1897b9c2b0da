package labour

import (
	"context"
	"errors"
	"strings"

	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/work"
)

// Shards is labour that is done: the results of a job's shards.
type Shards struct {
	*Work           // the flags after --
	Head  work.Head // of the first file
	parts []work.Part
	files map[string]string // by shard
}

// ReadShards reads files of one job, which this version has computed.
func ReadShards(files []string, version string) (*Shards, error) {
	m := &Shards{files: map[string]string{}}
	for i, path := range files {
		head, parts, err := work.ReadFile(path)
		switch {
		case errors.Is(err, work.ErrDamaged):
			return nil, report.Failed("%s has a damaged result; delete the file, and compute it again", path)
		case errors.Is(err, work.ErrFile):
			return nil, report.Failed("%s is no file that --out has written", path)
		case err != nil:
			return nil, report.Failed("cannot read %s: %w", path, report.Reason(err))
		case head.Version != version:
			return nil, report.Failed("%s was computed by version %s, and this is version %s; results of different versions are not merged", path, head.Version, version)
		case i == 0:
			m.Head = head
		case !head.Same(m.Head.Job):
			return nil, report.Failed("%s is of another job than %s: %s", path, files[0], head.Call)
		}
		m.parts = append(m.parts, parts...)
		m.files[head.Shard] = path
	}
	return m, nil
}

// Keeps is that of [Doer].
func (*Shards) Keeps() bool { return true }

// Dismiss is that of [Doer].
func (*Shards) Dismiss(err error) error { return err }

// Do is that of [Doer].
func (m *Shards) Do(_ context.Context, _ *report.Printer, a *Assignment) ([]work.Part, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	results, err := m.results(a)
	if err == nil {
		err = a.receive(results)
	}
	if err != nil {
		return nil, err
	}
	return results.Parts(), nil
}

// results returns the results for this work.
func (m *Shards) results(a *Assignment) (*work.Results, error) {
	results, err := work.NewResults(a.Task, m.parts, nil)
	if err != nil {
		return nil, report.Failed("a shard has results that are not of this job: %w", err)
	}
	complete, err := results.Complete()
	if err == nil && !complete {
		err = m.missing(results)
	}
	return results, err
}

// missing returns the error for results that are not complete, with the shards that are missing.
func (m *Shards) missing(results *work.Results) error {
	whole, err := work.ParseShard(m.Head.Shard)
	if err != nil { // a file of the whole job
		return report.Failed("the results are not complete; the same command finishes them: %s --out %s", m.Head.Call, m.files[m.Head.Shard])
	}
	var missing, incomplete []string
	for number := uint64(1); number <= whole.Of; number++ {
		s := work.Shard{Number: number, Of: whole.Of}
		path, given := m.files[s.String()]
		switch lacks := results.Lacks(s); {
		case lacks && given:
			incomplete = append(incomplete, s.String()+" in "+path)
		case lacks:
			missing = append(missing, s.String())
		}
	}
	var texts []string
	for _, list := range []struct {
		what  string
		names []string
	}{{"missing: shard ", missing}, {"not complete: shard ", incomplete}} {
		if len(list.names) > 0 {
			texts = append(texts, list.what+strings.Join(list.names, ", "))
		}
	}
	return report.Failed("%s; the same command computes each: %s --shard NUMBER/%d --out FILE", strings.Join(texts, "; "), m.Head.Call, whole.Of)
}
