"""Answers the commands of clients_test.go, a line each."""

import sys
import time

from ringleader_lease import Lease

lease = None
changes = None


def shown(state):
    term = state.term if state.valid else 0
    return "%s|%d|%s|%d|%s|%s" % (str(state.valid).lower(), term, state.value.hex(), state.member, state.group, state.reason)


for line in sys.stdin:
    command, _, argument = line.rstrip("\n").partition(" ")
    if command == "open":
        lease = Lease(argument)
        changes = None
        print("opened", flush=True)
    elif command == "read":
        state = lease.read()
        assert lease.valid() == state.valid and (lease.term() is not None) == state.valid and lease.value() == state.value
        print(shown(state), flush=True)
    elif command == "work":
        term = lease.term() or 0
        time.sleep(float(argument))
        print(term, flush=True)
    elif command == "wait":
        try:
            print(lease.wait(float(argument)), flush=True)
        except TimeoutError:
            print("timeout", flush=True)
    elif command == "change":
        changes = changes or lease.changes()
        print(shown(next(changes)), flush=True)
    elif command == "measure":
        valid = lease.valid
        count = int(argument)
        start = time.perf_counter_ns()
        for _ in range(count):
            valid()
        print((time.perf_counter_ns() - start) / count, flush=True)
