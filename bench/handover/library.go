//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/statushttp"
)

// lead is a server with a member in the same process: lead ID DATA SERVICE HTTP MEMBER... It listens at SERVICE while it leads, and serves the status of
// the member at HTTP. The members are addresses, of 1 and so on.
func lead(arguments []string) error {
	if err := ringleader.Warden(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	id, err := strconv.ParseUint(arguments[0], 10, 64)
	if err != nil {
		return err
	}
	config := ringleader.Config{
		Group: "jobs", ID: id, Data: arguments[1], Timing: ringleader.LAN(), Logger: slog.Default(), AwaitReady: true,
		Prepare: func(context.Context) error { return nil }, // else it counts as ready before it can vote again
	}
	service, status := arguments[2], arguments[3]
	for i, address := range arguments[4:] {
		config.Members = append(config.Members, ringleader.MemberAddress{ID: uint64(i + 1), Address: address})
	}
	m, err := ringleader.Join(ctx, config)
	if err != nil {
		return err
	}
	server := statushttp.Server(statushttp.Handler(m))
	server.Addr = status
	go func() {
		if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
			panic(fmt.Sprintf("the status is not served: %v", err))
		}
	}()
	err = m.Lead(ctx, func(ctx context.Context, l ringleader.Leadership) error {
		return accept(ctx, service, l.Valid, func() { l.SetReady(true) })
	})
	if ctx.Err() != nil {
		err = nil // it was told to end
	}
	return errors.Join(err, m.Close(), server.Close())
}
