// Command server is a member that serves its status over HTTP, and so links HTTP.
package main

import (
	"context"
	"log"
	"net/http"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/statushttp"
)

func main() {
	member, err := ringleader.Join(context.Background(), ringleader.Config{
		ID: 1, Members: []ringleader.MemberAddress{{ID: 1, Address: "127.0.0.1:7001"}}, Data: "data",
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:8001", statushttp.Handler(member)))
}
