package refine

import (
	"fmt"

	"ringleader.example/ringleader/internal/study/finite"
)

// Failure is a step that is no sequence of actions of the model, or a state of the model that is not the one of the code.
type Failure struct {
	Text    string
	Unnamed bool // the model has no name for what the code did, so this is neither allowed nor forbidden
}

func (f *Failure) Error() string { return f.Text }

// after returns the failure with the last of some steps, which were before it.
func (f *Failure) after(steps []*Step) *Failure {
	const last = 41
	return &Failure{f.Text + "\n" + story(steps[max(0, len(steps)-last):]), f.Unnamed}
}

// failed returns what was recovered from, if that is a failure.
func failed(recovered any, err error) error {
	if recovered == nil {
		return err
	}
	switch failure := recovered.(type) {
	case *Failure:
		return failure
	case *finite.TooLargeError: // a run too long for the numbers of the model
		return &Failure{failure.Error(), true}
	}
	panic(recovered)
}

func fail(format string, args ...any) { panic(&Failure{Text: fmt.Sprintf(format, args...)}) }
