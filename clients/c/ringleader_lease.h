/*
 * ringleader_lease.h reads the lease file of a Ringleader member: does this process lead?
 *
 *     struct ringleader_lease lease;
 *     uint64_t term;
 *     if (ringleader_lease_open(&lease, NULL) != 0)   // the path is in $RINGLEADER_LEASE
 *         return 1;
 *     ringleader_lease_wait(&lease, -1, &term);
 *     while (ringleader_lease_valid(&lease))
 *         work(term);
 *     ringleader_lease_close(&lease);
 *
 * A call reads memory and two clocks. It needs no network, and it is right if the member is dead or stopped: the lease
 * ends by itself. Linux, C99 or C++, GCC or Clang. With -std=c99, define _POSIX_C_SOURCE as 200809L.
 *
 * A struct ringleader_lease belongs to one thread at a time. It may be used after a fork.
 */
#ifndef RINGLEADER_LEASE_H
#define RINGLEADER_LEASE_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef CLOCK_MONOTONIC
#error "define _POSIX_C_SOURCE as 200809L before the first #include"
#endif

#define RINGLEADER_LEASE_VALUE 1024 /* the longest value, bytes */
#define RINGLEADER_LEASE_GROUP 200  /* the longest name of a group, bytes */

/* What the file said at one moment. */
struct ringleader_state {
	int valid;          /* this process leads at the moment of the reading */
	const char *reason; /* why it does not lead; "" if it does */
	uint64_t term;      /* the term in the file, a hint; a fencing term is that of ringleader_lease_term */
	uint64_t member;
	int64_t remaining; /* nanoseconds until the lease ends; 0 if not valid */
	size_t length;     /* of the value */
	unsigned char value[RINGLEADER_LEASE_VALUE]; /* what the leader published, a hint */
	char group[RINGLEADER_LEASE_GROUP + 1];
};

/* The lease file of one member. Its fields are private. */
struct ringleader_lease {
	char *path;
	const unsigned char *memory; /* NULL: not mapped */
	dev_t device;
	ino_t inode;
	const char *reason; /* why the file cannot be used; "" if it can */
	char version[64];   /* of a file with another version, as a reason */
	uint64_t member;
	char group[RINGLEADER_LEASE_GROUP + 1];
	size_t checked;    /* bytes of copy whose checksum is right */
	unsigned char copy[48 + RINGLEADER_LEASE_VALUE];
};

enum {
	ringleader_lease_size = 4096,
	ringleader_lease_first = 256,
	ringleader_lease_second = 2176,
	ringleader_lease_leader = 1,
	ringleader_lease_closed = 2,
	ringleader_lease_tries = 100
};

static inline uint64_t ringleader_lease_number(const unsigned char *at, int bytes) {
	uint64_t n = 0;
	while (bytes-- > 0)
		n = n << 8 | at[bytes];
	return n;
}

