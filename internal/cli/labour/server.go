//go:build !js

package labour

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ringleader.example/ringleader/internal/cli/option"
	"ringleader.example/ringleader/internal/show/report"
	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/cluster"
	"ringleader.example/ringleader/internal/study/secret"
	"ringleader.example/ringleader/internal/study/work"
)

// Server holds the NATS server over which workers get the pieces of a job.
type Server struct {
	Access        cluster.Access // its URL, or embedded
	tokenFile     string
	listen, store string // of an embedded server
	of            *pflag.FlagSet
}

// embedded is the URL that asks for a server of the command: a process that it starts.
const embedded = "embed"

// Define adds those of a command whose work may be done by workers.
func (d *Server) Define(command *cobra.Command, p *report.Printer) {
	d.DefineServer(command, p, "let workers do the work, by this NATS server, nats://HOST:4222; embed: by a server that the command starts")
}

// DefineServer adds those for a server, which may be embedded.
func (d *Server) DefineServer(command *cobra.Command, p *report.Printer, usage string) {
	d.DefineClient(command, p, usage)
	f := command.Flags()
	f.StringVar(&d.listen, "nats-listen", "127.0.0.1:4222", "of --nats embed: HOST:PORT to listen on for workers")
	f.StringVar(&d.store, "nats-store", "", "of --nats embed: directory of the server (default ringleader/nats among the user's caches)")
	option.Offer(command, "nats", embedded)
	command.MarkFlagDirname("nats-store")
}

// DefineClient adds those for a server that runs elsewhere. The environment has values of all but the URL.
func (d *Server) DefineClient(command *cobra.Command, p *report.Printer, usage string) {
	d.of = command.Flags()
	d.of.StringVar(&d.Access.URL, "nats", "", usage)
	for _, f := range []struct {
		value       *string
		name, usage string
	}{
		{&d.Access.Credentials, "nats-credentials", "FILE with the credentials for the NATS server"},
		{&d.Access.Token, "nats-token", "token of the NATS server; other users see it in the list of processes, but not --nats-token-file or RINGLEADER_NATS_TOKEN in the environment"},
		{&d.tokenFile, "nats-token-file", "FILE with the token of the NATS server (default: for a server that a command on this machine starts, a file that the first command makes)"},
		{&d.Access.CA, "nats-ca", "FILE with the certificates of the authorities that sign those of the other side"},
		{&d.Access.Certificate, "nats-certificate", "FILE with a certificate for connections by TLS, in PEM format"},
		{&d.Access.Key, "nats-key", "FILE with the key of the certificate"},
	} {
		d.of.StringVar(f.value, f.name, "", f.usage)
		*f.value = p.Getenv("RINGLEADER_" + strings.ToUpper(strings.ReplaceAll(f.name, "-", "_")))
	}
}

// URLVariable is the variable of the environment with the server of workers and of jobs. A command that computes does so elsewhere only
// if its call asks for that.
const URLVariable = "RINGLEADER_NATS"

// Asked reports whether the work is for workers.
func (d *Server) Asked() bool { return d.Access.URL != "" }

// Embeds reports whether the command starts the server.
func (d *Server) Embeds() bool { return d.Access.URL == embedded }

// Check returns an error for flags that do not go together.
func (d *Server) Check() error {
	if d.of == nil {
		return nil // of a command that has none
	}
	for _, name := range ServerNames[1:] {
		ofServer := name == "nats-listen" || name == "nats-store"
		switch given := d.of.Changed(name); {
		case given && !d.Asked():
			return fmt.Errorf("--%s needs --nats", name)
		case given && ofServer && !d.Embeds():
			return fmt.Errorf("--%s is for --nats embed", name)
		case given && name == "nats-credentials" && d.Embeds():
			return errors.New("--nats-credentials is for a server that runs already; --nats embed takes --nats-token-file or certificates")
		}
	}
	switch a := &d.Access; {
	case d.of.Changed("nats-token") && d.of.Changed("nats-token-file"):
		return errors.New("--nats-token and --nats-token-file are both given; give one of them")
	case (a.Certificate == "") != (a.Key == ""):
		return errors.New("--nats-certificate and --nats-key go together")
	case !d.Embeds():
		return nil
	}
	return d.checkEmbedded()
}

