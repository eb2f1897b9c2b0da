// Package tcprun runs one election between n processors that are joined by TCP connections on the loopback
// interface. It runs the state machine that the simulator and the checker run, on a real network.
// The processors run in this process, with a few goroutines each, or in operating-system processes of their own.
//
// # Network
//
// There is one connection for each pair of links, there and back, between two ports; a link that leads back to its
// own port has its own connection. So each link is FIFO, a ring of one is a connection from its processor to itself,
// and a ring of two has two parallel connections. Every processor listens on a port that the kernel chooses, until
// all its links are connected. A dialer must send the secret of the run: no other program on the machine can take
// part by chance or by malice.
//
// # Start and end
//
// A conductor starts the processors. First all links are connected, then all initiators make their first
// step, and only then are messages delivered. So counts that depend on nothing else equal the counts of a simulation.
//
// It finds the end by repeatedly asking all processors for their counts: messages sent and received, steps made,
// timers running. If two consecutive waves return the same answers, these were true of all processors at every moment
// between the waves, because counts never decrease. If at such a moment as many messages were received as were sent,
// and no timer ran, no event could follow. The pause between waves changes no verdict.
//
// A service whose timers never stop has no such end. It has settled when all live processors agree on a leader and,
// for twice as long as the longest timer had to run, no decision has changed and only overhead was sent.
//
// # Time
//
// The unit of a timed algorithm is a duration here. The algorithm assumes that a message is handled within its delay.
// The result contains the time of the slowest message, which shows whether the assumption was kept. Steps take no
// time on a processor's clock, and a timer expires at the moment for which it was set: a late machine counts as delay
// of the messages that follow. So if no message was too slow, the algorithm's assumption held. Any other run may
// fail, or never end, with ever more messages: hence the default limit, and Patient options.
//
// A synchronous algorithm gets its rounds from a synchroniser. After the messages of a round, a processor sends a
// marker on each link, and it begins the next round when it has all markers. Within a round it reads its messages in
// the order of ports, then starts, then handles its timers, as package election specifies. Markers are not messages
// of the algorithm, and are counted separately.
//
// # Crashed processes
//
// Positions that have crashed before the start have no processor: messages to them are counted, and lost. As in a
// simulation, failure detectors report them before any process starts.
package tcprun
