// Package tcprun runs one election between n processors that are joined by TCP connections on the loopback
// interface: the state machine of the algorithm is the one that is simulated and checked, the network is real.
// The processors live in this process, a few goroutines each, or in operating-system processes of their own.
//
// # Network
//
// There is one connection for each pair of links, there and back, between two ports; a link that leads back to the
// port that it leaves on has one to itself. So each link keeps the order of its messages, a ring of one is a
// connection from its processor to itself, and a ring of two has two parallel connections. Every processor listens
// on a port that the kernel chooses, until all its links stand. Who connects presents the secret of the run, without
// which it is refused: nothing else on the machine can take part by chance or by malice.
//
// # Start and end
//
// A conductor tells the processors when to start: first all links stand, then all initiators make their first step,
// and only then is anything delivered; so counts that depend on nothing else are those of a simulation.
//
// It finds the end by asking all processors, again and again, for what they have done: how many messages they sent
// and received, how many steps they made, how many timers run. If two such waves, one after the other, bring the same
// answers, then these were true of everybody at every moment between the waves, since counts never go down. If at such
// a moment as many messages were received as were sent, and no timer ran, nothing could ever happen again. How long
// the conductor pauses between waves changes no verdict.
//
// A service whose timers never stop has no such end. It is said to have settled when all who live have agreed on a
// leader, and since then, for twice as long as the longest timer had to run, nobody has decided anything else
// and nothing but overhead was sent.
//
// # Time
//
// What a timed algorithm calls a unit is a duration here. It assumes that a message is handled within its delay. The
// result says how long the slowest message took, so that it can be seen whether the assumption was kept. Steps take no
// time on a processor's clock, and a timer expires at the moment for which it was set: that a machine is late counts as
// the delay of the messages that follow. So a run whose slowest message was not too slow is one that the algorithm is made
// for. Any other may go wrong, or on for ever with ever more messages: hence the default limit, and Patient options.
//
// A synchronous algorithm gets its rounds from a synchroniser. After the messages of a round, a processor sends a
// marker on each link, and it begins the next round when it has a marker from everybody. Within a round it reads
// its messages in the order of ports, then starts, then its timers, as package election says. Markers are no messages
// of the algorithm, and are counted apart.
//
// # The dead
//
// Positions that are dead from the beginning are not there: what is sent to them is counted, and lost. As in a
// simulation, failure detectors say so before anybody starts.
package tcprun
