package ringleader.lease;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * The lease file of a Ringleader member: does this process lead?
 *
 * <pre>{@code
 * Lease lease = new Lease(); // the path is in $RINGLEADER_LEASE
 * long term = lease.await();
 * while (lease.valid()) {
 *     work(term);
 * }
 * }</pre>
 *
 * <p>A call reads memory and two clocks. It needs no network, and it is right if the member is dead or stopped: the lease
 * ends by itself. Linux only. A Lease may be used by several threads.
 */
public final class Lease {
    private static final int SIZE = 4096;
    private static final int[] SLOTS = {256, 2176};
    private static final int MOST_VALUE = 1024;
    private static final int MOST_GROUP = 200;
    private static final int LEADER = 1;
    private static final int CLOSED = 2;
    private static final int TRIES = 100;
    private static final long PAUSE = 5; // milliseconds between two readings of a wait
    private static final long HUNDREDTH = 10_000_000; // nanoseconds

    private final Path path;
    private Mapping mapping;

    /** Reads the file at $RINGLEADER_LEASE. Throws IllegalArgumentException if that is not set. */
    public Lease() {
        this(fromEnvironment());
    }

    /** Reads the file at a path. The file may appear later, and may be replaced. */
    public Lease(Path path) {
        this.path = path;
        this.mapping = new Mapping(path);
    }

    private static Path fromEnvironment() {
        String path = System.getenv("RINGLEADER_LEASE");
        if (path == null || path.isEmpty()) {
            throw new IllegalArgumentException("no path of a lease file, and RINGLEADER_LEASE is not set");
        }
        return Path.of(path);
    }

    /** Reports whether this process leads now. It throws nothing: without a readable file, it does not lead. */
    public boolean valid() {
        return read().valid;
    }

    /** Returns the fencing term if this process leads now. Terms are unsigned. */
    public OptionalLong term() {
        State state = read();
        return state.valid ? OptionalLong.of(state.term) : OptionalLong.empty();
    }

    /** Returns what the leader published, as this member knows it. */
    public byte[] value() {
        return read().value();
    }

    /** Returns all that the file says now. */
    public synchronized State read() {
        State state = mapping.state();
        if (!state.valid && mapping.replaced(path)) {
            mapping = new Mapping(path);
            state = mapping.state();
        }
        return state;
    }

    /** Waits until this process leads, and returns the term. */
    public long await() throws InterruptedException {
        for (;;) {
            State state = read();
            if (state.valid) {
                return state.term;
            }
            Thread.sleep(PAUSE);
        }
    }

    /** Waits as {@link #await()} does, and throws TimeoutException with the reason after a time. */
    public long await(Duration timeout) throws InterruptedException, TimeoutException {
        long start = System.nanoTime();
        for (;;) {
            State state = read();
            if (state.valid) {
                return state.term;
            }
            // Not timeout.toNanos(), which throws for more than 292 years, such as those of ChronoUnit.FOREVER.
            if (timeout.compareTo(Duration.ofNanos(System.nanoTime() - start)) <= 0) {
                throw new TimeoutException(path + ": " + state.reason);
            }
            Thread.sleep(PAUSE);
        }
    }

    /**
     * Passes on the state now, and then each time that validity, term or value has changed, until the thread is
     * interrupted. It looks every 5 milliseconds: it may miss a state that is shorter.
     */
    public void changes(Consumer<? super State> consumer) throws InterruptedException {
        State last = null;
        for (;;) {
            State state = read();
            if (last == null || !state.like(last)) {
                last = state;
                consumer.accept(state);
            }
            Thread.sleep(PAUSE);
        }
    }

    /** What the file said at one moment. */
    public static final class State {
        /** This process leads at the moment of the reading. */
        public final boolean valid;
        /** Why it does not lead; "" if it does. */
        public final String reason;
        /** The term in the file, unsigned, as a hint; a fencing term is {@link Lease#term()}. */
        public final long term;
        /** The identifier of the member, unsigned. */
        public final long member;
        /** The name of the group. */
        public final String group;
        /** Until the lease ends; zero if not valid. */
        public final Duration remaining;

        private final byte[] value;

        private State(Mapping mapping, String reason, Slot slot, long remaining) {
            this.valid = reason.isEmpty();
            this.reason = reason;
            this.term = slot.term;
            this.value = slot.value;
            this.member = mapping.member;
            this.group = mapping.group;
            this.remaining = Duration.ofNanos(remaining);
        }

