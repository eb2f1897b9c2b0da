// Package queues holds what waits in a run: messages by the time of their arrival, and links that are served in turn. It knows no
// process and no engine.
package queues
