package statushttp_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/internal/serve/rig"
	"ringleader.example/ringleader/statushttp"
	"ringleader.example/ringleader/storage"
)

// A program that is no member follows which one leads, at the addresses where members serve their state.
func ExampleObserve() {
	ctx := context.Background()
	addresses, err := rig.FreeAddresses(1)
	if err != nil {
		log.Fatal(err)
	}
	store, err := storage.Memory().Open() // in place of a directory
	if err != nil {
		log.Fatal(err)
	}
	member, err := ringleader.Join(ctx, ringleader.Config{
		Group: "jobs", ID: 7, Members: []ringleader.MemberAddress{{ID: 7, Address: addresses[0]}}, Storage: store,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer member.Close()
	server := httptest.NewServer(statushttp.Handler(member))
	defer server.Close()

	for view, err := range statushttp.Observe(ctx, server.Client(), server.URL) {
		if err != nil {
			continue // no leader is known yet; the error tells why
		}
		fmt.Println("member", view.Leader, "leads")
		break
	}
	// Output: member 7 leads
}