        /** Returns what the leader published, as a hint. */
        public byte[] value() {
            return value.clone();
        }

        private boolean like(State other) {
            return valid == other.valid && term == other.term && Arrays.equals(value, other.value);
        }
    }

    /** One state in the file, decoded. */
    private static final class Slot {
        static final Slot NONE = new Slot(0, 0, 0, 0, new byte[0]);

        final int flags;
        final long term;
        final long boottime;
        final long monotonic;
        final byte[] value;

        Slot(int flags, long term, long boottime, long monotonic, byte[] value) {
            this.flags = flags;
            this.term = term;
            this.boottime = boottime;
            this.monotonic = monotonic;
            this.value = value;
        }
    }

    /** One file, mapped. Its head does not change. */
    private static final class Mapping {
        final byte[] copy = new byte[SIZE];
        final ByteBuffer copied = ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN);
        // The last copy that was checked, and its newest slot.
        final byte[] checked = new byte[SIZE];
        ByteBuffer memory;
        Object key;
        String reason;
        Slot slot = Slot.NONE;
        long member;
        String group = "";
        long boottime;
        long monotonic;

        Mapping(Path path) {
            boolean interrupted = Thread.interrupted(); // a channel closes when an interrupted thread uses it
            try {
                reason = open(path);
            } catch (NoSuchFileException e) {
                reason = "no such file";
            } catch (IOException | UnsupportedOperationException e) {
                reason = "the file cannot be read";
            } finally {
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        private String open(Path path) throws IOException {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            key = attributes.fileKey();
            if (!attributes.isRegularFile()) {
                return "not a lease file";
            }
            try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
                copied.clear();
                while (copied.hasRemaining()) {
                    if (file.read(copied) < 0) {
                        return "the file is shorter than 4096 bytes";
                    }
                }
                String problem = head();
                if (problem.isEmpty()) { // a mapping lasts until the collector finds it, and each reading opens a file again that is of no use
                    memory = file.map(FileChannel.MapMode.READ_ONLY, 0, SIZE).order(ByteOrder.LITTLE_ENDIAN);
                }
                if (!Objects.equals(key, key(path))) {
                    key = null; // it was replaced meanwhile; the next reading that is not valid opens it again
                }
                return problem;
            }
        }

        private String head() {
            String magic = new String(copy, 0, 8, StandardCharsets.ISO_8859_1);
            if (!magic.matches("RLEASE[0-9]{2}")) {
                return "not a lease file";
            }
            if (!magic.equals("RLEASE01")) {
                return "the version of the file is " + magic.substring(6) + ", not 01";
            }
            int length = Short.toUnsignedInt(copied.getShort(48));
            if (~crc(~0, copy, 12, 256) != copied.getInt(8) || copied.getInt(12) != SIZE || length > MOST_GROUP) {
                return "the head of the file is damaged";
            }
            member = copied.getLong(32);
            group = new String(copy, 50, length, StandardCharsets.UTF_8);
            StringBuilder boot = new StringBuilder();
            for (int at = 16; at < 32; at++) {
                boot.append(String.format("%02x", copy[at]));
            }
            try {
                String ours = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim().replace("-", "");
                if (!ours.contentEquals(boot)) {
                    return "the file is of another boot";
                }
            } catch (IOException e) {
                return "the boot id of this machine cannot be read";
            }
            long namespace = copied.getLong(40);
            if (namespace != 0 && !List.of(0L, namespace).contains(Clock.namespace())) {
                return "the file is of another time namespace";
            }
            return Clock.open();
        }

        private void fill() {
            memory.duplicate().get(copy);
        }

        private static Object key(Path path) throws IOException {
            return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        }

        /** Reports whether the path leads to another file than the one that is mapped. */
        boolean replaced(Path path) {
            try {
                // A mapping keeps its file, so that no later file has the same key.
                return !key(path).equals(key) || !reason.isEmpty();
            } catch (IOException e) {
                return false;
            }
        }

        State state() {
            if (!reason.isEmpty()) {
                return new State(this, reason, Slot.NONE, 0);
            }
            if (!newest()) {
                return new State(this, "no state in the file is whole", Slot.NONE, 0);
            }
            if ((slot.flags & CLOSED) != 0) {
                return new State(this, "the writer has ended", slot, 0);
            } else if ((slot.flags & LEADER) == 0) {
                return new State(this, "not leader", slot, 0);
            } else if (boottime >= slot.boottime || monotonic >= slot.monotonic) {
                return new State(this, "the lease has ended", slot, 0);
            }
            return new State(this, "", slot, Math.min(slot.boottime - boottime, slot.monotonic - monotonic));
        }

        /** Finds the newest slot, and reads the two clocks at a moment when it was the newest. */
        private boolean newest() {
            for (int attempt = 0; attempt < TRIES; attempt++) {
                VarHandle.fullFence();
                monotonic = System.nanoTime();
                boottime = Clock.boottime();
                VarHandle.fullFence();
                fill();
                // What was checked before the clocks were read, and is there after, was there when they were read.
                if (Arrays.equals(copy, checked)) {
                    return slot != Slot.NONE;
                }
                slot = decoded();
                System.arraycopy(copy, 0, checked, 0, SIZE);
            }
            return false;
        }

        private Slot decoded() {
            Slot newest = Slot.NONE;
            long highest = 0;
            for (int at : SLOTS) {
                long sequence = copied.getLong(at);
                int length = Short.toUnsignedInt(copied.getShort(at + 40));
                if (Long.compareUnsigned(sequence, highest) <= 0) {
                    continue;
                }
                highest = sequence;
                newest = Slot.NONE; // a damaged slot hides an older one
                if (length > MOST_VALUE || (sequence & 1) == 1 != (at == SLOTS[0])) {
                    continue;
                }
                if (~crc(crc(~0, copy, at, at + 8), copy, at + 12, at + 48 + length) == copied.getInt(at + 8)) {
                    newest = new Slot(copied.getInt(at + 12), copied.getLong(at + 16), copied.getLong(at + 24),
                            copied.getLong(at + 32), Arrays.copyOfRange(copy, at + 48, at + 48 + length));
                }
            }
            return newest;
        }
    }

