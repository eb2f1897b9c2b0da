package storage_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"ringleader.example/ringleader/storage"
)

func Example() {
	parent, err := os.MkdirTemp("", "ringleader")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(parent)
	directory, owner := filepath.Join(parent, "member"), storage.Owner{Group: "payments", Member: 3}

	// Once in the life of a member:
	if err := storage.Init(directory, owner, storage.InitOptions{}); err != nil {
		log.Fatal(err)
	}

	// At each start:
	s, err := storage.Open(directory, owner)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	vote, err := s.Load("payments")
	fmt.Println(vote == nil, err)

	// When Save returns, both are durable.
	err = s.Save([]storage.Record{
		{Name: "", Data: []byte("incarnation 1")},
		{Name: "payments", Data: []byte("term 12")},
	})
	fmt.Println(err)
	// Output:
	// true <nil>
	// <nil>
}

func ExampleMemory() {
	disk := storage.Memory()
	s, err := disk.Open()
	if err != nil {
		log.Fatal(err)
	}
	disk.Intercept(func(records []storage.Record) error {
		if string(records[0].Data) == "term 2" {
			return storage.ErrWrite
		}
		return nil
	})
	for _, term := range []string{"term 1", "term 2"} {
		err := s.Save([]storage.Record{{Name: "payments", Data: []byte(term)}})
		fmt.Println(term, "is not saved:", errors.Is(err, storage.ErrWrite))
	}
	s.Close() // the process ends, and the next one starts
	if s, err = disk.Open(); err != nil {
		log.Fatal(err)
	}
	vote, err := s.Load("payments")
	fmt.Printf("%s %v\n", vote, err)
	// Output:
	// term 1 is not saved: false
	// term 2 is not saved: true
	// term 1 <nil>
}
