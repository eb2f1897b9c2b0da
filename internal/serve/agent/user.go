package agent

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
)

// credential is a user who runs a command, with all groups.
type credential struct {
	user, group uint32
	groups      []uint32
}

// String returns USER:GROUP:GROUP,… in numbers; for nil it is empty.
func (c *credential) String() string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%d:%d:%s", c.user, c.group, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.groups), " ", ","), "[]"))
}

// parseCredential is the inverse of String.
func parseCredential(text string) (*credential, error) {
	if text == "" {
		return nil, nil
	}
	var (
		c      credential
		groups string
	)
	if n, err := fmt.Sscanf(text, "%d:%d:%s", &c.user, &c.group, &groups); n < 2 {
		return nil, fmt.Errorf("the user %q: %w", text, err)
	}
	for field := range strings.SplitSeq(groups, ",") {
		if group, err := strconv.ParseUint(field, 10, 32); err == nil {
			c.groups = append(c.groups, uint32(group))
		}
	}
	return &c, nil
}

// lookUser returns a user of this machine, by name or number. Empty: nil.
func lookUser(name string) (*credential, *user.User, error) {
	if name == "" {
		return nil, nil, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.LookupId(name); err != nil {
			return nil, nil, fmt.Errorf("the user %q is not known on this machine", name)
		}
	}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, nil, err
	}
	numbers := make([]uint32, 0, len(ids)+2)
	for _, id := range append([]string{u.Uid, u.Gid}, ids...) {
		number, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, nil, fmt.Errorf("the user %q cannot run a command on this system", name)
		}
		numbers = append(numbers, uint32(number))
	}
	c := &credential{user: numbers[0], group: numbers[1], groups: numbers[2:]}
	if own := os.Getuid(); own != 0 && uint32(own) != c.user {
		return nil, nil, fmt.Errorf("only root can run a command as another user, such as %q", name)
	}
	return c, u, nil
}

// CheckUser checks that a command can run as a user.
func CheckUser(name string) error {
	_, _, err := lookUser(name)
	return err
}

// private begins the names of variables that are for the member: some hold secrets.
const private = "RINGLEADER_"

// inherited returns the environment of this process without what is for the member only. A command of another user gets the
// variables by which it knows who it is.
func inherited(as *user.User) (all []string) {
	own := []string{}
	if as != nil {
		own = []string{"HOME=" + as.HomeDir, "USER=" + as.Username, "LOGNAME=" + as.Username}
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, private) || slices.ContainsFunc(own, func(o string) bool { return strings.HasPrefix(o, name+"=") }) {
			continue
		}
		all = append(all, variable)
	}
	return append(all, own...)
}
