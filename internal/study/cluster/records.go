// Package cluster runs jobs of internal/study/work on workers of any number of machines, over NATS JetStream.
//
// A [Commander] is the [work.Runner] that has pieces computed by each [Worker] that reaches the same server. The server
// is any NATS server with JetStream, or one that a command starts, by package broker.
//
// # What the server keeps
//
//   - A stream of results for each job, ringleader-results-KEY. Its metadata are the job, so a job exists as long as its
//     stream, and both are made and removed at once. A result is a message of the subject ringleader.result.KEY.FROM.TO.
//     A subject holds one message, so a result that comes twice is kept once. The stream has what goes wrong, too, of the
//     subject ringleader.trouble.KEY.FROM.TO: the text of an error, or the workers that have died of a piece. A message of
//     the subject ringleader.claim.KEY names the commander.
//   - One work queue for all jobs, the stream ringleader-work. A piece is an empty message of the subject
//     ringleader.work.VERSION.KEY.FROM.TO. It stays in the queue until its result is stored, so the subjects of the queue
//     are the pieces that wait or are in work. VERSION stands for the token, too. Each has a consumer of its own, so a worker
//     gets no piece of another.
//   - A stream of the jobs that were cancelled in the last day, ringleader-cancelled, by which their commanders know that.
//
// # What is believed
//
// Each message has a seal that only a process with the token of the [Access] can make, over its subject, headers and data, and so has a
// job. A commander, a worker, and the commands about jobs act on nothing else, so another client of the server can delay
// and delete work, but cannot change a result.
//
// # What gets lost
//
// A worker acknowledges a piece when its result is stored. If it dies or is cut off, the server gives the piece to
// another worker after a few seconds. A commander that dies leaves pieces in the queue and results in the stream; the next
// one takes both over. What the server loses, with the tail of its disk or with all of it, the commander finds missing: it
// compares the queue and the results with the pieces that it waits for, and publishes the lost ones again.
//
// A result that is computed twice is the same result, and [work.Results] takes each unit once. So nothing has to
// depend on which worker computes what.
package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"ringleader.example/ringleader/internal/study/work"
)

// queueStream is the name of the work queue.
const queueStream = "ringleader-work"

// The subjects of messages that the server does not store.
const (
	workerSubject    = "ringleader.worker"     // from each worker, each second: a WorkerState
	askSubject       = "ringleader.ask"        // a request that each worker answers with a WorkerState
	jobSubject       = "ringleader.job"        // from each commander, each second: an announcement
	commanderSubject = "ringleader.commander." // … KEY: a request that the job's commander answers with an announcement
	stopSubject      = "ringleader.stop."      // … KEY: from the commander: a piece whose units are needed no more
)

// The headers of a result and of trouble.
const (
	tookHeader    = "Ringleader-Took"    // the time of the computation
	workerHeader  = "Ringleader-Worker"  // host and number of the process
	failedHeader  = "Ringleader-Failed"  // the text of an error in place of a result
	queuedHeader  = "Ringleader-Queued"  // the number of a suspected piece in the queue
	attemptHeader = "Ringleader-Attempt" // hosts and numbers of the processes that have begun to compute it
)

func resultsStream(key string) string { return "ringleader-results-" + key }

// queueSubject is the subject of a piece in the work queue.
func (c *Conn) queueSubject(j work.Job, p work.Piece) string {
	return c.queueSubjects(j) + pieceTokens(p)
}

// queueSubjects is what the subjects of a job's pieces begin with.
func (c *Conn) queueSubjects(j work.Job) string {
	return "ringleader.work." + c.group(j.Version) + "." + j.Key() + "."
}

func resultSubject(key string, p work.Piece) string {
	return "ringleader.result." + key + "." + pieceTokens(p)
}

// troubleSubjects is what the subjects of trouble begin with.
const troubleSubjects = "ringleader.trouble."

// troubleSubject is that of a piece without a result.
func troubleSubject(key string, p work.Piece) string {
	return troubleSubjects + key + "." + pieceTokens(p)
}

func pieceTokens(p work.Piece) string { return fmt.Sprintf("%d.%d", p.From, p.To) }

// parseSubject returns the job and the piece of a subject.
func parseSubject(subject string) (key string, p work.Piece, err error) {
	tokens := strings.Split(subject, ".")
	if n := len(tokens); n >= 3 {
		key = tokens[n-3]
		p.From, err = strconv.ParseUint(tokens[n-2], 10, 64)
		if err == nil {
			p.To, err = strconv.ParseUint(tokens[n-1], 10, 64)
		}
		if err == nil && p.From < p.To {
			return key, p, nil
		}
	}
	return "", p, fmt.Errorf("%q names no piece", subject)
}

