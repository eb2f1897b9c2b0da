package agent

import (
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"ringleader.example/ringleader"
)

func TestWATCHDOG1TellsProgressAndFilesThatComeWithItAreClosed(t *testing.T) {
	told := make(chan struct{}, 10)
	s, err := listenForSigns(nil, func(line string) {
		if line == signProgress {
			told <- struct{}{}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	to := &net.UnixAddr{Name: s.address, Net: "unixgram"}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.address + "-sender", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, notice := range []string{"READY=1", "WATCHDOG=11\nSTATUS=WATCHDOG=1"} {
		if _, err := conn.WriteToUnix([]byte(notice), to); err != nil {
			t.Fatal(err)
		}
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	// As systemd-notify does, which waits until its file is closed.
	if _, _, err := conn.WriteMsgUnix([]byte("STATUS=works\nWATCHDOG=1\n"), syscall.UnixRights(int(writer.Fd())), to); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if _, err := io.ReadAll(reader); err != nil {
		t.Error(err)
	}
	<-told
	select {
	case <-told:
		t.Error("another notice counts as progress")
	default:
	}
}

func TestANoticeOfAnotherUserIsNoProgress(t *testing.T) {
	if _, known := senderOf(nil); known {
		t.Error("a message without credentials has a sender")
	}
	with := syscall.UnixCredentials(&syscall.Ucred{Pid: 1, Uid: 12345, Gid: 1})
	if user, known := senderOf(with); !known || user != 12345 {
		t.Errorf("the sender is %d, %v", user, known)
	}
}

func TestACommandThatMayHangGetsOnlyTheGraceOfALeaseThatRunsOut(t *testing.T) {
	for cause, frozen := range map[error]bool{ringleader.ErrStalled: true, io.EOF: false} {
		a := &Agent{config: Config{StopTimeout: mostBackoff}}
		d := a.deadlines()
		d.extend(now() + mostBackoff)
		d.stop(cause)
		if d.frozen != frozen || (d.most == d.timing.Grace) != frozen {
			t.Errorf("%v: %+v", cause, d)
		}
	}
}
