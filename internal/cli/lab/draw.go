package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"ringleader.example/ringleader/drawing"
	"ringleader.example/ringleader/election"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/show/lab"
	"ringleader.example/ringleader/internal/show/render"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/trace"
)

// drawQuestion is a run, and how it is to be drawn.
type drawQuestion struct {
	Run     []string           `json:"run"`
	Choices []plan.SavedChoice `json:"choices"`
	What    string             `json:"what"` // diagram or network
	Format  string             `json:"format"`
	From    uint64             `json:"from"`
	To      uint64             `json:"to"` // 0: the end
}

// labFormats are the formats of drawings, with their media types.
var labFormats = map[string]struct {
	media string
	write func(ctx context.Context, w io.Writer, r *labRun, q *drawQuestion) error
}{
	"svg":   {"image/svg+xml", drawn},
	"png":   {"image/png", drawn},
	"jsonl": {"application/jsonl", traced},
	"gif":   {"image/gif", filmed},
	"html":  {"text/html", paged},
}

func (l *laboratory) draw(ctx context.Context, a asked) (any, error) {
	var question drawQuestion
	if err := a.read(&question); err != nil {
		return nil, err
	}
	format, known := labFormats[question.Format]
	if !known {
		return nil, fmt.Errorf("the lab draws no %s", option.Excerpt(question.Format))
	}
	r, err := l.make(ctx, &runQuestion{Run: question.Run, Choices: question.Choices, plain: question.Format != "html"}, a.progress)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := format.write(ctx, &out, r, &question); err != nil {
		return nil, err
	}
	return labFile{format.media, out.Bytes()}, nil
}

// labFile is a file for the page.
type labFile struct {
	Type   string `json:"type"`
	Base64 []byte `json:"base64"`
}

// drawn draws a run or its network, as run --draw and --draw-topology do.
func drawn(_ context.Context, w io.Writer, r *labRun, q *drawQuestion) error {
	draw := drawing.Diagram
	switch q.What {
	case "diagram":
	case "network":
		draw = drawing.Network
	default:
		return fmt.Errorf("the lab draws a diagram or a network, not %s", option.Excerpt(q.What))
	}
	drawn, err := draw(r.record, trace.Window{From: election.Units(q.From), Until: election.Units(q.To)})
	if err != nil {
		return err
	}
	return render.Write(w, drawn, q.Format)
}

// traced writes the record of a run, as run --trace does.
func traced(_ context.Context, w io.Writer, r *labRun, _ *drawQuestion) error {
	_, err := r.record.WriteTo(w)
	return err
}

// filmed draws the network of a run step by step, as run --draw-topology does into a .gif file.
func filmed(_ context.Context, w io.Writer, r *labRun, q *drawQuestion) error {
	return plan.Film(w, r.record, trace.Window{From: election.Units(q.From), Until: election.Units(q.To)})
}

// paged writes a page of a run, as run --draw does into a .html file.
func paged(_ context.Context, w io.Writer, r *labRun, _ *drawQuestion) error {
	answer, err := r.answer()
	if err != nil {
		return err
	}
	var listing json.RawMessage
	if e, err := r.Algorithms.Find(r.e.Name); err == nil {
		if l := listingOf(e); len(l.Lines) > 0 {
			if listing, err = report.PlainJSON(l); err != nil {
				return err
			}
		}
	}
	page, err := lab.Recorded(r.record.Title, answer, listing)
	if err != nil {
		return err
	}
	_, err = w.Write(page)
	return err
}

// WritePage writes a page of the run that a command has made.
func WritePage(p *plan.Program, path string, run *plan.SavedRun) error {
	r, err := newLab(p.Name, p.Algorithms).make(context.Background(), &runQuestion{Run: run.Run, Choices: run.Choices}, func(string) {})
	if err != nil {
		return err
	}
	return p.ToFile(path, func(w io.Writer) error { return paged(context.Background(), w, r, nil) })
}
