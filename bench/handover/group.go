//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/control"
	"ringleader.example/ringleader/internal/serve/rig"
)

// members is how many there are.
const members = 3

// limit ends a wait that would be for ever.
const limit = 60 * time.Second

// group is three members and a front end.
type group struct {
	options options
	folder  string
	front   string            // its URL
	ports   map[string]string // those of the recipes, and free ones in their place
	program string            // ringleader
	runs    [members + 1]*exec.Cmd
	ends    *exec.Cmd // of the front end
}

// newGroup starts all, and waits until a write succeeds.
func newGroup(ctx context.Context, o options) (_ *group, err error) {
	g := &group{options: o, ports: map[string]string{}}
	recipes := map[string]string{"haproxy": "haproxy-http.cfg", "nginx": "nginx.conf"}
	if recipes[o.front] == "" {
		return nil, fmt.Errorf("the front end is haproxy or nginx, not %q", o.front)
	}
	if g.folder, err = os.MkdirTemp("", "handover"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	names := []string{":7001", ":8001", ":9000", ":8000"}
	addresses, err := rig.FreeAddresses(len(names))
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		_, port, err := net.SplitHostPort(addresses[i])
		if err != nil {
			return nil, err
		}
		g.ports[name] = ":" + port
	}
	g.front = g.here("http://10.0.0.10:8000/")
	g.program = filepath.Join(g.folder, "ringleader")
	build := exec.CommandContext(ctx, "go", "build", "-o", g.program, "./cmd/ringleader")
	build.Dir, build.Stdout, build.Stderr = "../..", os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("go build ./cmd/ringleader: %w", err)
	}
	for id := 1; id <= members; id++ {
		if err := ringleader.Init(g.data(id), "jobs", uint64(id)); err != nil {
			return nil, err
		}
		if err := g.start(id); err != nil {
			return nil, err
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "packaging", "recipes", recipes[o.front]))
	if err != nil {
		return nil, err
	}
	recipe := filepath.Join(g.folder, recipes[o.front])
	if err := os.WriteFile(recipe, []byte(g.here(string(text))), 0o600); err != nil {
		return nil, err
	}
	switch o.front {
	case "haproxy":
		g.ends = g.command("haproxy", "-db", "-f", recipe)
	case "nginx":
		g.ends = g.command("nginx", "-e", "stderr", "-p", g.folder, "-c", recipe, "-g", "daemon off; pid nginx.pid;")
	}
	if err := g.ends.Start(); err != nil {
		return nil, err
	}
	for id := 1; id <= members; id++ {
		if err := g.ready(ctx, id); err != nil {
			return nil, err
		}
	}
	return g, await(ctx, "a write succeeds", func() bool {
		_, err := put(g.front)
		return err == nil
	})
}

// here returns a text of a recipe with addresses of this machine.
func (g *group) here(text string) string {
	text = strings.ReplaceAll(text, "10.0.0.", "127.0.0.")
	for name, port := range g.ports {
		text = strings.ReplaceAll(text, name, port)
		text = strings.ReplaceAll(text, "port "+name[1:], "port "+port[1:])
	}
	return text
}

func (g *group) data(id int) string { return filepath.Join(g.folder, "data", strconv.Itoa(id)) }

