"""Reads the lease file of a Ringleader member: does this process lead?

    lease = Lease()  # the path is in $RINGLEADER_LEASE
    term = lease.wait()
    while lease.valid():
        work(term)

A call reads memory and two clocks. It needs no network, and it is right if the member is dead or stopped: the
lease ends by itself. Linux only. A Lease may be used by several threads, and after a fork.
"""

import mmap
import os
import stat
import struct
import time
import zlib
from time import CLOCK_BOOTTIME, CLOCK_MONOTONIC, clock_gettime_ns
from typing import Iterator, NamedTuple, Optional, Tuple

__all__ = ["Lease", "State"]

_SIZE = 4096
_FIRST = slice(256, 304)  # the heads of the two slots
_SECOND = slice(2176, 2224)
_MOST_VALUE = 1024
_MOST_GROUP = 200
_LEADER = 1
_CLOSED = 2
_EITHER = _LEADER | _CLOSED
_TRIES = 100
_PAUSE = 0.005  # seconds between two readings of a wait

_head = struct.Struct("<8sII16sQQH")
_slot = struct.Struct("<QIIQqqH")
_boot_id = "/proc/sys/kernel/random/boot_id"
_time = "/proc/self/ns/time"  # a link to time:[NUMBER]; none: the kernel has no namespaces of time


class State(NamedTuple):
    """What the file said at one moment."""

    valid: bool  # this process leads at the moment of the reading
    reason: str  # why it does not lead; "" if it does
    term: int  # the term in the file, as a hint; a fencing term is Lease.term()
    value: bytes  # what the leader published, as a hint
    member: int
    group: str
    remaining: float  # seconds until the lease ends; 0 if not valid


class _Slot(NamedTuple):
    flags: int
    term: int
    boottime: int  # end of the lease, nanoseconds
    monotonic: int
    value: bytes

    def leads(self, boottime: int, monotonic: int) -> bool:
        return self.flags & _EITHER == _LEADER and boottime < self.boottime and monotonic < self.monotonic


_Place = Tuple[int, int]


class _Mapping:
    """One file, mapped. Its head does not change."""

    def __init__(self, path: str) -> None:
        self.memory: Optional[mmap.mmap] = None
        self.place: Optional[_Place] = None
        self.member = 0
        self.group = ""
        # The heads of both slots in the last copy that was checked, and its newest slot.
        self.checked: Tuple[bytes, bytes, Optional[_Slot]] = (b"", b"", None)
        self.reason = self._open(path)

    def _open(self, path: str) -> str:
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return "no such file"
        except OSError:
            return "the file cannot be read"
        try:
            status = os.fstat(file)
            self.place = (status.st_dev, status.st_ino)
            if not stat.S_ISREG(status.st_mode):
                return "not a lease file"
            if status.st_size < _SIZE:
                return "the file is shorter than 4096 bytes"
            self.memory = mmap.mmap(file, _SIZE, mmap.MAP_SHARED, mmap.PROT_READ)
        except (OSError, ValueError):
            return "the file cannot be read"
        finally:
            os.close(file)
        return self._check(self.memory[:256])

    def _check(self, head: bytes) -> str:
        magic, checksum, size, boot, member, namespace, length = _head.unpack_from(head)
        if magic[:6] != b"RLEASE" or not magic[6:].isdigit():
            return "not a lease file"
        if magic[6:] != b"01":
            return "the version of the file is %s, not 01" % magic[6:].decode()
        if zlib.crc32(head[12:]) != checksum or size != _SIZE or length > _MOST_GROUP:
            return "the head of the file is damaged"
        self.member = member
        self.group = head[50 : 50 + length].decode("utf-8", "replace")
        try:
            with open(_boot_id) as file:
                ours = bytes.fromhex(file.read().strip().replace("-", ""))
        except (OSError, ValueError):
            return "the boot id of this machine cannot be read"
        if boot != ours:
            return "the file is of another boot"
        if namespace not in (0, _namespace() or namespace):
            return "the file is of another time namespace"
        return ""

    def read(self) -> Tuple[Optional[_Slot], int, int]:
        """Returns the newest slot and the two clocks at a moment when it was the newest."""
        memory = self.memory
        if memory is None or self.reason:
            return None, 0, 0
        for _ in range(_TRIES):
            first, second, slot = self.checked
            boottime = clock_gettime_ns(CLOCK_BOOTTIME)
            monotonic = clock_gettime_ns(CLOCK_MONOTONIC)
            # A slot is not written twice with one sequence. So what was checked before the clocks were read, and is
            # there after, was there when they were read.
            if memory[_FIRST] == first and memory[_SECOND] == second:
                if slot is None:
                    self.checked = (b"", b"", None)  # the values were not compared: look again next time
                return slot, boottime, monotonic
            copy = memory[:]
            self.checked = (copy[_FIRST], copy[_SECOND], _newest(copy))
        return None, 0, 0