    // Not java.util.zip.CRC32, whose first use opens a file: a process without a free descriptor would fail with an error.
    private static final int[] TABLE = new int[256];

    static {
        for (int n = 0; n < TABLE.length; n++) {
            TABLE[n] = n;
            for (int bit = 0; bit < 8; bit++) {
                TABLE[n] = (TABLE[n] & 1) != 0 ? 0xedb88320 ^ (TABLE[n] >>> 1) : TABLE[n] >>> 1;
            }
        }
    }

    /** Continues an inverted CRC-32 with the bytes of a range. */
    private static int crc(int crc, byte[] bytes, int from, int to) {
        for (int at = from; at < to; at++) {
            crc = TABLE[(crc ^ bytes[at]) & 255] ^ (crc >>> 8);
        }
        return crc;
    }

    /**
     * CLOCK_BOOTTIME, which Java does not have. /proc/uptime is that clock, unless a container system has put another
     * file there.
     */
    private static final class Clock {
        private static final byte[] TEXT = new byte[64];
        // Not a channel: an interrupt of a thread that reads one closes it.
        private static RandomAccessFile uptime; // null: it was not opened

        /** Opens the clock, and returns why it is of no use, or "". */
        static synchronized String open() {
            try {
                for (String line : Files.readAllLines(Path.of("/proc/self/mountinfo"), StandardCharsets.ISO_8859_1)) {
                    if (line.split(" ")[4].equals("/proc/uptime")) {
                        return "/proc/uptime is not the clock of the machine";
                    }
                }
                if (uptime == null) {
                    uptime = new RandomAccessFile("/proc/uptime", "r");
                }
                return "";
            } catch (IOException e) {
                return "/proc/uptime cannot be read";
            }
        }

        /** Returns the number of the time namespace of this process, whose clocks it reads; 0: it is not known. */
        static long namespace() {
            try {
                String link = Files.readSymbolicLink(Path.of("/proc/self/ns/time")).toString(); // time:[NUMBER]
                return Long.parseLong(link.replaceAll("[^0-9]", ""));
            } catch (IOException | NumberFormatException e) {
                return 0; // the kernel has no such namespaces
            }
        }

        /** Returns the end of the hundredth of a second in which the clock is, in nanoseconds: never less than the clock. */
        static synchronized long boottime() {
            try {
                uptime.seek(0);
                int length = uptime.read(TEXT);
                long hundredths = 0;
                for (int at = 0; at < length && TEXT[at] != ' '; at++) {
                    if (TEXT[at] != '.') {
                        hundredths = hundredths * 10 + TEXT[at] - '0';
                    }
                }
                return length > 0 ? (hundredths + 1) * HUNDREDTH : Long.MAX_VALUE;
            } catch (IOException e) {
                return Long.MAX_VALUE; // then no lease is valid
            }
        }
    }
}