static inline uint32_t ringleader_lease_crc(uint32_t crc, const unsigned char *at, size_t length) {
	static const uint32_t table[16] = {
		0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
		0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu, 0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
	crc = ~crc;
	while (length-- > 0) {
		crc ^= *at++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

static inline int64_t ringleader_lease_now(clockid_t clock) {
	struct timespec now;
	if (clock_gettime(clock, &now) != 0)
		return INT64_MAX; /* then no lease is valid */
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t ringleader_lease_boottime(void) {
	return ringleader_lease_now((clockid_t)7); /* CLOCK_BOOTTIME, which C99 hides */
}

/* ringleader_lease_boot reports whether these 16 bytes are the boot id of this machine. */
static inline const char *ringleader_lease_boot(const unsigned char *boot) {
	char ours[37] = "", theirs[37];
	int at = 0, i;
	ssize_t n;
	int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	n = file < 0 ? -1 : read(file, ours, 36);
	if (file >= 0)
		close(file);
	if (n != 36)
		return "the boot id of this machine cannot be read";
	for (i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			theirs[at++] = '-';
		snprintf(theirs + at, 3, "%02x", boot[i]);
		at += 2;
	}
	return memcmp(ours, theirs, 36) == 0 ? "" : "the file is of another boot";
}

/* ringleader_lease_namespace returns the number of the time namespace of this process, whose clocks it reads, or 0. */
static inline uint64_t ringleader_lease_namespace(void) {
	char link[40];
	ssize_t at, n = readlink("/proc/self/ns/time", link, sizeof link); /* time:[NUMBER] */
	uint64_t number = 0;
	for (at = 0; at < n; at++) {
		if (link[at] >= '0' && link[at] <= '9')
			number = number * 10 + (uint64_t)(link[at] - '0');
	}
	return number;
}

static inline const char *ringleader_lease_head(struct ringleader_lease *lease) {
	const unsigned char *head = lease->memory;
	size_t length = (size_t)ringleader_lease_number(head + 48, 2);
	uint64_t theirs, ours;
	const char *reason;
	if (memcmp(head, "RLEASE", 6) != 0 || head[6] < '0' || head[6] > '9' || head[7] < '0' || head[7] > '9')
		return "not a lease file";
	if (head[6] != '0' || head[7] != '1') {
		snprintf(lease->version, sizeof lease->version, "the version of the file is %c%c, not 01", head[6], head[7]);
		return lease->version;
	}
	if (ringleader_lease_crc(0, head + 12, 244) != ringleader_lease_number(head + 8, 4) ||
		ringleader_lease_number(head + 12, 4) != ringleader_lease_size || length > RINGLEADER_LEASE_GROUP)
		return "the head of the file is damaged";
	lease->member = ringleader_lease_number(head + 32, 8);
	memcpy(lease->group, head + 50, length);
	lease->group[length] = 0;
	reason = ringleader_lease_boot(head + 16);
	theirs = ringleader_lease_number(head + 40, 8);
	ours = ringleader_lease_namespace();
	if (reason[0] == 0 && theirs != 0 && ours != 0 && theirs != ours)
		reason = "the file is of another time namespace";
	return reason;
}

static inline const char *ringleader_lease_map(struct ringleader_lease *lease) {
	struct stat status;
	void *memory;
	const char *reason = "";
	int file = open(lease->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return errno == ENOENT ? "no such file" : "the file cannot be read";
	if (fstat(file, &status) != 0)
		reason = "the file cannot be read";
	else if (!S_ISREG(status.st_mode))
		reason = "not a lease file";
	else if (status.st_size < ringleader_lease_size)
		reason = "the file is shorter than 4096 bytes";
	if (reason[0] != 0) {
		close(file);
		return reason;
	}
	memory = mmap(NULL, ringleader_lease_size, PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (memory == MAP_FAILED)
		return "the file cannot be read";
	lease->memory = (const unsigned char *)memory;
	lease->device = status.st_dev;
	lease->inode = status.st_ino;
	return ringleader_lease_head(lease);
}

static inline void ringleader_lease_unmap(struct ringleader_lease *lease) {
	if (lease->memory != NULL)
		munmap((void *)(uintptr_t)lease->memory, ringleader_lease_size);
	lease->memory = NULL;
	lease->checked = 0;
	lease->member = 0;
	lease->group[0] = 0;
}

/*
 * ringleader_lease_open reads the file at a path, or at $RINGLEADER_LEASE if the path is NULL. The file may appear later,
 * and may be replaced. It returns 0, or -1 if there is no path or no memory: then the lease is never valid.
 */
static inline int ringleader_lease_open(struct ringleader_lease *lease, const char *path) {
	memset(lease, 0, sizeof *lease);
	lease->reason = "no path of a lease file";
	if (path == NULL)
		path = getenv("RINGLEADER_LEASE");
	if (path == NULL || path[0] == 0)
		return -1;
	lease->path = (char *)malloc(strlen(path) + 1);
	if (lease->path == NULL)
		return -1;
	strcpy(lease->path, path);
	lease->reason = ringleader_lease_map(lease);
	return 0;
}

/* ringleader_lease_close frees what open took. The lease is not valid from then on. */
static inline void ringleader_lease_close(struct ringleader_lease *lease) {
	ringleader_lease_unmap(lease);
	free(lease->path);
	lease->path = NULL;
	lease->reason = "the lease is closed";
}

/* ringleader_lease_copy copies a slot, and returns its sequence, or 0 if its checksum is wrong. */
static inline uint64_t ringleader_lease_copy(struct ringleader_lease *lease, int at) {
	const unsigned char *slot = lease->memory + at;
	unsigned char *copy = lease->copy;
	size_t length = (size_t)ringleader_lease_number(slot + 40, 2);
	uint32_t crc;
	if (length > RINGLEADER_LEASE_VALUE)
		return 0;
	length += 48;
	if (length != lease->checked || memcmp(copy, slot, length) != 0) {
		lease->checked = 0;
		memcpy(copy, slot, length);
		crc = ringleader_lease_crc(ringleader_lease_crc(0, copy, 8), copy + 12, length - 12);
		if (ringleader_lease_number(copy + 40, 2) + 48 != length || crc != ringleader_lease_number(copy + 8, 4))
			return 0;
		lease->checked = length;
	}
	if ((copy[0] & 1) != (at == ringleader_lease_first))
		return 0; /* odd sequences are in the first slot, even ones in the second */
	return ringleader_lease_number(copy, 8);
}

/*
 * ringleader_lease_sequence loads a sequence. A machine of 32 bits loads its halves: some have no load of 64 bits, or one that
 * writes. Halves of two numbers show that the slot is being written at this moment, so that its state is not complete.
 */
static inline uint64_t ringleader_lease_sequence(const unsigned char *at) {
#if UINTPTR_MAX > UINT32_MAX
	uint64_t sequence = __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	sequence = __builtin_bswap64(sequence);
#endif
	return sequence;
#else
	uint32_t low = __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
	uint32_t high = __atomic_load_n((const uint32_t *)(const void *)(at + 4), __ATOMIC_ACQUIRE);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	low = __builtin_bswap32(low);
	high = __builtin_bswap32(high);
#endif
	return (uint64_t)high << 32 | low;
#endif
}

static inline void ringleader_lease_sequences(const struct ringleader_lease *lease, uint64_t *first, uint64_t *second) {
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*first = ringleader_lease_sequence(lease->memory + ringleader_lease_first);
	*second = ringleader_lease_sequence(lease->memory + ringleader_lease_second);
}

/*
 * ringleader_lease_newest copies the newest slot and reads the two clocks at a moment when it was the newest. It returns
 * 0 if there is none.
 */
static inline int ringleader_lease_newest(struct ringleader_lease *lease, int64_t *boottime, int64_t *monotonic) {
	int tries;
	uint64_t first, second, taken;
	for (tries = 0; tries < ringleader_lease_tries; tries++) {
		ringleader_lease_sequences(lease, &first, &second);
		taken = ringleader_lease_copy(lease, second > first ? ringleader_lease_second : ringleader_lease_first);
		*boottime = ringleader_lease_boottime();
		*monotonic = ringleader_lease_now(CLOCK_MONOTONIC);
		/* The sequences are read after the clocks: no newer state was complete when the clocks were read. */
		ringleader_lease_sequences(lease, &first, &second);
		if (first <= taken && second <= taken)
			return taken != 0;
	}
	return 0;
}

static inline int ringleader_lease_state(struct ringleader_lease *lease, struct ringleader_state *state) {
	int64_t boottime, monotonic, end_boottime, end_monotonic;
	uint64_t flags;
	state->valid = 0;
	state->term = 0;
	state->remaining = 0;
	state->length = 0;
	state->member = lease->member;
	memcpy(state->group, lease->group, sizeof state->group);
	state->reason = lease->reason;
	if (state->reason[0] != 0)
		return 0;
	state->reason = "no state in the file is whole";
	if (!ringleader_lease_newest(lease, &boottime, &monotonic))
		return 0;
	flags = ringleader_lease_number(lease->copy + 12, 4);
	state->term = ringleader_lease_number(lease->copy + 16, 8);
	end_boottime = (int64_t)ringleader_lease_number(lease->copy + 24, 8);
	end_monotonic = (int64_t)ringleader_lease_number(lease->copy + 32, 8);
	state->length = lease->checked - 48;
	memcpy(state->value, lease->copy + 48, state->length);
	if (flags & ringleader_lease_closed) {
		state->reason = "the writer has ended";
	} else if (!(flags & ringleader_lease_leader)) {
		state->reason = "not leader";
	} else if (boottime >= end_boottime || monotonic >= end_monotonic) {
		state->reason = "the lease has ended";
	} else {
		state->reason = "";
		state->valid = 1;
		boottime = end_boottime - boottime;
		monotonic = end_monotonic - monotonic;
		state->remaining = boottime < monotonic ? boottime : monotonic;
	}
	return state->valid;
}

/* ringleader_lease_replaced reports whether the path leads to another file than the one that is mapped. */
static inline int ringleader_lease_replaced(const struct ringleader_lease *lease) {
	struct stat status; /* a mapping keeps its file, so that no later file has the same number */
	if (lease->path == NULL || stat(lease->path, &status) != 0)
		return 0;
	return lease->reason[0] != 0 || status.st_dev != lease->device || status.st_ino != lease->inode;
}

/* ringleader_lease_read stores all that the file says now, and returns whether this process leads. */
static inline int ringleader_lease_read(struct ringleader_lease *lease, struct ringleader_state *state) {
	if (ringleader_lease_state(lease, state))
		return 1;
	if (ringleader_lease_replaced(lease)) {
		ringleader_lease_unmap(lease);
		lease->reason = ringleader_lease_map(lease);
		ringleader_lease_state(lease, state);
	}
	return state->valid;
}

/* ringleader_lease_valid reports whether this process leads now. Without a readable file, it does not lead. */
static inline int ringleader_lease_valid(struct ringleader_lease *lease) {
	struct ringleader_state state;
	return ringleader_lease_read(lease, &state);
}

/* ringleader_lease_term returns the fencing term if this process leads now, or 0. */
static inline uint64_t ringleader_lease_term(struct ringleader_lease *lease) {
	struct ringleader_state state;
	return ringleader_lease_read(lease, &state) ? state.term : 0;
}

/*
 * ringleader_lease_change waits until validity, term or value differ from the state, and stores the new state there. It
 * returns 0, or -1 after so many nanoseconds; a negative number is for ever. It looks every 5 milliseconds: it may miss
 * a state that is shorter. The first state is that of ringleader_lease_read.
 */
static inline int ringleader_lease_change(struct ringleader_lease *lease, struct ringleader_state *state, int64_t timeout) {
	const struct timespec pause = {0, 5000000};
	struct ringleader_state now;
	int64_t start = ringleader_lease_boottime();
	for (;;) {
		ringleader_lease_read(lease, &now);
		if (now.valid != state->valid || now.term != state->term || now.length != state->length ||
			memcmp(now.value, state->value, now.length) != 0) {
			*state = now;
			return 0;
		}
		state->reason = now.reason;
		if (timeout >= 0 && ringleader_lease_boottime() - start >= timeout)
			return -1;
		nanosleep(&pause, NULL);
	}
}

/*
 * ringleader_lease_wait waits until this process leads, and stores the term. It returns 0, or -1 after so many
 * nanoseconds; a negative number is for ever.
 */
static inline int ringleader_lease_wait(struct ringleader_lease *lease, int64_t timeout, uint64_t *term) {
	const struct timespec pause = {0, 5000000};
	int64_t start = ringleader_lease_boottime();
	struct ringleader_state state;
	for (;;) {
		if (ringleader_lease_read(lease, &state)) {
			*term = state.term;
			return 0;
		}
		*term = 0;
		if (timeout >= 0 && ringleader_lease_boottime() - start >= timeout)
			return -1;
		nanosleep(&pause, NULL);
	}
}

#endif