// checkEmbedded is Check for a server that the command starts.
func (d *Server) checkEmbedded() error {
	switch a := &d.Access; {
	case a.CA != "" && a.Certificate == "":
		return errors.New("--nats-ca needs --nats-certificate and --nats-key for --nats embed")
	case !option.IsLoopback(d.listen) && a.Token == "" && d.tokenFile == "" && a.CA == "":
		return fmt.Errorf("--nats-listen %s is open to other machines: give --nats-token-file, or --nats-certificate, --nats-key and --nats-ca, so that only your workers connect", d.listen)
	}
	_, _, err := net.SplitHostPort(d.listen)
	if err != nil {
		return fmt.Errorf("--nats-listen wants HOST:PORT, such as 127.0.0.1:4222, not %q", d.listen)
	}
	return nil
}

// FlagsOf returns the flags by which another command reaches the server, but for the token.
func (d *Server) FlagsOf(url string) string {
	words := []string{"--nats", url}
	for _, f := range []struct {
		name, value string
		left        bool
	}{
		{"nats-listen", d.listen, url != embedded || d.listen == "127.0.0.1:4222"},
		{"nats-store", d.store, url != embedded},
		{"nats-token-file", d.tokenFile, false},
		{"nats-credentials", d.Access.Credentials, false},
		{"nats-ca", d.Access.CA, false},
		{"nats-certificate", d.Access.Certificate, false},
		{"nats-key", d.Access.Key, false},
	} {
		if f.value != "" && !f.left {
			words = append(words, "--"+f.name, report.ShellWord(f.value))
		}
	}
	return strings.Join(words, " ")
}

// Link is a connection to a server, which may be one that the command has started.
type Link struct {
	*cluster.Conn
	server *broker.Server // nil: elsewhere
	url    string         // for workers
}

// Connect connects to the server, and starts it if it is embedded.
func (d *Server) Connect(ctx context.Context, p *report.Printer, notice func(string)) (*Link, error) {
	a, err := d.Authorized()
	if err != nil {
		return nil, report.Failed("%w", err)
	}
	if !d.Embeds() {
		conn, err := cluster.Connect(ctx, a, p.Name, notice)
		if err != nil {
			return nil, report.Failed("%w", err)
		}
		return &Link{Conn: conn, url: d.Access.URL}, nil
	}
	store := d.store
	if store == "" {
		caches, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("there is no directory of caches (%w); --nats-store names one", err)
		}
		store = filepath.Join(caches, "ringleader", "nats")
	}
	server, err := d.embed(p, broker.Settings{Listen: d.listen, Store: store, Token: a.Token, Certificate: a.Certificate, Key: a.Key, CA: a.CA})
	if err != nil {
		return nil, report.Failed("%w", err)
	}
	conn, err := cluster.Connect(ctx, cluster.Access{Token: a.Token, Dial: server.Dial}, p.Name, notice)
	if err != nil {
		server.Close()
		return nil, report.Failed("%w", err)
	}
	return &Link{conn, server, broker.Outside(server.URL())}, nil
}

// embed starts the server of a command.
func (d *Server) embed(p *report.Printer, s broker.Settings) (*broker.Server, error) {
	path, err := broker.Find(p.Getenv(brokerProgram))
	if errors.Is(err, broker.ErrNotFound) {
		return nil, fmt.Errorf("--nats embed: %w; in a clone, go install -C cluster ./cmd/ringleader-broker installs it, "+
			"and go run -C cluster ./cmd/ringleader-broker --listen %s starts it for --nats nats://%[2]s", err, d.listen)
	}
	if err != nil {
		return nil, fmt.Errorf("%s names no program: %w", brokerProgram, err)
	}
	return broker.Start(path, s)
}

