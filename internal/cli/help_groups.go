package cli

import "strings"

// flagGroup is a group of flags in the help of commands. Its name is what follows --help.
type flagGroup struct{ name, title, flags string }

// basicGroup is the name of the group of each command that its first help explains.
const basicGroup = "basic"

// basicFlags are the flags of that group, for commands with more flags than [fewFlags].
var basicFlags = map[string]string{
	"compare":   "n order orders until seed study draw json",
	"count":     "n ids order param seed json",
	"doctor":    "id group member data config clock json",
	"exec":      "id group member data config cert key ca on-exit user",
	"export":    "n ids format out start fault param",
	"join":      "id group member join data config cert key ca http json",
	"reproduce": "json markdown out thorough",
	"run":       "n ids order param start schedule fault seed story step draw json",
	"verify":    "n ids start param crash recover cut lose extremes draw json",
	"worst":     "n of tries param seed json",
}

// flagGroups are the groups of all other flags, in the order of the help. A flag that is not the same in all commands has a command
// and a colon before its name.
var flagGroups = []flagGroup{
	{"network", "Network and parameters", `
		n ids first order allow-duplicate-ids anonymous topology edges orientation ports
		param votes scores priorities unwilling`},
	{"run", "The run", `
		start schedule timing delay seed until limit over unit wake lazy clock-error pace begins
		command stop-time wardens scenario step walk`},
	{"faults", "Faults", `
		fault faults dead leader-dead crash recover lose duplicate non-fifo reorder
		cut suspect-falsely resign`},
	{"search", "Search", `
		reduce rotations exact random shrink extremes probabilities gallery at
		max-states max-depth memory of tries solver timeout drop-guard drop emit recorded thorough`},
	{"output", "Output", `
		json csv markdown draw draw-topology trace save story state process from to run:check
		against scale per-process title format no-descriptions export:out reproduce:out`},
	{"work", "Long work", `
		out keep shard cores metrics orders compare:until study nats nats-listen nats-store nats-token nats-token-file nats-credentials
		nats-certificate nats-key nats-ca`},
	{"member", "The member", `
		id group groups member members join address priority witness standby data config check if-missing listen srv algorithm unsafe-no-quorum
		warden real-time weight preempt preempt-delay record record-size lease-file replay change verbose file wait watch for lab open stories export clock`},
	{"access", "Access", "http https http-host cert key ca insecure host directory days operator"},
	{"timing", "Timing", "preset lease shortest-lease renewal heartbeat suspicion hang stall progress-path join:delay exec:delay doctor:delay"},
	{"health", "Health", "health-command health-http health-interval health-timeout health-rise health-fall"},
	{"hooks", "Hooks", "on-leader on-follower on-change hook-timeout"},
	{"command", "The command", "user warm handover-wait ready ready-port ready-notify on-exit backoff progress progress-file stop-grace stop-timeout no-namespace"},
}

// groupsOf returns the names of the groups that have a flag of a command. The help shows the first; a test wants one.
func groupsOf(command, flag string) (names []string) {
	has := func(list, flag string) bool {
		for word := range strings.FieldsSeq(list) {
			if word == flag {
				return true
			}
		}
		return false
	}
	if flag == "help" || flag == "version" || has(basicFlags[command], flag) {
		return []string{basicGroup}
	}
	for _, own := range []string{command + ":" + flag, flag} {
		for _, g := range flagGroups {
			if has(g.flags, own) {
				names = append(names, g.name)
			}
		}
		if names != nil {
			return names
		}
	}
	return nil
}
