import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeoutException;
import ringleader.lease.Lease;

/** Answers the commands of clients_test.go, a line each. */
class Driver {
    static Lease lease;
    static SynchronousQueue<Lease.State> changes;
    static Thread watcher;

    public static void main(String[] arguments) throws Exception {
        System.setOut(new PrintStream(System.out, true, "UTF-8")); // whatever the locale is
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            String[] words = line.split(" ", 2);
            System.out.println(answer(words[0], words.length > 1 ? words[1] : ""));
        }
        System.exit(0);
    }

    static String answer(String command, String argument) throws Exception {
        switch (command) {
            case "open":
                Thread.currentThread().interrupt(); // which must not keep a lease from being read
                lease = new Lease(Path.of(argument));
                check(Thread.interrupted());
                if (watcher != null) {
                    watcher.interrupt();
                }
                watcher = null;
                return "opened";
            case "read":
                Thread.currentThread().interrupt();
                Lease.State state = lease.read();
                check(Thread.interrupted());
                check(lease.valid() == state.valid && lease.term().isPresent() == state.valid);
                check(Arrays.equals(lease.value(), state.value()));
                return shown(state);
            case "work":
                long term = lease.term().orElse(0);
                Thread.sleep((long) (Double.parseDouble(argument) * 1000));
                return Long.toUnsignedString(term);
            case "wait":
                try {
                    return Long.toUnsignedString(lease.await(Duration.ofMillis((long) (Double.parseDouble(argument) * 1000))));
                } catch (TimeoutException e) {
                    return "timeout";
                }
            case "change":
                if (watcher == null) {
                    changes = new SynchronousQueue<>();
                    watcher = new Thread(Driver::watch);
                    watcher.start();
                }
                return shown(changes.take());
            case "measure":
                long count = Long.parseLong(argument);
                long start = System.nanoTime();
                for (long n = 0; n < count; n++) {
                    lease.valid();
                }
                return String.valueOf((double) (System.nanoTime() - start) / count);
            default:
                throw new IllegalArgumentException(command);
        }
    }

    static void watch() {
        SynchronousQueue<Lease.State> to = changes;
        try {
            lease.changes(state -> {
                try {
                    to.put(state);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        } catch (InterruptedException e) {
            // The next file was opened.
        }
    }

    static void check(boolean holds) {
        if (!holds) {
            throw new AssertionError();
        }
    }

    static String shown(Lease.State state) {
        StringBuilder value = new StringBuilder();
        for (byte b : state.value()) {
            value.append(String.format("%02x", b));
        }
        return String.join("|", String.valueOf(state.valid), Long.toUnsignedString(state.valid ? state.term : 0), value,
                Long.toUnsignedString(state.member), state.group, state.reason);
    }
}