// brokerProgram is the variable of the environment with the path of the server's program.
const brokerProgram = "RINGLEADER_BROKER"

// mostToken is the size in bytes of the largest file of a token.
const mostToken = 64 << 10

// Authorized returns how to reach the server, with the token that the call or the environment names. A server on this machine may be one
// of a command of this user, which has this user's own token.
func (d *Server) Authorized() (cluster.Access, error) {
	a := d.Access
	if d.tokenFile != "" && (a.Token == "" || d.of.Changed("nats-token-file")) {
		text, err := option.ReadFile(d.tokenFile, mostToken)
		if a.Token = strings.TrimSpace(string(text)); err == nil && a.Token == "" {
			err = fmt.Errorf("%s holds no token", d.tokenFile)
		}
		return a, err
	}
	here := option.IsLoopback(d.listen)
	if !d.Embeds() {
		u, err := url.Parse(a.URL)
		here = err == nil && u.User == nil && a.Credentials == "" && option.IsLoopback(net.JoinHostPort(u.Hostname(), u.Port()))
	}
	if a.Token != "" || !here || a.CA != "" && a.Certificate != "" { // with both, certificates keep others out
		return a, nil
	}
	token, err := OwnToken()
	switch {
	case err == nil:
		a.Token, a.Own = token, true
	case d.Embeds() || errors.Is(err, secret.ErrExposed):
		return a, fmt.Errorf("this user has no token (%w); --nats-token-file names a file with one", err)
	}
	return a, nil
}

// OwnToken returns the token of this user for servers that commands start.
func OwnToken() (string, error) {
	path, err := secret.Path()
	if err != nil {
		return "", err
	}
	return secret.Own(path)
}

// Close ends the connection, and the server if it is embedded.
func (l *Link) Close() {
	l.Conn.Close()
	if l.server != nil {
		l.server.Close()
	}
}

// workers are the crew of a command: workers of any number of machines.
type workers struct {
	*Link
	Server
	commander cluster.Commander
	program   string
	job       work.Job
	notice    func(string)

	answered bool // the job has ended with its own error, which the same command would only find again

	idle time.Time // since when there are none; zero: there are some
	told bool      // that there are none
}

// hired connects to the workers that do the work of a command; nil: it is not for workers.
func (d *Server) hired(ctx context.Context, p *report.Printer, notice func(string)) (crew, error) {
	if !d.Asked() {
		return nil, nil
	}
	l, err := d.Connect(ctx, p, notice)
	if err != nil {
		return nil, err
	}
	w := &workers{Link: l, Server: *d, commander: cluster.Commander{Conn: l.Conn, Notice: notice}, program: p.Name, notice: notice}
	if !l.Sealed() && l.server == nil {
		notice("warning: without a token any process that reaches the NATS server can place false results there; --nats-token-file gives one to this command and to its workers.")
	}
	if l.server != nil {
		if a := &d.Access; !option.IsLoopback(d.listen) && a.Certificate == "" {
			notice(fmt.Sprintf("warning: --nats-listen %s has no certificate: any process on the way can read its token.", d.listen))
		}
		w.told = true
		notice("workers connect with: " + w.command())
	}
	return w, nil
}

// command returns the command that starts a worker.
func (w *workers) command() string {
	d := w.Server
	token := ""
	if d.Access.Token != "" || d.tokenFile != "" {
		token, d.tokenFile = " --nats-token-file FILE", ""
	}
	if w.server != nil { // its certificate is not that of workers
		for _, file := range []*string{&d.Access.CA, &d.Access.Certificate, &d.Access.Key} {
			if *file != "" {
				*file = "FILE"
			}
		}
	}
	return w.program + " worker " + d.FlagsOf(w.url) + token
}