def _newest(copy: bytes) -> Optional[_Slot]:
    newest = None
    highest = 0
    for at in (_FIRST.start, _SECOND.start):
        sequence, checksum, flags, term, boottime, monotonic, length = _slot.unpack_from(copy, at)
        if sequence <= highest:
            continue
        highest = sequence
        newest = None  # a damaged slot hides an older one
        end = at + 48 + length
        if (sequence % 2 == 1) != (at == _FIRST.start):
            continue
        if length <= _MOST_VALUE and zlib.crc32(copy[at + 12 : end], zlib.crc32(copy[at : at + 8])) == checksum:
            newest = _Slot(flags, term, boottime, monotonic, copy[at + 48 : end])
    return newest


class Lease:
    """The lease file of one member."""

    def __init__(self, path: Optional[str] = None) -> None:
        """Reads the file at a path, or at $RINGLEADER_LEASE. The file may appear later, and may be replaced.

        Raises ValueError if there is no path.
        """
        path = path or os.environ.get("RINGLEADER_LEASE")
        if not path:
            raise ValueError("no path of a lease file, and RINGLEADER_LEASE is not set")
        self.path: str = path
        self._mapping = _Mapping(path)

    def valid(self) -> bool:
        """Reports whether this process leads now. It raises no error: without a readable file, it does not lead."""
        slot, boottime, monotonic = self._mapping.read()
        if slot is not None and slot.leads(boottime, monotonic):
            return True
        return self.read().valid

    def term(self) -> Optional[int]:
        """Returns the fencing term if this process leads now, or None."""
        state = self.read()
        return state.term if state.valid else None

    def value(self) -> bytes:
        """Returns what the leader published, as this member knows it."""
        return self.read().value

    def read(self) -> State:
        """Returns all that the file says now."""
        state = self._state(self._mapping)
        if not state.valid and self._replaced():
            self._mapping = _Mapping(self.path)
            state = self._state(self._mapping)
        return state

    def wait(self, timeout: Optional[float] = None) -> int:
        """Waits until this process leads, and returns the term.

        Raises TimeoutError with the reason after so many seconds.
        """
        end = None if timeout is None else _boottime() + timeout
        while True:
            state = self.read()
            if state.valid:
                return state.term
            if end is not None and _boottime() >= end:
                raise TimeoutError("%s: %s" % (self.path, state.reason))
            time.sleep(_PAUSE)

    def changes(self) -> Iterator[State]:
        """Yields the state now, and then each time that validity, term or value has changed. It never ends.

        It looks every 5 milliseconds: it may miss a state that is shorter.
        """
        last: Optional[State] = None
        while True:
            state = self.read()
            if last is None or (state.valid, state.term, state.value) != (last.valid, last.term, last.value):
                last = state
                yield state
            else:
                time.sleep(_PAUSE)

    def _state(self, mapping: _Mapping) -> State:
        if mapping.reason:
            return State(False, mapping.reason, 0, b"", mapping.member, mapping.group, 0.0)
        slot, boottime, monotonic = mapping.read()
        if slot is None:
            return State(False, "no state in the file is whole", 0, b"", mapping.member, mapping.group, 0.0)
        if slot.leads(boottime, monotonic):
            left = min(slot.boottime - boottime, slot.monotonic - monotonic) / 1e9
            return State(True, "", slot.term, slot.value, mapping.member, mapping.group, left)
        if slot.flags & _CLOSED:
            reason = "the writer has ended"
        elif not slot.flags & _LEADER:
            reason = "not leader"
        else:
            reason = "the lease has ended"
        return State(False, reason, slot.term, slot.value, mapping.member, mapping.group, 0.0)

    def _replaced(self) -> bool:
        # A mapping keeps its file, so that no later file has the same number.
        try:
            status = os.stat(self.path)
        except OSError:
            return False
        return self._mapping.reason != "" or self._mapping.place != (status.st_dev, status.st_ino)


def _namespace() -> int:
    """Returns the number of the time namespace of this process: its clocks are those of this namespace. 0: it is not known."""
    try:
        return int(os.readlink(_time)[len("time:[") : -1])
    except (OSError, ValueError):
        return 0


def _boottime() -> float:
    return time.clock_gettime(CLOCK_BOOTTIME)
