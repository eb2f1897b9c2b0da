// Command member elects among its own kind and does nothing else.
package main

import (
	"context"
	"fmt"
	"log"

	"ringleader.example/ringleader"
)

func main() {
	member, err := ringleader.Join(context.Background(), ringleader.Config{
		ID: 1, Members: []ringleader.MemberAddress{{ID: 1, Address: "127.0.0.1:7001"}}, Data: "data",
	})
	if err != nil {
		log.Fatal(err)
	}
	for now := range member.Observe(context.Background()) {
		fmt.Println(now.Role, now.Leader)
	}
	log.Fatal(member.Err())
}