// command returns a command that ends with this process.
func (g *group) command(name string, arguments ...string) *exec.Cmd {
	c := exec.Command(name, arguments...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if g.options.verbose {
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
	}
	return c
}

// start starts a member.
func (g *group) start(id int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, arguments := g.program, g.exec(id, self)
	if g.options.library {
		program, arguments = self, g.lead(id)
	}
	g.runs[id] = g.command(program, arguments...)
	return g.runs[id].Start()
}

// exec returns the arguments of ringleader for a member that runs the server as a command.
func (g *group) exec(id int, self string) []string {
	service := g.here(fmt.Sprintf("10.0.0.%d:9000", id))
	arguments := []string{
		"exec", "--group", "jobs", "--id", strconv.Itoa(id), "--data", g.data(id), "--http", g.here(fmt.Sprintf("10.0.0.%d:8001", id)),
		"--warm", "cat " + self + " > /dev/null", // the program is in memory then
	}
	for other := 1; other <= members; other++ {
		arguments = append(arguments, "--member", g.here(fmt.Sprintf("%d=10.0.0.%d:7001", other, other)))
	}
	if !g.options.unready {
		arguments = append(arguments, "--ready-port", service)
	}
	return append(arguments, "--", self, "serve", service, g.options.listens.String())
}

// lead returns the arguments of [lead].
func (g *group) lead(id int) []string {
	arguments := []string{"lead", strconv.Itoa(id), g.data(id), g.here(fmt.Sprintf("10.0.0.%d:9000", id)), g.here(fmt.Sprintf("10.0.0.%d:8001", id))}
	for other := 1; other <= members; other++ {
		arguments = append(arguments, g.here(fmt.Sprintf("10.0.0.%d:7001", other)))
	}
	return arguments
}

// state asks a member.
func (g *group) state(id int, path string) bool {
	response, err := (&http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}).Get(g.here(fmt.Sprintf("http://10.0.0.%d:8001%s", id, path)))
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode == http.StatusOK
}

// ready waits until a member is ready.
func (g *group) ready(ctx context.Context, id int) error {
	return await(ctx, fmt.Sprintf("member %d is ready", id), func() bool { return g.state(id, "/readyz") })
}

// await waits for a condition.
func await(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not within %v: %s", limit, what))
	defer cancel()
	for !holds() {
		if err := rest(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// leader returns the member that leads, when its server is ready.
func (g *group) leader(ctx context.Context) (id int, err error) {
	err = await(ctx, "a member leads", func() bool {
		for id = 1; id <= members; id++ {
			if g.state(id, "/leader") {
				return true
			}
		}
		return false
	})
	return id, err
}

// update lets each member resign if it leads, stops it, and starts it again.
func (g *group) update(ctx context.Context) error {
	for id := 1; id <= members; id++ {
		if g.state(id, "/leader") && !g.options.library { // which resigns when it is told to end
			if _, err := control.NewClient(control.Socket(g.data(id))).Resign(ctx); err != nil {
				return err
			}
			if _, err := g.leader(ctx); err != nil { // the server of the next one is ready
				return err
			}
		}
		if err := g.runs[id].Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		if err := g.runs[id].Wait(); err != nil {
			return fmt.Errorf("member %d: %w", id, err)
		}
		if err := errors.Join(g.start(id), g.ready(ctx, id)); err != nil {
			return err
		}
	}
	return nil
}

// kill kills the member that leads, and starts it again.
func (g *group) kill(ctx context.Context) error {
	id, err := g.leader(ctx)
	if err != nil {
		return err
	}
	warden := g.runs[id].Process.Pid
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", warden)) // of each thread
	if err != nil {
		return err
	}
	var member int
	for _, list := range lists {
		if children, err := os.ReadFile(list); err == nil && member == 0 {
			_, _ = fmt.Sscan(string(children), &member)
		}
	}
	if member == 0 {
		return fmt.Errorf("the warden of member %d has no child", id)
	}
	if err := syscall.Kill(member, syscall.SIGKILL); err != nil {
		return err
	}
	_ = g.runs[id].Wait() // it tells that it was killed
	// Members have machines of their own elsewhere: there the start of one takes no processor from the next leader.
	if _, err := g.leader(ctx); err != nil {
		return err
	}
	return errors.Join(g.start(id), g.ready(ctx, id))
}

// close ends all.
func (g *group) close() {
	for _, c := range append(g.runs[:], g.ends) {
		if c != nil && c.Process != nil {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			_ = c.Wait()
		}
	}
	_ = os.RemoveAll(g.folder)
}
