package workbench

import (
	answers "ringleader.example/ringleader/internal/cli/lab"
	"ringleader.example/ringleader/internal/show/lab"
)

// Main answers the questions of the lab's page, in a worker of a browser. It knows the user's own algorithms and those of the catalogue.
func Main(own ...Entry) {
	all, err := list(own)
	if err != nil {
		lab.Work(lab.Failing{Err: err})
	}
	lab.Work(answers.New("ringleader", all))
}
