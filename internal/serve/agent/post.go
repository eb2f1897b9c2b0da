package agent

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"ringleader.example/ringleader/internal/serve/canary"
)

// The roles in which this program starts itself.
const (
	keeperRole = "keeper"
	firstRole  = "first" // process in a PID namespace
)

// Be carries out the role in which [Agent] has started this process, and ends it with the exit status of that. It returns at
// once if this process has no role. The main function of each program with an agent begins with it.
func Be() {
	canary.Be()
	if len(os.Args) < 2 {
		return
	}
	for role, be := range roles {
		if os.Args[1] == role {
			os.Exit(be(os.Args[2:]))
		}
	}
}

// arguments returns the arguments of a process with a role.
func (p post) arguments(role string, command []string) []string {
	all := []string{os.Args[0], role}
	for name, value := range map[string]string{"means": string(p.means), "group": p.group, "user": p.user.String()} {
		if value != "" {
			all = append(all, "-"+name+"="+value)
		}
	}
	return append(append(all, "--"), command...)
}

// parse is the inverse of arguments.
func (p *post) parse(arguments []string) (command []string, err error) {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	means := flags.String("means", "", "")
	flags.StringVar(&p.group, "group", "", "")
	user := flags.String("user", "", "")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	p.means = Means(*means)
	p.user, err = parseCredential(*user)
	return flags.Args(), err
}

// complain tells an error of a process with a role.
func complain(err error) {
	fmt.Fprintf(os.Stderr, "%s: %s\n", filepath.Base(os.Args[0]), strings.ReplaceAll(err.Error(), "\n", "; "))
}