// record is what the server keeps of a job, besides results.
type record struct {
	job   work.Job
	call  string
	units uint64
	begun time.Time
}

// The metadata of a job's stream.
const (
	jobField   = "ringleader-job"
	callField  = "ringleader-call"
	unitsField = "ringleader-units"
	begunField = "ringleader-begun"
	sealField  = "ringleader-seal" // over the others
)

// metadata returns the record as those of a stream.
func (c *Conn) metadata(r record) (map[string]string, error) {
	job, err := json.Marshal(r.job)
	metadata := map[string]string{
		jobField:   string(job),
		callField:  r.call,
		unitsField: strconv.FormatUint(r.units, 10),
		begunField: r.begun.UTC().Format(time.RFC3339),
	}
	m := recordMessage(metadata)
	metadata[sealField] = c.seal(m).Header.Get(sealHeader)
	return metadata, err
}

// recordMessage returns the metadata of a job as a message, which has a seal. A server may add metadata of its own.
func recordMessage(metadata map[string]string) *nats.Msg {
	m := nats.NewMsg("ringleader.record")
	var err error
	if m.Data, err = json.Marshal([]string{metadata[jobField], metadata[callField], metadata[unitsField], metadata[begunField]}); err != nil {
		panic(err) // it is JSON
	}
	m.Header.Set(sealHeader, metadata[sealField])
	return m
}

// errUnsealed reports a job that another token has made, or none.
var errUnsealed = errors.New("the job is not sealed by the token of this program")

// readRecord returns the record of a stream.
func (c *Conn) readRecord(config jetstream.StreamConfig) (r record, err error) {
	if err = json.Unmarshal([]byte(config.Metadata[jobField]), &r.job); err == nil {
		r.units, err = strconv.ParseUint(config.Metadata[unitsField], 10, 64)
	}
	if err == nil {
		r.begun, err = time.Parse(time.RFC3339, config.Metadata[begunField])
	}
	r.call = config.Metadata[callField]
	if err != nil || config.Name != resultsStream(r.job.Key()) {
		return r, fmt.Errorf("stream %s is not of a job of ringleader", config.Name)
	}
	if m := recordMessage(config.Metadata); !c.genuine(m.Subject, m.Header, m.Data) {
		return r, errUnsealed
	}
	return r, nil
}

// announcement is what a commander shows of itself.
type announcement struct {
	Key      string        `json:"key"`
	Version  string        `json:"version"`
	Process  string        `json:"process"`
	Progress work.Progress `json:"progress"`
	Used     time.Duration `json:"used"`  // time of workers that the job has had
	Waits    bool          `json:"waits"` // it has more pieces than it may publish
}

// WorkerState is what a worker shows of itself.
type WorkerState struct {
	ID      string  `json:"id"`      // of this run of the worker
	Process string  `json:"process"` // host and number of the process
	Version string  `json:"version"`
	Slots   int     `json:"slots"` // pieces that it computes at the same time; 0: it ends
	Busy    int     `json:"busy"`  // … at the moment
	Rate    float64 `json:"rate"`  // pieces a second, in the last seconds
}

// Process names this process for people, and its host.
func Process() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}

// resultsConfig is the stream of a job's results.
func (c *Conn) resultsConfig(r record) (jetstream.StreamConfig, error) {
	metadata, err := c.metadata(r)
	key := r.job.Key()
	return jetstream.StreamConfig{
		Name:              resultsStream(key),
		Subjects:          []string{"ringleader.result." + key + ".*.*", troubleSubjects + key + ".*.*", claimSubject(key)},
		MaxMsgsPerSubject: 1,
		Metadata:          metadata,
	}, err
}

// queueConfig is the work queue.
func queueConfig() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:              queueStream,
		Subjects:          []string{"ringleader.work.*.*.*.*"},
		Retention:         jetstream.WorkQueuePolicy,
		MaxMsgsPerSubject: 1,
	}
}

// consumerConfig is that of a version's pieces in the work queue. Patience is how long a worker may be silent.
func (c *Conn) consumerConfig(version string, patience time.Duration) jetstream.ConsumerConfig {
	group := c.group(version)
	return jetstream.ConsumerConfig{
		Durable:           "ringleader-" + group,
		FilterSubject:     "ringleader.work." + group + ".*.*.*",
		AckPolicy:         jetstream.AckExplicitPolicy,
		AckWait:           patience,
		MaxDeliver:        -1,
		MaxAckPending:     -1,
		InactiveThreshold: time.Hour,
	}
}
