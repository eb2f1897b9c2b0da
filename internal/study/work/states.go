package work

import "time"

// JobState is a job on a server, as a command prints it.
type JobState struct {
	Job
	Key    string    `json:"key"`
	Call   string    `json:"call"`  // the command line
	Begun  time.Time `json:"begun"` // by the clock of the commander that began it
	State  string    `json:"state"` // running, waiting for a commander, or done
	Units  uint64    `json:"units"`
	Done   uint64    `json:"done"`   // units with a result
	Queued uint64    `json:"queued"` // units of pieces that wait or are in work

	Commander string        `json:"commander,omitempty"` // host and number of the process; empty: none
	Rate      float64       `json:"rate"`                // units a second, as the commander measures it; 0: none
	Workers   int           `json:"workers"`             // processes that the commander hears
	Left      time.Duration `json:"left"`                // the estimated time for the rest; negative if it is unknown
}

// The states of a job on a server.
const (
	Running = "running"                 // a commander answers
	Waiting = "waiting for a commander" // resume it
	Done    = "done"                    // all results are there, and no commander has written them
)

// WorkerState is what a worker shows of itself.
type WorkerState struct {
	ID      string  `json:"id"`      // of this run of the worker
	Process string  `json:"process"` // host and number of the process
	Version string  `json:"version"`
	Slots   int     `json:"slots"` // pieces that it computes at the same time; 0: it ends
	Busy    int     `json:"busy"`  // … at the moment
	Rate    float64 `json:"rate"`  // pieces a second, in the last seconds
}
