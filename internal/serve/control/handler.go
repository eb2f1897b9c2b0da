package control

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/clock"
	"ringleader.example/ringleader/statushttp"
)

// openAPI describes what handler serves.
//
//go:embed openapi.json
var openAPI []byte

// Reading is a reading of the clock that leases run on, since an arbitrary moment.
type Reading struct {
	Seconds float64 `json:"seconds"`
}

// failure is the answer to a command that was not carried out.
type failure struct {
	Error string `json:"error"`
}

// handler serves a member, to clients that may command it or not. Its record, too, is for those that may.
func handler(m *ringleader.Member, files *recorded, may bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", statushttp.Handler(m))
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(openAPI) // if the client is gone, the error has no receiver
	})
	mux.HandleFunc("GET /clock", func(w http.ResponseWriter, _ *http.Request) {
		statushttp.Reply(w, http.StatusOK, Reading{clock.System().Boottime().Seconds()})
	})
	command := func(carryOut func(context.Context, *http.Request) error) http.HandlerFunc {
		return allowed(may, commands, func(w http.ResponseWriter, r *http.Request) { end(w, r, m, carryOut) })
	}
	mux.HandleFunc("GET /record", allowed(may, "records", files.archive))
	mux.HandleFunc("GET /explain", allowed(may, "records", files.explain))
	mux.HandleFunc("POST /pause-preemption", allowed(may, commands, func(w http.ResponseWriter, r *http.Request) { pause(w, r, m) }))
	mux.HandleFunc("POST /resume-preemption", allowed(may, commands, func(w http.ResponseWriter, _ *http.Request) {
		m.ResumePreemption()
		statushttp.Reply(w, http.StatusOK, m.Status())
	}))
	mux.HandleFunc("POST /resign", command(func(ctx context.Context, _ *http.Request) error {
		_ = m.Resign(ctx) // the answer tells what has become of the lead
		return nil
	}))
	mux.HandleFunc("POST /transfer", command(func(_ context.Context, r *http.Request) error {
		id, err := strconv.ParseUint(r.URL.Query().Get("to"), 10, 64)
		if err != nil {
			return fmt.Errorf("to=ID is the identifier of a member, not %q", r.URL.Query().Get("to"))
		}
		return m.Transfer(id)
	}))
	change := func(change func(context.Context, uint64) error) http.HandlerFunc {
		return allowed(may, commands, func(w http.ResponseWriter, r *http.Request) { vote(w, r, m, change) })
	}
	mux.HandleFunc("POST /members/add", change(m.AddMember))
	mux.HandleFunc("POST /members/remove", change(m.RemoveMember))
	place := func(change func(r *http.Request, id uint64) error) http.HandlerFunc {
		return allowed(may, commands, func(w http.ResponseWriter, r *http.Request) { amend(w, r, m, change) })
	}
	mux.HandleFunc("POST /addresses/add", place(func(r *http.Request, id uint64) error { return add(r, m, id) }))
	mux.HandleFunc("POST /addresses/remove", place(func(_ *http.Request, id uint64) error { return m.RemoveAddress(id) }))
	return new(http.CrossOriginProtection).Handler(mux)
}

const commands = "commands"

// allowed refuses clients that may not command.
func allowed(may bool, what string, h http.HandlerFunc) http.HandlerFunc {
	if may {
		return h
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusForbidden, fmt.Errorf("%s come over the control socket, or over HTTPS with a client certificate", what))
	}
}

// pause pauses preemption.
func pause(w http.ResponseWriter, r *http.Request, m *ringleader.Member) {
	d, err := time.ParseDuration(cmp.Or(r.URL.Query().Get("for"), "0"))
	if err != nil {
		fail(w, http.StatusBadRequest, fmt.Errorf("for=DURATION is a time such as 30m, not %q", r.URL.Query().Get("for")))
		return
	}
	if err := m.PausePreemption(d); err != nil {
		fail(w, http.StatusConflict, err)
		return
	}
	statushttp.Reply(w, http.StatusOK, m.Status())
}

// patience is how long a command waits for the next leader. It is shorter than the server waits for the end of an answer.
const patience = 5 * time.Second

// end carries out a command that ends the lead of this member, and answers when a member leads in a later term.
func end(w http.ResponseWriter, r *http.Request, m *ringleader.Member, carryOut func(context.Context, *http.Request) error) {
	before := m.Status()
	switch {
	case before.Algorithm == ringleader.Bully:
		fail(w, http.StatusConflict, fmt.Errorf("%s does not hand over the lead", ringleader.Bully))
		return
	case before.Leader == nil:
		fail(w, http.StatusConflict, fmt.Errorf("member %d does not lead, and knows no leader", before.ID))
		return
	case before.Role != ringleader.Leader:
		fail(w, http.StatusConflict, fmt.Errorf("member %d does not lead: member %d leads in term %d", before.ID, *before.Leader, before.Term))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if err := carryOut(ctx, r); err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	for v := range m.Observe(ctx) {
		if v.Known && v.Term > before.Term {
			code := http.StatusOK
			if v.Leader == before.ID { // no other one has taken over in time
				code = http.StatusAccepted
			}
			statushttp.Reply(w, code, m.Status())
			return
		}
	}
	statushttp.Reply(w, http.StatusAccepted, m.Status())
}

// vote changes the vote of a member, and answers with what this one knows then.
func vote(w http.ResponseWriter, r *http.Request, m *ringleader.Member, change func(context.Context, uint64) error) {
	id, err := strconv.ParseUint(r.URL.Query().Get("id"), 10, 64)
	if err != nil {
		fail(w, http.StatusBadRequest, fmt.Errorf("id=ID is the identifier of a member, not %q", r.URL.Query().Get("id")))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	switch err := change(ctx, id); {
	case err == nil:
		statushttp.Reply(w, http.StatusOK, m.Status())
	case errors.Is(err, ringleader.ErrConfig):
		fail(w, http.StatusBadRequest, err)
	case errors.Is(err, ringleader.ErrNotLeader):
		fail(w, http.StatusConflict, err)
	default:
		statushttp.Reply(w, http.StatusAccepted, m.Status())
	}
}

// amend changes the address book, and answers with what this member knows then.
func amend(w http.ResponseWriter, r *http.Request, m *ringleader.Member, change func(r *http.Request, id uint64) error) {
	id, err := strconv.ParseUint(r.URL.Query().Get("id"), 10, 64)
	if err != nil || id == 0 {
		fail(w, http.StatusBadRequest, fmt.Errorf("id=ID is the identifier of a member, not %q", r.URL.Query().Get("id")))
		return
	}
	if err := change(r, id); err != nil {
		fail(w, http.StatusBadRequest, err)
		return
	}
	statushttp.Reply(w, http.StatusOK, m.Status())
}

// add gives a member a line in the address book.
func add(r *http.Request, m *ringleader.Member, id uint64) error {
	q := r.URL.Query()
	priority, err := strconv.ParseUint(cmp.Or(q.Get("priority"), "0"), 10, 16)
	if err != nil {
		return fmt.Errorf("priority=N is from 1 to 65535, not %q", q.Get("priority"))
	}
	return m.AddAddress(ringleader.MemberAddress{
		ID: id, Address: q.Get("address"), Priority: uint16(priority), Witness: q.Get("witness") == "true", Standby: q.Get("standby") == "true",
	})
}

func fail(w http.ResponseWriter, code int, err error) {
	statushttp.Reply(w, code, failure{err.Error()})
}
