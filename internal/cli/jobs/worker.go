//go:build !js

package jobs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"ringleader.example/ringleader/internal/cli/labour"
	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/cli/plan"
	"ringleader.example/ringleader/internal/core/amount"
	"ringleader.example/ringleader/internal/serve/control"
	"ringleader.example/ringleader/internal/serve/metrics"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/cluster"
	"ringleader.example/ringleader/internal/study/work"
	"ringleader.example/ringleader/statushttp"
)

type workerOptions struct {
	labour.Server
	cores     int
	metrics   string
	httpHosts []string
}

// Worker returns the command that computes the jobs of others.
func Worker(p *plan.Program) *cobra.Command {
	var o workerOptions
	command := &cobra.Command{
		Use:     "worker --nats URL",
		GroupID: option.GroupStudy,
		Short:   "Compute pieces of the work of other commands, on this machine",
		Long: `Worker computes pieces of the work of compare, count, reproduce, verify and worst, for all commands of its
version with --nats and the same server. Any number of workers, on any number of machines, share the work.
A piece of a worker that dies, or is cut off, is computed by another one. A worker runs until Ctrl-C or
SIGTERM. Then it ends its pieces within ten seconds, or gives them back; a second Ctrl-C ends it at once.

A worker waits for a server that does not answer, also at its start. It takes jobs from all who have its
token; without one, from all who can connect to the server. A job names no file, and runs no other command
than these five. Nothing limits its time and memory.

With --metrics the worker serves GET /metrics in the text format of Prometheus: its own numbers, and those
of the server's jobs. Clients may use numeric addresses, localhost, the host of the flag, and the names
given by --http-host.

Exit status: 0 after Ctrl-C; 1 the server refuses the worker; 64 the call was wrong.`,
		Example: `  ringleader worker --nats nats://10.0.0.1:4222
  ringleader worker --nats nats://10.0.0.1:4222 --nats-token-file token --cores 4
  ringleader worker --nats tls://10.0.0.1:4222 --nats-credentials worker.creds
  ringleader worker --nats nats://127.0.0.1:4222 --metrics 127.0.0.1:9100`,
		Args:              option.FlagsOnly,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.valid(command); err != nil {
				return err
			}
			return serve(command.Context(), p, &o)
		},
	}
	o.DefineClient(command, p.Printer, "URL of the NATS server, nats://HOST:4222 or tls://HOST:4222 (default RINGLEADER_NATS in the environment)")
	o.Access.URL = p.Getenv(labour.URLVariable)
	f := command.Flags()
	option.Positive(f, &o.cores, "cores", "number of pieces to compute at a time (default: one for each core)")
	f.StringVar(&o.metrics, "metrics", "", "HOST:PORT to serve /metrics on, in clear text (default: not served)")
	f.StringArrayVar(&o.httpHosts, "http-host", nil, "a name by which clients of --metrics call this machine; may be repeated")
	return command
}

// valid returns an error for a call that is wrong.
func (o *workerOptions) valid(command *cobra.Command) (err error) {
	switch {
	case !o.Asked():
		return fmt.Errorf("%s needs --nats; try %[1]s --help", command.CommandPath())
	case o.Embeds():
		return errors.New("--nats embed is for the command that needs workers; it prints the URL for them")
	}
	if o.metrics != "" {
		if o.metrics, err = option.Address("--metrics", o.metrics); err != nil {
			return err
		}
	}
	return o.Check()
}

// The times of a worker.
const (
	leaving = 10 * time.Second // for the pieces in work, after Ctrl-C
	again   = time.Second      // between two attempts to reach a server
)

// serve computes pieces until ctx is done.
func serve(ctx context.Context, p *plan.Program, o *workerOptions) error {
	var listener net.Listener
	if o.metrics != "" {
		var err error
		if listener, err = net.Listen("tcp", o.metrics); err != nil {
			return report.Failed("cannot serve --metrics: %w", err)
		}
		defer listener.Close()
		if !option.IsLoopback(o.metrics) {
			p.Complain(fmt.Sprintf("warning: --metrics %s is open to other machines, without encryption or authentication.", o.metrics))
		}
	}
	conn, err := reach(ctx, p, o)
	if conn == nil {
		return err
	}
	defer conn.Close()
	w := &cluster.Worker{Conn: conn, Cores: labour.Cores(o.cores), Version: labour.Version(plan.VersionName()), Kinds: Kinds(p), Notice: p.Complain}
	if listener != nil {
		server := statushttp.Server(workerMetrics(w, conn, append(o.httpHosts, "localhost", host(o.metrics))))
		defer server.Close()
		go server.Serve(listener) // until it is closed
	}
	fmt.Fprintf(p.Out, "worker of version %s on %s: %s, for the jobs of %s\n", w.Version, cluster.Process(), amount.Of(w.Cores, "core"), o.Access.URL)
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	leave := context.AfterFunc(ctx, func() {
		if busy := w.Measured().Busy; busy > 0 {
			p.Complain(fmt.Sprintf("ends %s, for up to %s; Ctrl-C gives up at once", amount.Of(busy, "piece"), leaving))
		}
		w.Drain()
		time.AfterFunc(leaving, stop)
	})
	defer leave()
	if err := w.Run(running); err != nil {
		return report.Failed("%w", err)
	}
	m := w.Measured()
	fmt.Fprintf(p.Out, "stopped after %s\n", amount.Of(int(m.Pieces), "piece"))
	return nil
}

