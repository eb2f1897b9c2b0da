// Standby serves HTTP from one of three processes. The others are up, and redirect to it.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/examples/internal/start"
)

func main() {
	ctx, m := start.Member("standby", "Serves HTTP from one of three processes, at an address that each process prints. The others redirect to it.", ringleader.Config{})
	defer m.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	url := "http://" + l.Addr().String()
	fmt.Println("serving at", url)
	go http.Serve(l, handler(m))
	log.Print(m.Lead(ctx, func(ctx context.Context, l ringleader.Leadership) error {
		if err := l.Publish(url); err != nil {
			return err
		}
		fmt.Println("active, in term", l.Term())
		<-ctx.Done()
		return nil
	}))
}

// handler answers on the active process, and redirects elsewhere.
func handler(m *ringleader.Member) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A majority confirms now that this process is active: an answer is never one of a process that was replaced.
		err := m.VerifyLeader(r.Context())
		switch v := m.View(); {
		case err == nil:
			fmt.Fprintf(w, "answered by %d in term %d\n", m.Status().ID, v.Term)
		case v.Value != "" && v.Role != ringleader.Leader:
			http.Redirect(w, r, v.Value+r.URL.Path, http.StatusTemporaryRedirect)
		default:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
}
