/* Answers the commands of clients_test.go, a line each. */
#define _POSIX_C_SOURCE 200809L
#include <assert.h>
#include <inttypes.h>

#include "ringleader_lease.h"

static void show(const struct ringleader_state *state) {
	size_t i;
	printf("%s|%" PRIu64 "|", state->valid ? "true" : "false", state->valid ? state->term : 0);
	for (i = 0; i < state->length; i++)
		printf("%02x", state->value[i]);
	printf("|%" PRIu64 "|%s|%s\n", state->member, state->group, state->reason);
}

int main(void) {
	static char line[8192];
	struct ringleader_lease lease;
	struct ringleader_state state;
	int watching = 0;
	assert(ringleader_lease_open(&lease, "") == -1 && !ringleader_lease_valid(&lease));
	ringleader_lease_close(&lease);
	assert(!ringleader_lease_valid(&lease));
	while (fgets(line, sizeof line, stdin) != NULL) {
		char *argument = strchr(line, ' ');
		line[strcspn(line, "\n")] = 0;
		if (strncmp(line, "open ", 5) == 0) {
			if (lease.path != NULL)
				ringleader_lease_close(&lease);
			assert(ringleader_lease_open(&lease, argument + 1) == 0);
			watching = 0;
			puts("opened");
		} else if (strcmp(line, "read") == 0) {
			int valid = ringleader_lease_read(&lease, &state);
			assert(valid == state.valid && ringleader_lease_valid(&lease) == valid);
			assert(ringleader_lease_term(&lease) == (valid ? state.term : 0));
			show(&state);
		} else if (strncmp(line, "work ", 5) == 0) {
			uint64_t term = ringleader_lease_term(&lease);
			struct timespec pause = {0, (long)(atof(argument) * 1e9)};
			nanosleep(&pause, NULL);
			printf("%" PRIu64 "\n", term);
		} else if (strncmp(line, "wait ", 5) == 0) {
			uint64_t term;
			double seconds = atof(argument);
			if (ringleader_lease_wait(&lease, seconds < 9e9 ? (int64_t)(seconds * 1e9) : INT64_MAX, &term) == 0)
				printf("%" PRIu64 "\n", term);
			else
				puts("timeout");
		} else if (strcmp(line, "change") == 0) {
			if (watching)
				ringleader_lease_change(&lease, &state, -1);
			else
				ringleader_lease_read(&lease, &state);
			watching = 1;
			show(&state);
		} else if (strncmp(line, "measure ", 8) == 0) {
			long i, count = atol(argument);
			int64_t start = ringleader_lease_now(CLOCK_MONOTONIC);
			for (i = 0; i < count; i++)
				ringleader_lease_valid(&lease);
			printf("%f\n", (double)(ringleader_lease_now(CLOCK_MONOTONIC) - start) / (double)count);
		}
		fflush(stdout);
	}
	return 0;
}
