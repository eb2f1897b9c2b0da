// Package start has what the examples have in common: flags, a member of a group of three processes, and a group within one
// process.
package start

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport"
)

// Flags parses the flags of a program that takes no arguments. Its help begins with what the program does.
func Flags(about string) {
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "%s\n\nFlags:\n", about)
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("%q is no flag; see --help", flag.Arg(0))
	}
}

// Member makes this process a member of a group of three, by its flags. Context ends with an interrupt.
func Member(name, about string, config ringleader.Config) (context.Context, *ringleader.Member) {
	log.SetFlags(0)
	id := flag.Uint64("id", 1, "`number` of this process, 1, 2 or 3")
	addresses := flag.String("addresses", "127.0.0.1:7101,127.0.0.1:7102,127.0.0.1:7103", "`list` of the addresses of processes 1, 2 and 3")
	data := flag.String("data", filepath.Join(os.TempDir(), "ringleader-"+name), "`directory` for the votes; each process has a part of it")
	Flags(about + "\n\nRun it three times, with --id 1, --id 2 and --id 3, in three terminals.")
	config.Group, config.ID, config.Data = name, *id, filepath.Join(*data, fmt.Sprint(*id))
	for i, address := range strings.Split(*addresses, ",") {
		config.Members = append(config.Members, ringleader.MemberAddress{ID: uint64(i + 1), Address: address})
	}
	// An example may make its directory when it starts. Your program may not: a member that lost its directory could vote twice.
	if err := ringleader.InitIfMissing(config.Data, config.Group, config.ID); err != nil {
		log.Fatal(err)
	}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	m, err := ringleader.Join(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	return ctx, m
}

// LateWrite elects a leader among three members in this process. The leader sends a write, and resigns before that arrives.
// The next leader writes. Then the write of the first one arrives, and LateWrite returns its error. Write stores a text in a
// resource, for the leader of a term.
func LateWrite(write func(term uint64, text string) error) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	members, err := group(ctx)
	if err != nil {
		return err
	}
	var leaders atomic.Int32
	late, written := make(chan uint64, 1), make(chan error, 1)
	for _, m := range members {
		defer m.Close()
		go m.Lead(ctx, func(ctx context.Context, l ringleader.Leadership) error {
			switch id := m.Status().ID; leaders.Add(1) {
			case 1:
				fmt.Printf("term %d: member %d sends a write, which is slow on its way, and resigns\n", l.Term(), id)
				late <- l.Term()
				return nil
			case 2:
				fmt.Printf("term %d: member %d leads now, and writes\n", l.Term(), id)
				written <- write(l.Term(), fmt.Sprintf("written in term %d", l.Term()))
			}
			<-ctx.Done()
			return nil
		})
	}
	if err := <-written; err != nil {
		return err
	}
	term := <-late
	fmt.Printf("term %d: its write arrives\n", term)
	return write(term, fmt.Sprintf("written in term %d", term))
}

// group starts three members in this process, with their votes in memory.
func group(ctx context.Context) (members []*ringleader.Member, err error) {
	config, opens := ringleader.Config{Group: "late", Timing: ringleader.Timing{Lease: 10 * time.Second}}, []transport.Open{} // a loaded machine can keep it
	for id := range uint64(3) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		config.Members = append(config.Members, ringleader.MemberAddress{ID: id + 1, Address: l.Addr().String()})
		opens = append(opens, transport.TCP{Listener: l}.Open)
	}
	for i, member := range config.Members {
		c := config
		c.ID, c.Transport = member.ID, opens[i]
		if c.Storage, err = storage.Memory().Open(); err != nil {
			return nil, err
		}
		m, err := ringleader.Join(ctx, c)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return members, nil
}
