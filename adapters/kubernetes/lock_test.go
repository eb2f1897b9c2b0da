package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"ringleader.example/ringleader"
	"ringleader.example/ringleader/adapters/kubernetes"
	"ringleader.example/ringleader/ringleadertest"
	"ringleader.example/ringleader/storage"
	"ringleader.example/ringleader/transport/transporttest"
)

// locks runs a test with the locks of three members of which the third leads.
func locks(t *testing.T, test func(t *testing.T, c *ringleadertest.Cluster, locks map[uint64]*kubernetes.Lock)) {
	synctest.Test(t, func(t *testing.T) {
		c := ringleadertest.New(t, ringleader.Config{}, 1, 2, 3)
		defer c.Close()
		c.Start(1, 2, 3)
		c.Await(3)
		locks := map[uint64]*kubernetes.Lock{}
		for _, id := range []uint64{1, 2, 3} {
			lock, err := kubernetes.New(c.Member(id))
			if err != nil {
				t.Fatal(err)
			}
			locks[id] = lock
		}
		test(t, c, locks)
	})
}

// refused reports an acquisition that did not fail with ErrNotHeld and the parts of its text.
func refused(t *testing.T, lock *kubernetes.Lock, holder, part string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	record := resourcelock.LeaderElectionRecord{HolderIdentity: holder}
	for name, try := range map[string]func(context.Context, resourcelock.LeaderElectionRecord) error{"Create": lock.Create, "Update": lock.Update} {
		if err := try(ctx, record); !errors.Is(err, kubernetes.ErrNotHeld) || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v; want ErrNotHeld with %q", name, err, part)
		}
	}
}

func TestOutsideRunNobodyGetsTheLock(t *testing.T) {
	locks(t, func(t *testing.T, c *ringleadertest.Cluster, locks map[uint64]*kubernetes.Lock) {
		refused(t, locks[3], "member-3", "within Lock.Run")
		for id, lock := range locks {
			record, _, err := lock.Get(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]string{false: "member-3"}[id == 3]; record.HolderIdentity != want {
				t.Errorf("member %d says that %q holds the lock; want %q", id, record.HolderIdentity, want)
			}
		}
	})
}

