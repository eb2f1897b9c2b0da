package tcprun

import (
	"encoding/json"
	"fmt"
	"io"

	"ringleader.example/ringleader/internal/core/process"
	"ringleader.example/ringleader/network"
	"ringleader.example/ringleader/program"
)

// Remote is the control of a processor elsewhere: it receives a plan and then requests, and returns replies, a line
// of JSON each. See [Serve].
type Remote struct {
	requests *json.Encoder
	replies  *json.Decoder
}

// NewRemote sends a plan to the processor that reads from w and writes to r.
func NewRemote(w io.Writer, r io.Reader, plan Plan) (*Remote, error) {
	remote := &Remote{json.NewEncoder(w), json.NewDecoder(r)}
	return remote, remote.requests.Encode(plan)
}

// Ask sends a request, and waits for the reply.
func (r *Remote) Ask(request Request) (reply Reply, err error) {
	if err := r.requests.Encode(request); err != nil {
		return Reply{}, err
	}
	err = r.replies.Decode(&reply)
	return reply, err
}

// Find returns the algorithm of a processor elsewhere.
type Find func(algorithm string) (program.Program, error)

// Serve is the other end of a [Remote]: it runs a processor, which ends when r does. Replies hold its failures to
// begin or to continue; an error means that no process reads them.
func Serve(r io.Reader, w io.Writer, find Find) error {
	in, out := json.NewDecoder(r), json.NewEncoder(w)
	var plan Plan
	if err := in.Decode(&plan); err != nil {
		return err
	}
	p, failed := planned(plan, find)
	requests := make(chan Request)
	go func() {
		defer close(requests)
		for {
			var request Request
			if in.Decode(&request) != nil { // the sender has gone
				if p != nil {
					p.Close()
				}
				return
			}
			requests <- request
		}
	}()
	for request := range requests {
		reply := Reply{}
		if failed == nil {
			reply, failed = p.Ask(request)
		}
		if failed != nil {
			reply = Reply{Error: failed.Error()}
		}
		if err := out.Encode(reply); err != nil {
			return err
		}
	}
	return nil
}

// planned begins a processor as planned.
func planned(plan Plan, find Find) (*processor, error) {
	a, err := find(plan.Algorithm)
	if err != nil {
		return nil, err
	}
	program, i := process.Opened(a), plan.Setup
	i.IDs = plan.IDs
	p, err := network.Prepare(program.Declaration, i)
	if err != nil {
		return nil, err
	}
	for _, q := range append([]int{plan.Position}, plan.Dead...) {
		if q < 0 || q >= p.Size() {
			return nil, fmt.Errorf("%w %s: there is no position %d", ErrOptions, program.Name, q)
		}
	}
	return begin(p, program, plan)
}
