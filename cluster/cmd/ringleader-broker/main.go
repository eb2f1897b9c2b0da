// Command ringleader-broker is a NATS server for the jobs of ringleader. Commands with --nats give their work to it, and workers
// take pieces from it. With --nats embed a command starts one for itself.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"ringleader.example/ringleader/cluster/internal/server"
	"ringleader.example/ringleader/internal/study/broker"
	"ringleader.example/ringleader/internal/study/secret"
)

const help = `ringleader-broker is a NATS server with JetStream for the jobs of ringleader. Commands with
--nats give their work to it, and workers on any number of machines take pieces from it.

It runs until Ctrl-C or SIGTERM. Jobs and results stay in its store. On loopback its clients need
the token of this user, from a file that the first command of ringleader makes; commands and
workers of the user find it. For other machines give a token or certificates.

Usage:
  ringleader-broker [flags]

Examples:
  ringleader-broker
  ringleader-broker --listen 10.0.0.1:4222 --token-file token
  ringleader-broker --listen 10.0.0.1:4222 --ca ca.pem --certificate 1.pem --key 1.key

Then, with the same token:
  ringleader worker --nats nats://127.0.0.1:4222
  ringleader compare lcr peterson --n 8..65536 --orders 100000 --nats nats://127.0.0.1:4222

Flags:
      --listen HOST:PORT   where to listen (default 127.0.0.1:4222); port 0 is a free one
      --store DIR          directory of the server (default ringleader/nats among the user's caches)
      --token-file FILE    with the token that clients must have
      --certificate FILE   for connections by TLS, in PEM format
      --key FILE           of the certificate
      --ca FILE            clients need a certificate of an authority in it
      --child              take settings from stdin, and end with it: for --nats embed of ringleader
  -h, --help               this text

Exit status: 0 after Ctrl-C or SIGTERM, 1 if the server cannot start or go on, 64 for a wrong call.
`

const (
	exitFailed = 1
	exitUsage  = 64
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run runs the command, and returns its exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var s broker.Settings
	flags := flag.NewFlagSet(broker.Program, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.Listen, "listen", "127.0.0.1:4222", "")
	flags.StringVar(&s.Store, "store", "", "")
	tokenFile := flags.String("token-file", "", "")
	flags.StringVar(&s.Certificate, "certificate", "", "")
	flags.StringVar(&s.Key, "key", "", "")
	flags.StringVar(&s.CA, "ca", "", "")
	child := flags.Bool(strings.TrimLeft(broker.Child, "-"), false, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help)
		return 0
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("there are no arguments, such as %s", flags.Arg(0))
	case err == nil && !*child:
		err = check(s, *tokenFile)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v; try --help\n", broker.Program, err)
		return exitUsage
	}
	if *child {
		return serveCommand(stdin, stdout)
	}
	if err := serve(s, *tokenFile, stdout); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", broker.Program, err)
		return exitFailed
	}
	return 0
}

// check returns an error for flags that do not go together.
func check(s broker.Settings, tokenFile string) error {
	_, _, err := net.SplitHostPort(s.Listen)
	switch {
	case err != nil:
		return fmt.Errorf("--listen wants HOST:PORT, such as 127.0.0.1:4222, not %q", s.Listen)
	case (s.Certificate == "") != (s.Key == ""):
		return errors.New("--certificate and --key go together")
	case s.CA != "" && s.Certificate == "":
		return errors.New("--ca needs --certificate and --key")
	case !isLoopback(s.Listen) && tokenFile == "" && s.CA == "":
		return fmt.Errorf("--listen %s is open to other machines: give --token-file, or --certificate, --key and --ca, so that only your workers connect", s.Listen)
	}
	return nil
}

func isLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// serve serves until Ctrl-C or SIGTERM.
func serve(s broker.Settings, tokenFile string, stdout io.Writer) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if s.Store == "" {
		caches, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("there is no directory of caches (%w); --store names one", err)
		}
		s.Store = filepath.Join(caches, "ringleader", "nats")
	}
	where := "none; clients have certificates"
	if tokenFile != "" || s.CA == "" {
		if s.Token, where, err = token(tokenFile); err != nil {
			return err
		}
	}
	e, err := server.Start(ctx, s)
	if err != nil {
		return err
	}
	defer e.Close()
	fmt.Fprintf(stdout, "listens on %s\nstore: %s\ntoken: %s\n", broker.Outside(e.URL()), s.Store, where)
	select {
	case err = <-e.Failed():
	case <-ctx.Done():
	}
	return err
}

// token returns the token in a file, and the file. Without a name it is that of this user.
func token(file string) (text, where string, err error) {
	if file == "" {
		if where, err = secret.Path(); err == nil {
			text, err = secret.Own(where)
		}
		return text, where, err
	}
	contents, err := os.ReadFile(file)
	if text = strings.TrimSpace(string(contents)); err == nil && text == "" {
		err = fmt.Errorf("%s holds no token", file)
	}
	return text, file, err
}

// serveCommand serves the command that has started this process, as package broker tells.
func serveCommand(stdin io.Reader, stdout io.Writer) int {
	// Ctrl-C reaches all processes of a terminal. The command still needs the server to end its job.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	tell := json.NewEncoder(stdout).Encode
	input := bufio.NewReader(stdin)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var s broker.Settings
	line, err := input.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s)
	}
	go func() {
		_, _ = io.Copy(io.Discard, input)
		stop()
	}()
	var e *server.Server
	if err == nil {
		e, err = server.Start(ctx, s)
	}
	if err != nil {
		_ = tell(broker.Message{Failure: err.Error()}) // to a command that may have ended
		return exitFailed
	}
	err = tell(broker.Message{URL: e.URL(), Door: e.Door()})
	for err == nil && ctx.Err() == nil {
		select {
		case failure := <-e.Failed():
			err = tell(broker.Message{Failure: failure.Error()})
		case <-ctx.Done():
		}
	}
	traffic, trafficErr := e.Traffic()
	e.Close()
	if trafficErr == nil {
		_ = tell(broker.Message{Traffic: &traffic})
	}
	return 0
}
