package agent

import "time"

// Means is the mechanism of the system that ends the processes of a command. A weaker one misses some of them.
type Means string

// The means, from the surest on. Which one a host allows is tried when a member starts.
const (
	// Namespace is a PID namespace. When its first process dies, the kernel kills all others in it, and that death is
	// complete when they all are dead.
	Namespace Means = "namespace"

	// ControlGroup is a control group of version 2. The keeper, the member or the warden tells the kernel to kill all processes in it. While all
	// three are stopped, none of them does.
	ControlGroup Means = "control-group"

	// Children means that the keeper kills its children until it has none. A process that forks and exits before the keeper finds it
	// survives.
	Children Means = "children"

	// ProcessGroup means that the keeper kills the process group of the command. A process that leaves the group survives.
	ProcessGroup Means = "process-group"

	// FirstProcess means that the keeper kills the first process only.
	FirstProcess Means = "first-process"
)

// Lacks tells what the means do not end, for people.
func (m Means) Lacks() string {
	switch m {
	case Namespace:
		return ""
	case ControlGroup:
		return "a command outlives its lease if its keeper, its member and the warden are all stopped"
	case Children:
		return "a process that forks faster than it is found outlives the command"
	case ProcessGroup:
		return "a process that leaves the process group outlives the command"
	default:
		return "what the command has started outlives it"
	}
}

// post is what a keeper is told about its command when it starts.
type post struct {
	means Means
	group string      // the folder of the control group
	user  *credential // who runs the command; nil: the user of this process
}

// Examination is what [Examine] has found.
type Examination struct {
	Means   Means
	Because string // why there is no surer one; empty: there is none
	Timer   string // why the kernel has no timer that kills a keeper; empty: it has
	Failed  string // why not all was measured; empty: all was

	// Deaths are measured lengths of time: from the moment at which the kernel kills a keeper to the last instruction of its command.
	Deaths []time.Duration
}

// text returns the text of an error, or of none.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