func TestTheLockIsHeldWithAMajorityAndItsOwnNameOnly(t *testing.T) {
	locks(t, func(t *testing.T, c *ringleadertest.Cluster, locks map[uint64]*kubernetes.Lock) {
		err := locks[1].Run(t.Context(), func(context.Context) error {
			synctest.Wait()
			refused(t, locks[1], "member-1", "member 3 leads")
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		err = locks[3].Run(t.Context(), func(context.Context) error {
			synctest.Wait()
			refused(t, locks[3], "member-1", "for member-1")
			c.Cut([]uint64{1, 2}, []uint64{3})
			refused(t, locks[3], "member-3", "no majority has confirmed")
			c.Heal()
			if err := locks[3].Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "member-3"}); err != nil {
				t.Error(err)
			}
			if err := locks[3].Run(t.Context(), nil); !errors.Is(err, ringleader.ErrConfig) {
				t.Errorf("a second Run: %v; want ErrConfig", err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		c.Until("another one leads", func() bool { return c.Member(3).View().Role == ringleader.Follower })
	})
}

func TestTheLeadIsKeptUntilTheManagerHasEnded(t *testing.T) {
	locks(t, func(t *testing.T, c *ringleadertest.Cluster, locks map[uint64]*kubernetes.Lock) {
		held := resourcelock.LeaderElectionRecord{HolderIdentity: "member-3"}
		err := locks[3].Run(t.Context(), func(ctx context.Context) error {
			synctest.Wait()
			if err := locks[3].Update(ctx, held); err != nil {
				return err
			}
			resigned := make(chan error, 1)
			go func() { resigned <- c.Member(3).Resign(t.Context()) }()
			<-ctx.Done()
			c.Pass(20 * time.Second)
			if err := locks[3].Update(t.Context(), held); err != nil {
				t.Errorf("while the manager stops: %v", err)
			}
			// What client-go does with ReleaseOnCancel.
			if _, _, err := locks[3].Get(t.Context()); err != nil {
				t.Error(err)
			}
			if err := locks[3].Update(t.Context(), resourcelock.LeaderElectionRecord{}); err != nil {
				t.Error(err)
			}
			c.Pass(20 * time.Second)
			if len(resigned) > 0 {
				t.Error("the lead was handed over, and the manager had not ended")
			}
			return nil
		})
		if !errors.Is(err, kubernetes.ErrLost) {
			t.Errorf("%v; want ErrLost", err)
		}
		c.Await(2)
	})
}

// What calls Run may recover from the panic, and the process then goes on.
func TestAStartThatPanicsKeepsNoLead(t *testing.T) {
	for name, holds := range map[string]bool{"with the lock": true, "without the lock": false} {
		t.Run(name, func(t *testing.T) {
			locks(t, func(t *testing.T, c *ringleadertest.Cluster, locks map[uint64]*kubernetes.Lock) {
				var left error
				locks[3].Left = func(err error) { left = err }
				var within context.Context
				func() {
					defer func() {
						if value := recover(); value != "spilt" {
							t.Errorf("the panic is %v", value)
						}
					}()
					_ = locks[3].Run(t.Context(), func(ctx context.Context) error {
						within = ctx
						synctest.Wait()
						if holds {
							if err := locks[3].Update(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: "member-3"}); err != nil {
								t.Error(err)
							}
						}
						panic("spilt")
					})
				}()
				if said := fmt.Sprint(left); holds != strings.Contains(said, "spilt") || holds != strings.Contains(said, "lock_test.go") || within.Err() == nil {
					t.Errorf("Left got %v, and the context of start is done: %v", left, within.Err())
				}
				refused(t, locks[3], "member-3", "within Lock.Run")
				c.Until("another one leads", func() bool { return c.Member(3).View().Role == ringleader.Follower })
				if err := locks[3].Run(t.Context(), func(context.Context) error { return nil }); err != nil {
					t.Errorf("a Run after that: %v", err)
				}
			})
		})
	}
}

// An elector that gives up lets a manager return nil while its work runs.
func TestAnElectorThatGaveUpIsNotBelieved(t *testing.T) {
	locks(t, func(t *testing.T, c *ringleadertest.Cluster, locks map[uint64]*kubernetes.Lock) {
		var left error
		locks[3].Left = func(err error) { left = err }
		err := locks[3].Run(t.Context(), func(ctx context.Context) error {
			synctest.Wait()
			elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
				Lock: locks[3], LeaseDuration: 200 * time.Millisecond, RenewDeadline: 100 * time.Millisecond, RetryPeriod: 10 * time.Millisecond,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(context.Context) { c.Cut([]uint64{1, 2}, []uint64{3}) },
					OnStoppedLeading: func() {},
				},
			})
			if err != nil {
				return err
			}
			elector.Run(ctx)
			return nil
		})
		if left == nil || !errors.Is(err, left) {
			t.Errorf("Run returned %v, and Left got %v", err, left)
		}
	})
}