// host returns the host of an address.
func host(address string) string {
	name, _, _ := net.SplitHostPort(address)
	return name
}

// reach connects to the server, as soon as it answers. It returns nothing if ctx is done before.
func reach(ctx context.Context, p *plan.Program, o *workerOptions) (*cluster.Conn, error) {
	access, err := o.Authorized()
	if err != nil {
		return nil, report.Failed("%w", err)
	}
	for told := false; ; told = true {
		conn, err := cluster.Connect(ctx, access, p.Name+" worker", p.Complain)
		switch {
		case err == nil:
			return conn, nil
		case ctx.Err() != nil:
			return nil, nil
		case !errors.Is(err, cluster.ErrUnreachable):
			return nil, report.Failed("%w", err)
		case !told:
			p.Complain(err.Error() + "; the worker waits for it")
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

// asking is how long the server may take for the numbers of its jobs.
const asking = 3 * time.Second

// workerMetrics serves the numbers of a worker and of the jobs of its server.
func workerMetrics(w *cluster.Worker, conn *cluster.Conn, hosts []string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(out http.ResponseWriter, r *http.Request) {
		t := new(metrics.Text)
		m := w.Measured()
		t.Gauges("worker_info", "The worker and its version; always 1.", metrics.Sample{Labels: fmt.Sprintf(`{version=%q}`, w.Version), Value: 1})
		t.Flag("worker_connected", "1 while the server answers.", m.Connected)
		t.Gauge("worker_slots", "Pieces that the worker computes at a time.", float64(m.Slots))
		t.Gauge("worker_busy", "Pieces that it computes now.", float64(m.Busy))
		t.Counter("worker_pieces_total", "Pieces that it has computed, and whose results are stored.", float64(m.Pieces))
		t.Counter("worker_units_total", "Units of work in these.", float64(m.Units))
		t.Counter("worker_compute_seconds_total", "Time that it has computed, summed over pieces.", m.Work.Seconds())
		t.Counter("worker_pieces_failed_total", "Pieces that ended with an error.", float64(m.Failed))
		t.Counter("worker_pieces_redelivered_total", "Pieces that came to it after another delivery.", float64(m.Redelivered))
		t.Counter("worker_pieces_returned_total", "Pieces that it has given back.", float64(m.Returned))
		t.Counter("worker_jobs_refused_total", "Jobs of other versions or with other tokens that it has refused.", float64(m.Refused))
		ctx, done := context.WithTimeout(r.Context(), asking)
		defer done()
		if jobs, err := conn.Jobs(ctx); err == nil { // else these numbers are missing, as Prometheus expects it
			jobMetrics(t, jobs)
		}
		out.Header().Set("Content-Type", metrics.ContentType)
		out.Header().Set("Cache-Control", "no-store")
		_, _ = out.Write(t.Bytes()) // if the client is gone, the error has no receiver
	})
	return control.Called(hosts, mux)
}

// jobMetrics writes the numbers that jobs list and jobs show.
func jobMetrics(t *metrics.Text, jobs []work.JobState) {
	for _, f := range []struct {
		name, help string
		value      func(*work.JobState) float64
	}{
		{"job_units", "Units of work of a job of the server.", func(j *work.JobState) float64 { return float64(j.Units) }},
		{"job_units_done", "Those that are done.", func(j *work.JobState) float64 { return float64(j.Done) }},
		{"job_units_per_second", "Units of work that are done in a second at present.", func(j *work.JobState) float64 { return j.Rate }},
		{"job_units_queued", "Those that wait for workers, or that workers compute.", func(j *work.JobState) float64 { return float64(j.Queued) }},
		{"job_workers", "Workers that its command hears of.", func(j *work.JobState) float64 { return float64(j.Workers) }},
		{"job_seconds_left", "Estimated time until the job is done, -1 if unknown.", func(j *work.JobState) float64 { return max(-1, j.Left.Seconds()) }},
		{"job_has_commander", "1 while a command gathers the results of the job.", func(j *work.JobState) float64 { return metrics.Flag(j.Commander != "") }},
	} {
		var samples []metrics.Sample
		for i := range jobs {
			labels := fmt.Sprintf(`{job=%q,kind=%q}`, report.Key(jobs[i].Key), jobs[i].Kind)
			samples = append(samples, metrics.Sample{Labels: labels, Value: f.value(&jobs[i])})
		}
		t.Gauges(f.name, f.help, samples...)
	}
}
