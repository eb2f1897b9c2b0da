package words

import (
	"slices"
	"strings"
)

// prevention is what would have prevented a change of the leader, or made it cheaper, by its cause.
var prevention = map[string]string{
	"killed":      "Find what killed it: the output of its warden has the signal, the log of the kernel an out-of-memory kill.",
	"hung":        "Find what it did: a stack at the next time (SIGQUIT). --hang decides how long nobody leads.",
	"stopped":     "Nothing may stop the process: a signal, a debugger, a frozen control group, or a paused virtual machine.",
	"starved":     "Let it run before others, as join does where it may: doctor tells. Else give it more of the processor: a higher CPU weight, no limit that throttles it, or a less busy machine. A longer lease bears longer delays.",
	"suspended":   "Do not suspend the machines of members, or hand over before.",
	"disk":        "Use a disk with quick flushes, for members alone. ringleader doctor measures it; --stall decides how long a leader waits for it.",
	"links":       "Repair the links named above. A longer lease bears longer losses.",
	"late":        "A longer lease bears slower answers: ringleader doctor measures links, disks and processors, and says which lease fits. The evidence has the slowest messages.",
	"followers":   "Members that vote belong on machines that do not fail together. More voters bear more failures.",
	"clock":       "Repair the clock, or allow more drift: leases are safe only within the bound.",
	"health":      "Repair what the check has found.",
	"progress":    "Repair what stopped the work, or allow it more time.",
	"voters":      "Add members that vote only when they are connected, and remove those that are gone.",
	"restarted":   "Restart the members one after the other: a majority that did not restart need not wait.",
	"preempted":   "Nothing is wrong. ringleader pause-preemption, or no --preempt, prevents it.",
	"resigned":    "Nothing is wrong: it was told to hand over, or its work had ended.",
	"transferred": "Nothing is wrong: it was told to hand over.",
	"closed":      "Nothing is wrong: it was stopped in order. ringleader transfer before that chooses the next leader.",
	"failed":      "Repair what the error names.",
	"duplicate":   "Stop the other process.",
}

// Prevents returns what would have prevented a change of the leader by its cause; empty: that is not known.
func Prevents(cause string) string { return prevention[cause] }

// Unwatched is what would have made a death cheaper that no warden has proved.
const Unwatched = "With a warden the others need not wait for the lease."

// Unproven tells that nothing proves the death of a process that had a warden, or had none.
func Unproven(warden bool) string {
	if warden {
		return "a proof of its death: its warden gave none. It was killed, too, or its machine failed, or nobody heard it"
	}
	return "a proof of its death, which a warden gives"
}

// refusal is a reason why members that reach each other do not connect.
type refusal struct {
	signs    []string // one of them is in the text of the reason
	prevents string
}

// refusals are in the order in which they are looked for: a text may have signs of several.
var refusals = []refusal{
	{[]string{"it is not valid before"}, "Set the clocks of the machines named above, or use certificates only once they are valid."},
	{[]string{"its authority has expired"}, "Make another authority, and certificates of it, before the old one expires. While members change, --ca may have both."},
	{[]string{"it has expired on", "a certificate of this connection has expired", "expired certificate"}, "Renew the certificates before they expire, as ringleader cert does. status, ringleader doctor and the metric ringleader_certificate_expiry_timestamp_seconds tell when that is. A member that runs takes new files."},
	{[]string{"unknown authority", "unknown certificate authority"}, "Give all members certificates of one authority. While they change to another one, --ca has both."},
	{[]string{"it names ringleader:", "the certificate names"}, "Give each member the certificate with its own group and identifier, as ringleader cert makes it."},
	{[]string{"protocol version", "unsupported versions"}, "Members use TLS 1.3. Nothing else may answer at their addresses, or end TLS on the way."},
	{[]string{"does not use TLS", "takes only connections with TLS"}, "Let all members use TLS, with --cert, --key and --ca, or none."},
	{[]string{"certificate", "refused: tls: ", "refused: remote error: tls: "}, "Repair the certificates named above: ringleader doctor checks those of a member."},
	{[]string{"belongs to the group", "of another group answers"}, "Give all members the same --group, and each address to one member."},
	{[]string{"another live process has id", "this is another process with id"}, "Stop the process that has the identifier of another one."},
	{[]string{"its address is wrong in the list", "the address leads back"}, "Correct the addresses of members in --member."},
	{[]string{"has no member", "is in the list no more"}, "Let all lists name the same members: ringleader members adds and removes them."},
	{[]string{"has another store than before"}, "Keep the directory of a member. One that has lost it gets a new identifier."},
	{[]string{"refused: "}, "Repair what the refusals above name."},
}

// refusalOf returns which refusal a reason is; -1: none, such as a network that is cut.
func refusalOf(reason string) int {
	if reason == "" || strings.HasSuffix(reason, "is stopping") || strings.Contains(reason, "connection refused") { // it does not run, or soon does not
		return -1
	}
	return slices.IndexFunc(refusals, func(r refusal) bool {
		return slices.ContainsFunc(r.signs, func(sign string) bool { return strings.Contains(reason, sign) })
	})
}

// Refuses reports whether a reason why a connection was lost, or was not made, is that the members refuse each other.
func Refuses(reason string) bool { return refusalOf(reason) >= 0 }

// PreventsLoss returns what would have prevented that members lost each other, or were not connected, for some reasons. An empty reason is silence.
func PreventsLoss(reasons []string) (text string) {
	var known []int
	for _, reason := range reasons {
		if is := refusalOf(reason); !slices.Contains(known, is) {
			known = append(known, is)
		}
	}
	slices.Sort(known)
	var all []string
	for _, is := range known {
		if is >= 0 {
			all = append(all, refusals[is].prevents)
		}
	}
	if len(all) == 0 || known[0] < 0 {
		all = append(all, prevention["links"])
	}
	return strings.Join(all, " ")
}
