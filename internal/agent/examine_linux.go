package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"ringleader.example/ringleader/internal/kernel"
)

// spinRole is the role of a process that tells by the clock how long it runs.
const spinRole = "spin"

// spinners is how many processes a command has whose death is measured.
const spinners = 2

// spin writes the clock to numbers that it shares, until it is killed. The first of the processes starts the others, in sessions of
// their own.
func spin(arguments []string) int {
	if len(arguments) != 2 {
		complain(errors.New("this command is for ringleader doctor"))
		return notStarted
	}
	numbers, err := kernel.Share(arguments[0], spinners)
	index, wrong := strconv.Atoi(arguments[1])
	if err := errors.Join(err, wrong); err != nil || index < 0 || index >= spinners {
		complain(fmt.Errorf("it cannot spin: %w", err))
		return notStarted
	}
	if index+1 < spinners {
		next := exec.Command(os.Args[0], spinRole, arguments[0], strconv.Itoa(index+1))
		next.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := next.Start(); err != nil {
			complain(err)
			return notStarted
		}
	}
	for {
		numbers[index] = int64(now())
	}
}

// Examine tries by what means this host ends a command, and measures how long after the moment at which the kernel ends its keeper
// its last instruction comes, n times. The command keeps two processors busy meanwhile.
func Examine(ctx context.Context, namespace bool, n int) (x Examination, err error) {
	x.Means, x.Because = try(namespace)
	x.Timer = checkTimer()
	k, err := newKeepers(x.Means, "")
	if err != nil || x.Timer != nil {
		return x, err
	}
	folder, err := os.MkdirTemp("", "ringleader-doctor-")
	if err != nil {
		return x, err
	}
	defer os.RemoveAll(folder)
	for i := range n {
		death, err := k.measure(ctx, filepath.Join(folder, strconv.Itoa(i)))
		if err != nil {
			return x, err
		}
		x.Deaths = append(x.Deaths, death)
	}
	return x, nil
}

// measure measures one death.
func (k *keepers) measure(ctx context.Context, file string) (time.Duration, error) {
	numbers, err := kernel.Share(file, spinners)
	if err != nil {
		return 0, err
	}
	defer kernel.Unshare(numbers)
	far := now() + time.Hour
	run, err := k.lease([]string{k.program, spinRole, file, "0"}, nil, order{Stop: far, Kill: far, Dead: far})
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
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	dead := now() + 20*time.Millisecond
	run.order(order{Stop: far, Kill: far, Dead: dead})
	select {
	case <-run.ended:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	return max(0, time.Duration(max(numbers[0], numbers[spinners-1]))-dead), nil
}
