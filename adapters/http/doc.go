// Package leaderhttp lets any member of a group take HTTP requests that only the leader may serve: the others send them to it.
//
// The leader publishes the URL of its service, and [Handler] wraps the service of each member:
//
//	err := leadership.Publish("https://10.0.0.3:8443")
//	http.ListenAndServe(address, leaderhttp.Handler(member, service, leaderhttp.Options{}))
//
// A member that does not lead answers with a redirect, or with Options.Forward it passes on the request and the answer. While no leader is known, or
// it has published no URL, the answer is 503 with Retry-After: nothing has been done. A forwarded request that the leader has taken and not
// answered is 502: it may have had its effect. With ringleader.Bully nothing can be published, so only the leader serves.
//
// # Loops
//
// Members learn of a new leader at different times, so two may take each other for it. Each redirect and each forwarded request carries the
// term that its sender knows: in the last parameter of the query, or in a header. A member that does not lead and knows no later term answers 503. So
// terms rise along a chain of members, and it ends. The service does not see the parameter or header.
//
// # The status of a redirect
//
// It is 307, Temporary Redirect, which keeps method and body. The permanent 308 would be wrong: browsers and caches would ask that member for
// ever.
//
// # What is promised
//
// The service runs only at a member whose lease runs when the request arrives; so a check of a member that was paused may be out of date
// when the service writes. What must not see a late write compares terms: see package fence.
package leaderhttp
