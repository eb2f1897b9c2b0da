"""python -m ringleader_lease [PATH]: prints whether this member leads. Exit status 0 if it does, 1 if not, 64 without a path."""

import sys

from . import Lease

try:
    state = Lease(sys.argv[1] if len(sys.argv) > 1 else None).read()
except ValueError as error:
    print(error, file=sys.stderr)
    sys.exit(64)
print("leader, term %d, %.3f s left" % (state.term, state.remaining) if state.valid else state.reason)
sys.exit(0 if state.valid else 1)
