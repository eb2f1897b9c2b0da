package rig_test

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"ringleader.example/ringleader/internal/serve/rig"
)

// addressesOfAChild makes this program print free addresses, in place of its tests.
const addressesOfAChild = "RIG_TEST_ADDRESSES"

func TestMain(m *testing.M) {
	if os.Getenv(addressesOfAChild) != "" {
		addresses, err := rig.FreeAddresses(200)
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(strings.Join(addresses, " "))
		return
	}
	os.Exit(m.Run())
}

// The addresses are an eighth of all: without reservations some ports would be returned again.
func TestNoAddressIsReturnedTwice(t *testing.T) {
	addresses, err := rig.FreeAddresses(200)
	if err != nil {
		t.Fatal(err)
	}
	again, err := rig.FreeAddresses(200)
	if err != nil {
		t.Fatal(err)
	}
	addresses = append(addresses, again...)
	if runtime.GOOS == "linux" {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), addressesOfAChild+"=1")
		out, err := child.Output()
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, strings.Fields(string(out))...)
	}
	seen := map[string]bool{}
	for _, a := range addresses {
		if seen[a] {
			t.Errorf("%s is returned twice", a)
		}
		seen[a] = true
	}
	l, err := net.Listen("tcp", addresses[0])
	if err != nil {
		t.Fatalf("a listener is refused on a free address: %v", err)
	}
	l.Close()
}
