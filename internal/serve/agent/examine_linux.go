package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"ringleader.example/ringleader/internal/serve/kernel"
)

// spinRole is the role of a process that tells by the clock how long it runs.
const spinRole = "spin"

// spinners is how many processes a command has whose death is measured.
const spinners = 2

// spun is how long a process spins that nothing kills, as if its examiner was killed and this system ends no command that left its session.
const spun = time.Minute

// spin writes the clock to numbers that it shares, until it is killed or a time has passed. They are in the memory that is its standard input. The
// first of the processes starts the others, in sessions of their own.
func spin(arguments []string) int {
	if len(arguments) != 2 {
		complain(errors.New("this command is for ringleader doctor"))
		return notStarted
	}
	numbers, err := kernel.Map(os.Stdin, spinners)
	index, wrong := strconv.Atoi(arguments[0])
	most, invalid := time.ParseDuration(arguments[1])
	if err := errors.Join(err, wrong, invalid); err != nil || index < 0 || index >= spinners {
		complain(fmt.Errorf("it cannot spin: %w", err))
		return notStarted
	}
	if index+1 < spinners {
		next := exec.Command(os.Args[0], spinRole, strconv.Itoa(index+1), arguments[1])
		next.Stdin, next.SysProcAttr = os.Stdin, &syscall.SysProcAttr{Setsid: true}
		if err := next.Start(); err != nil {
			complain(err)
			return notStarted
		}
	}
	for end := now() + most; ; {
		at := now()
		if numbers[index] = int64(at); at >= end { // it has told at least once, whatever it has waited for
			return 0
		}
	}
}

// examinerRole is the role of a process that examines what this host allows. It is a process of its own, since one that has keepers kills
// all other children that it has.
const examinerRole = "examiner"

// examiner prints an examination with that many measurements, and what it has of it after each: it may be ended before the last one.
func examiner(arguments []string) int {
	n := 0
	if len(arguments) == 1 {
		n, _ = strconv.Atoi(arguments[0])
	}
	status, out := 0, json.NewEncoder(os.Stdout)
	tell := func(x *Examination) {
		if err := out.Encode(x); err != nil {
			complain(err)
			status = notStarted
		}
	}
	x := examine(n, tell)
	tell(&x)
	return status
}

// Examine tries by what means this host ends a command, and measures how long after the moment at which the kernel ends its keeper
// its last instruction comes, n times. The command keeps two processors busy meanwhile. With an error x has what was measured before.
func Examine(ctx context.Context, n int) (x Examination, err error) {
	program, err := os.Executable()
	if err != nil {
		return x, err
	}
	out, err := exec.CommandContext(ctx, program, examinerRole, strconv.Itoa(n)).Output()
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err)
	}
	for told := json.NewDecoder(bytes.NewReader(out)); told.Decode(&x) == nil; {
	}
	return x, err
}

func examine(n int, tell func(*Examination)) (x Examination) {
	var because error
	x.Means, because = try(true)
	x.Because, x.Timer = text(because), text(checkTimer())
	if x.Timer != "" {
		return x
	}
	k, err := newKeepers(x.Means, "", slog.New(slog.DiscardHandler))
	if err != nil {
		x.Failed = text(err)
		return x
	}
	if os.Stdin, err = kernel.NewMemory(); err != nil { // commands inherit it; it has no name, so nothing is left when this process is killed
		x.Failed = text(err)
		return x
	}
	numbers, err := kernel.Map(os.Stdin, spinners)
	if err != nil {
		x.Failed = text(err)
		return x
	}
	for range n {
		death, err := k.measure(numbers)
		if err != nil {
			x.Failed = text(err)
			return x
		}
		x.Deaths = append(x.Deaths, death)
		tell(&x)
	}
	return x
}

// measure measures one death. The numbers are those of the processes that spin, of which there is none now.
func (k *keepers) measure(numbers []int64) (time.Duration, error) {
	clear(numbers)
	far := now() + time.Hour
	run, err := k.lease([]string{k.program, spinRole, "0", spun.String()}, nil, order{Stop: far, Kill: far, Dead: far})
	if err != nil {
		return 0, err
	}
	defer func() {
		run.kill()
		<-run.ended
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for numbers[0] == 0 || numbers[spinners-1] == 0 {
		select {
		case <-tick.C:
		case <-run.ended:
			return 0, fmt.Errorf("a command that is to be killed ends by itself, with status %d", run.status)
		}
	}
	dead := now() + 20*time.Millisecond
	run.order(order{Stop: far, Kill: far, Dead: dead})
	<-run.ended
	return max(0, time.Duration(max(numbers[0], numbers[spinners-1]))-dead), nil
}
