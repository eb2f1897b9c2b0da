// Package control lets operators look at a member and command it: over a unix socket in its data directory, and over HTTP
// or HTTPS where that is asked for. The commands status, members, watch, resign, transfer, pause-preemption, doctor, record and explain are its clients.
//
// # Access
//
// Only the user of the process, and root, can connect to the socket. HTTPS asks each client for a certificate of the
// members' authorities. Both take commands, and give the record of the member. HTTP in clear text is for load balancers, probes and metrics, and does
// neither.
//
// A page of another site that a browser on the same machine shows can send requests to a loopback address, and read the
// answers if a name of that site leads there. So a Host that is a name must be a known one, and a request that a browser
// marks as that of another site commands nothing.
//
// # Clients that are slow, many, or hostile
//
// The limits of [statushttp.Server] hold for each listener, so that clients of HTTP cannot keep an operator from the socket.
// No client delays the member: answers are made of its published state, and of the files of its record. At most two clients read these at a time. An
// explanation is of the newest 2 MiB, for which it takes 0.3 seconds of one processor at most, in steps that the scheduler of Go interrupts.
package control
