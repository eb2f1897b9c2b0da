// Printer prints one page at a time, for the holders of the token of examples/token-ring. It refuses a page of an older token
// than the last page's: a process that was stopped in the middle of a job cannot print the rest into the job of another one.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"

	"ringleader.example/ringleader/examples/internal/start"
	"ringleader.example/ringleader/examples/internal/wire"
	"ringleader.example/ringleader/fence"
)

// page is what processes send.
type page struct {
	Process uint64
	Term    uint64 // of the token
	Job     int    // counts the holders of this token
	Page    int
	Pages   int // of the job
}

func main() {
	log.SetFlags(0)
	address := flag.String("address", "127.0.0.1:7110", "`address` to listen on")
	start.Flags("Prints pages for the processes of examples/token-ring, and refuses those of old tokens.")
	l, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("printing at", l.Addr())
	var guard fence.Guard
	log.Fatal(wire.Serve(l, func(p page) error {
		err := guard.Do(p.Term, func() error {
			fmt.Printf("token %d, job %d of process %d: page %d of %d\n", p.Term, p.Job, p.Process, p.Page, p.Pages)
			return nil
		})
		if err != nil {
			fmt.Printf("token %d, job %d of process %d: page %d is refused\n", p.Term, p.Job, p.Process, p.Page)
		}
		return err
	}))
}
