package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"

	"ringleader.example/ringleader/internal/show/lab"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/trace"
)

// stories returns the guided stories.
func (l *laboratory) stories(_ context.Context, a asked) (any, error) {
	if err := a.read(&struct{}{}); err != nil {
		return nil, err
	}
	own, err := l.own()
	if err != nil {
		return nil, err
	}
	return append(own, l.added...), nil
}

// add reads the stories of a directory, which come after those of the program.
func (l *laboratory) add(directory string) error {
	if _, err := os.ReadDir(directory); err != nil {
		return fmt.Errorf("--stories: cannot read %s: %w", directory, report.Reason(err))
	}
	own, err := l.own()
	if err != nil {
		return err
	}
	if l.added, err = l.told(os.DirFS(directory)); err != nil {
		return fmt.Errorf("--stories: %w", err)
	}
	if len(l.added) == 0 {
		return fmt.Errorf("--stories: %s has no file that ends in .md", directory)
	}
	for _, s := range l.added {
		for _, known := range own {
			if s.Name == known.Name {
				return fmt.Errorf("--stories: ringleader has a story %s; give %[1]s.md another name", s.Name)
			}
		}
	}
	return nil
}

// told reads stories, and finds the steps of their stops.
func (l *laboratory) told(files fs.FS) ([]*lab.Story, error) {
	stories, err := lab.ReadStories(files)
	if err != nil {
		return nil, err
	}
	for _, s := range stories {
		if err := s.Place(l.record); err != nil {
			return nil, err
		}
	}
	return stories, nil
}

// record makes the run of a chapter.
func (l *laboratory) record(s lab.Scenario) (*trace.Record, error) {
	question := runQuestion{Run: s.Run}
	if s.Choices != nil {
		if err := json.Unmarshal(s.Choices, &question.Choices); err != nil {
			return nil, fmt.Errorf("the choices are not as run --save writes them: %w", err)
		}
	}
	r, err := l.make(context.Background(), &question, func(string) {})
	if err != nil {
		return nil, err
	}
	return r.record, nil
}
