package agent

import (
	"errors"
	"strconv"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/canary"
)

// The signs of a command, as sd_notify(3) has them.
const (
	signProgress = "WATCHDOG=1"
	signReady    = "READY=1"
)

// A command that has promised to make progress tells it by sd_notify(3), as a service of systemd with a watchdog does, or by touching a file.
// Its member passes that on to [ringleader.Leadership.Alive], which knows the promise.

// signs are where a command tells that it makes progress, or is ready.
type signs struct {
	variables []string // of its environment
	close     func()
}

// looksPerPromise is how often a file is looked at within Timing.Progress.
const looksPerPromise = 4

// follow takes signs of a command until they are closed. Without a promise of progress, and if it is not to tell that it is ready, there are none.
func (e *executor) follow(l ringleader.Leadership) (signs, error) {
	most := e.config.Member.Timing.Progress
	if most == 0 && !e.config.Ready.Notify {
		return signs{close: func() {}}, nil
	}
	l.Alive() // a restarted command has the whole time
	ended := make(chan struct{})
	s := signs{close: func() { close(ended) }}
	socket, err := listenForSigns(e.keepers.user, func(line string) {
		switch {
		case line == signProgress:
			l.Alive()
		case line == signReady && e.config.Ready.Notify:
			e.ready(l)
		}
	})
	switch {
	case err == nil:
		s.variables = []string{"NOTIFY_SOCKET=" + socket.address}
		if most != 0 {
			s.variables = append(s.variables, "WATCHDOG_USEC="+strconv.FormatInt(most.Microseconds(), 10))
		}
		s.close = func() {
			close(ended)
			socket.close()
		}
	case e.config.ProgressFile == "" || e.config.Ready.Notify:
		return s, err
	}
	if e.config.ProgressFile != "" {
		go e.followFile(l, most/looksPerPromise, ended)
	}
	return s, nil
}

// followFile looks whether the file is touched. The process that looks may hang with the disk of the file: then there is no progress.
func (e *executor) followFile(l ringleader.Leadership, every time.Duration, ended <-chan struct{}) {
	looks := canary.New(canary.Place{Kind: canary.File, Path: e.config.ProgressFile})
	defer looks.Close()
	go func() {
		<-ended
		looks.Close()
	}()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var last string
	for first := true; ; first = false {
		touched, err := looks.Look(0)
		if errors.Is(err, canary.ErrClosed) {
			return
		}
		if err == nil && touched != last {
			last = touched
			if !first { // a file of an earlier command is no progress
				l.Alive()
			}
		}
		select {
		case <-ticker.C:
		case <-ended:
			return
		}
	}
}

// rest waits before the command starts again in the same tenure. It makes no progress meanwhile, and shall not. It reports false if the tenure
// ends before.
func (e *executor) rest(ended <-chan struct{}, l ringleader.Leadership, d time.Duration) bool {
	every := d
	if most := e.config.Member.Timing.Progress; most != 0 {
		every = most / looksPerPromise
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for begun := time.Now(); time.Since(begun) < d; {
		l.Alive()
		select {
		case <-ticker.C:
		case <-ended:
			return false
		}
	}
	return true
}