// engage is that of a [crew].
func (w *workers) engage(ctx context.Context, j work.Job, units uint64, call string) error {
	w.job = j
	if err := w.commander.Begin(ctx, j, units, call); err != nil {
		return report.Failed("%w", err)
	}
	return nil
}

// Run is that of a [work.Runner]. The failure of an embedded server ends it.
func (w *workers) Run(ctx context.Context, j work.Job, t work.Task, r *work.Results, progress func(work.Progress)) error {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if w.server != nil {
		go func() {
			select {
			case err := <-w.server.Failed():
				stop(err)
			case <-running.Done():
			}
		}()
	}
	err := w.commander.Run(running, j, t, r, func(at work.Progress) {
		at.Workers = len(w.commander.Workers())
		w.missed(at.Workers)
		progress(at)
	})
	switch cause := context.Cause(running); {
	case cause != nil && ctx.Err() == nil:
		return report.Failed("%w; what is done is kept: %s jobs resume %s %s", cause, w.program, report.Key(j.Key()), w.FlagsOf(w.Access.URL))
	case errors.Is(err, cluster.ErrCancelled):
		return report.Stopped("job %s was cancelled", report.Key(j.Key()))
	case errors.Is(err, cluster.ErrRunning): // this process had no connection for a while, and another one has taken the job
		return report.Failed("%w", err)
	}
	if deadly := new(cluster.DeadlyError); errors.As(err, &deadly) {
		return report.Failed("%w; what is done is kept; %s jobs compute %s %s %s computes it here, and then the same command continues",
			err, w.program, report.Key(j.Key()), report.Units(deadly.Piece), w.FlagsOf(w.Access.URL))
	}
	own := new(cluster.ComputeError)
	w.answered = errors.As(err, &own)
	return err
}

// patience is how long a crew may have no worker before a line reports that.
const patience = 3 * time.Second

// missed prints a line, once, if there are no workers for a while.
func (w *workers) missed(there int) {
	switch {
	case there > 0:
		w.idle, w.told = time.Time{}, false
	case w.idle.IsZero():
		w.idle = time.Now()
	case !w.told && time.Since(w.idle) > patience:
		w.told = true
		w.notice("no workers; start some with: " + w.command())
	}
}

// resuming is that of a [crew].
func (w *workers) resuming() string {
	place := "the server"
	if w.server != nil {
		place = "the store"
	}
	return fmt.Sprintf("%s keeps; the same command continues, or %s jobs resume %s %s",
		place, w.program, report.Key(w.job.Key()), w.FlagsOf(w.Access.URL))
}

// dismissal is how long the removal of a job may take.
const dismissal = 10 * time.Second

// Dismiss is that of a [crew].
func (w *workers) dismiss(printed bool) {
	defer w.Close()
	if !printed && !w.answered {
		w.commander.Leave()
		return
	}
	ctx, done := context.WithTimeout(context.Background(), dismissal)
	defer done()
	if err := w.commander.Finish(ctx); err != nil {
		w.notice(fmt.Sprintf("the server still has the job: %v; %s jobs cancel %s %s removes it",
			err, w.program, report.Key(w.job.Key()), w.FlagsOf(w.Access.URL)))
	}
}

// keys completes the only argument, the key of a job.
func (d *Server) Keys(p *report.Printer) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(command *cobra.Command, args []string, given string) (keys []string, _ cobra.ShellCompDirective) {
		if len(args) > 0 || !d.Asked() || d.Embeds() || d.Check() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		l, err := d.Connect(command.Context(), p, func(string) {})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer l.Close()
		all, _ := l.Jobs(command.Context()) // without an answer nothing is completed
		for _, j := range all {
			if strings.HasPrefix(j.Key, given) {
				keys = append(keys, report.Key(j.Key)+"\t"+j.Call)
			}
		}
		slices.Sort(keys)
		return keys, cobra.ShellCompDirectiveNoFileComp
	}
}
