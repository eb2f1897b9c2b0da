package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"ringleader.example/ringleader"
)

// notices go to the service manager that has started this program, such as systemd, by the protocol of sd_notify(3).
type notices struct {
	conn  net.Conn
	every time.Duration // between two signs of life; 0: the manager has no watchdog
}

// beats is how many signs of life fall into the time of the watchdog: it outlasts a stall that costs one of them.
const beats = 4

// newNotices connects to the service manager, if the environment names one. It removes the variables for that: commands and
// hooks do not speak for the member.
func newNotices() (*notices, error) {
	socket, limit, process := take("NOTIFY_SOCKET"), take("WATCHDOG_USEC"), take("WATCHDOG_PID")
	if socket == "" {
		return nil, nil
	}
	conn, err := net.Dial("unixgram", socket) // @ begins an abstract address
	if err != nil {
		return nil, err
	}
	n := &notices{conn: conn}
	// The manager has started the warden, which is the parent of the member.
	if process == "" || process == strconv.Itoa(os.Getpid()) || process == strconv.Itoa(os.Getppid()) {
		microseconds, _ := strconv.ParseInt(limit, 10, 64) // 0 without a watchdog
		n.every = time.Duration(microseconds) * time.Microsecond / beats
	}
	return n, nil
}

// take returns a variable of the environment, and removes it.
func take(name string) string {
	value := os.Getenv(name)
	os.Unsetenv(name)
	return value
}

// send sends a notice. A manager that does not read misses some: then it has forgotten this process, or stands still itself.
func (n *notices) send(text string) {
	_ = n.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = n.conn.Write([]byte(text))
}

// run tells the manager that the member serves, its role, and that it stops, until the member has stopped.
func (n *notices) run(a *Agent) {
	n.send("READY=1")
	var all sync.WaitGroup
	all.Go(func() {
		for v := range a.Observe(context.Background()) {
			n.send("STATUS=" + summary(v))
		}
	})
	all.Go(func() {
		select {
		case <-a.life.Done():
		case <-a.Done():
		}
		n.send("STOPPING=1")
	})
	all.Go(func() { n.live(a) })
	all.Wait()
	n.conn.Close()
}

// live gives signs of life while the loop of the member runs: the watchdog ends a member whose loop stands still.
func (n *notices) live(a *Agent) {
	if n.every <= 0 {
		return
	}
	ticker := time.NewTicker(n.every)
	defer ticker.Stop()
	for {
		if err := a.Health(); err == nil || errors.Is(err, ringleader.ErrStorage) || errors.Is(err, ringleader.ErrStalled) { // another process would have the same disk
			n.send("WATCHDOG=1")
		}
		select {
		case <-ticker.C:
		case <-a.Done():
			return
		}
	}
}

// summary returns a view of the leader in a few words.
func summary(v ringleader.View) (text string) {
	switch {
	case !v.Known:
		return "electing"
	case v.Role == ringleader.Leader:
		text = "leader"
	default:
		text = fmt.Sprintf("follower of %d", v.Leader)
	}
	if v.Term > 0 { // Bully has none
		text += fmt.Sprintf(" in term %d", v.Term)
	}
	return text
}