func TestGetWaitsForNews(t *testing.T) {
	locks(t, func(t *testing.T, c *ringleadertest.Cluster, locks map[uint64]*kubernetes.Lock) {
		err := locks[2].Run(t.Context(), func(context.Context) error {
			first, _, err := locks[2].Get(t.Context())
			if err != nil || first.HolderIdentity != "member-3" || first.LeaderTransitions == 0 {
				t.Errorf("%+v, %v; want member-3", first, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, _, err := locks[2].Get(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("without news: %v; want the end of the context", err)
			}
			c.Kill(3)
			got, _, err := locks[2].Get(t.Context())
			if err != nil || got.HolderIdentity != "member-2" || got.LeaderTransitions <= first.LeaderTransitions {
				t.Errorf("%+v, %v; want member-2 in a later term", got, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// The elector of client-go, with the defaults of Kubernetes.
func TestTheElectorOfClientGo(t *testing.T) {
	locks(t, func(t *testing.T, c *ringleadertest.Cluster, locks map[uint64]*kubernetes.Lock) {
		ctx, stop := context.WithCancel(t.Context())
		electors, ended := map[uint64]*leaderelection.LeaderElector{}, make(chan error, 3)
		working := map[uint64]chan bool{}
		for id, lock := range locks {
			began := make(chan bool, 1)
			working[id] = began
			done := make(chan struct{})
			elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
				Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second, ReleaseOnCancel: true,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(ctx context.Context) {
						began <- true
						<-ctx.Done()
						close(done)
					},
					OnStoppedLeading: func() {},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			electors[id] = elector
			go func() {
				ended <- lock.Run(ctx, func(ctx context.Context) error {
					elector.Run(ctx)
					if len(began) > 0 {
						<-done
					}
					return nil
				})
			}()
		}
		c.Pass(time.Minute) // renewals
		for id, elector := range electors {
			if elector.GetLeader() != "member-3" || elector.IsLeader() != (id == 3) || len(working[id]) > 0 != (id == 3) {
				t.Errorf("the elector of %d says that %q leads", id, elector.GetLeader())
			}
		}
		c.Cut([]uint64{1, 2}, []uint64{3})
		if err := <-ended; !errors.Is(err, kubernetes.ErrLost) {
			t.Errorf("it ended with %v; want ErrLost", err)
		}
		if len(working[2]) > 0 {
			t.Error("two lead")
		}
		c.Until("2 works", func() bool { return len(working[2]) > 0 })
		stop()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

const childVariable = "RINGLEADER_KUBERNETES_CHILD"

// alone returns a member of a group of one.
func alone(t *testing.T, config ringleader.Config) *ringleader.Member {
	t.Helper()
	disk, err := storage.Memory().Open()
	if err != nil {
		t.Fatal(err)
	}
	config.ID, config.Members, config.Storage, config.Transport = 1, []ringleader.MemberAddress{{ID: 1, Address: "member1:1"}}, disk, transporttest.NewExchange().Open
	config.Timing = ringleader.Test()
	member, err := ringleader.Join(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	return member
}

func child() bool { return os.Getenv(childVariable) != "" }

// endsWith70 runs the test again in a process of its own, which has to end so that no two leaders work, with a text.
func endsWith70(t *testing.T, text string) {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=60s")
	command.Env = append(os.Environ(), childVariable+"=1")
	output, _ := command.CombinedOutput()
	if code := command.ProcessState.ExitCode(); code != 70 || !strings.Contains(string(output), text) {
		t.Errorf("the process ended with status %d; want 70, and %q\n%s", code, text, output)
	}
}

func TestARunThatFailsEndsTheProcess(t *testing.T) {
	if !child() {
		endsWith70(t, "work was left behind")
		return
	}
	member := alone(t, ringleader.Config{})
	lock, err := kubernetes.New(member)
	if err != nil {
		t.Fatal(err)
	}
	t.Fatalf("Run has returned: %v", lock.Run(t.Context(), func(ctx context.Context) error {
		if _, _, err := lock.Get(ctx); err != nil {
			t.Fatal(err)
		}
		if err := lock.Update(ctx, resourcelock.LeaderElectionRecord{HolderIdentity: lock.Identity()}); err != nil {
			t.Fatal(err)
		}
		return errors.New("work was left behind")
	}))
}

func TestALockNeedsLeases(t *testing.T) {
	member := alone(t, ringleader.Config{Algorithm: ringleader.Bully, NoQuorum: true})
	defer member.Close()
	if _, err := kubernetes.New(member); !errors.Is(err, ringleader.ErrConfig) {
		t.Errorf("%v; want ErrConfig", err)
	}
}
