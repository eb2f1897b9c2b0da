// Fence-redis has the leader of three processes pay 10 into an account in Redis, again and again. One of them can be paused
// between the moment at which it checks its lease and its write. Then the write arrives late, and overwrites those of the next
// leader: payments are lost that were reported as made. With a fence, Redis refuses the late write.
//
//	redis-server --port 6399 --appendonly yes --appendfsync always
//	go run ./examples/fence-redis --id 1 --fence=false
//	go run ./examples/fence-redis --id 2 --fence=false
//	go run ./examples/fence-redis --id 3 --fence=false --pause-at 5
//
// Process 3 leads, and pauses before its fifth payment, as if by Ctrl-Z. When process 2 has made some, let process 3 continue,
// with fg: the balance of process 2 jumps back. Then do the same without --fence=false, after redis-cli -p 6399 del account.
//
// The fence is the term of the leader, which Redis keeps beside the balance and compares in the same step. A new leader
// first raises the term, when it reads. From then on no write of an older term is accepted. The fence is as durable
// as Redis makes it: one that forgets its last second may forget a term, too. It is one server here. A replica
// that takes over from it may have missed the last term, so a failover of Redis itself needs more than this.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/examples/internal/start"
)

var (
	server  = flag.String("redis", "redis://127.0.0.1:6399", "`URL` of Redis")
	command = flag.String("redis-cli", "redis-cli", "`path` of the command redis-cli")
	fenced  = flag.Bool("fence", true, "Redis compares terms")
	pauseAt = flag.Int("pause-at", 0, "pause once, before payment `number` N of a term; 0: never")
	every   = flag.Duration("every", 300*time.Millisecond, "the time between payments")
)

func main() {
	ctx, m := start.Member("fence-redis", "Pays into an account in Redis, on one of three processes at a time.", ringleader.Config{
		// The default, Exit, ends a process soon after a pause that outlasts its lease, but perhaps not before its write.
		// Here it goes on, so that the late write comes every time.
		Overrun: ringleader.Log,
	})
	defer m.Close()
	log.Print(m.Lead(ctx, pay))
}

// pay makes payments until ctx is done.
func pay(ctx context.Context, l ringleader.Leadership) error {
	fmt.Println("term", l.Term(), "begins")
	for n := 1; ; n++ {
		balance, err := read(l.Term())
		if err == nil && l.Valid() {
			if n == *pauseAt {
				*pauseAt = 0 // a process that pauses again hears no interrupt
				fmt.Printf("term %d: it pauses before it writes %d\n", l.Term(), balance+10)
				pause()
			}
			if err = write(l.Term(), balance+10); err == nil {
				fmt.Printf("term %d: the balance is %d\n", l.Term(), balance+10)
			}
		}
		switch {
		case errors.Is(err, errStale):
			fmt.Printf("term %d: %v\n", l.Term(), err)
			<-ctx.Done()
			return nil
		case err != nil:
			return err
		}
		select {
		case <-time.After(*every):
		case <-ctx.Done():
			return nil
		}
	}
}

// pause stops this process until it gets SIGCONT.
func pause() {
	if err := exec.Command("kill", "-STOP", strconv.Itoa(os.Getpid())).Run(); err != nil {
		log.Print("it does not pause: ", err)
	}
}

// errStale reports that Redis has refused a term.
var errStale = errors.New("refused")

// script raises the term, sets the balance if one is given, and returns the balance. Redis runs a script as one step. Lua has
// floating-point numbers, which are exact for terms up to 2⁵³.
const script = `
local seen = tonumber(redis.call('HGET', KEYS[1], 'term') or 0)
if seen > tonumber(ARGV[1]) then
	return redis.error_reply('STALE term ' .. ARGV[1] .. ', and a leader of a later term has been here')
end
redis.call('HSET', KEYS[1], 'term', ARGV[1])
if ARGV[2] then
	redis.call('HSET', KEYS[1], 'balance', ARGV[2])
end
return redis.call('HGET', KEYS[1], 'balance')`

// read returns the balance.
func read(term uint64) (int, error) {
	question := []string{"HGET", "account", "balance"}
	if *fenced {
		question = []string{"EVAL", script, "1", "account", strconv.FormatUint(term, 10)}
	}
	text, err := redis(question...)
	if err != nil || text == "" {
		return 0, err
	}
	return strconv.Atoi(text)
}

// write sets the balance.
func write(term uint64, balance int) error {
	order := []string{"HSET", "account", "balance", strconv.Itoa(balance)}
	if *fenced {
		order = []string{"EVAL", script, "1", "account", strconv.FormatUint(term, 10), strconv.Itoa(balance)}
	}
	_, err := redis(order...)
	return err
}

// redis runs a command of Redis. It uses redis-cli, so that this module needs no client.
func redis(arguments ...string) (string, error) {
	out, err := exec.Command(*command, append([]string{"-u", *server, "-e"}, arguments...)...).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if strings.Contains(text, "STALE") {
		return "", fmt.Errorf("%w: %s", errStale, text)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", *command, err, text)
	}
	return text, nil
}
