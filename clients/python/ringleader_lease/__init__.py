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
from typing import Iterator, NamedTuple, Optional, Tuple

__all__ = ["Lease", "State"]

_SIZE = 4096
_SLOTS = (256, 2176)
_SLOT_SIZE = 1920
_MOST_VALUE = 1024
_MOST_GROUP = 200
_LEADER = 1
_CLOSED = 2
_TRIES = 100
_PAUSE = 0.005  # seconds between two readings of a wait

_head = struct.Struct("<8sII16sQQH")
_slot = struct.Struct("<QIIQqqH")
_sequence = struct.Struct("<Q")
_boot_id = "/proc/sys/kernel/random/boot_id"


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
    sequence: int
    flags: int
    term: int
    boottime: int  # end of the lease, nanoseconds
    monotonic: int
    value: bytes


_Place = Tuple[int, int]


class _Mapping:
    """One file, mapped. Its head does not change."""

    def __init__(self, path: str) -> None:
        self.memory: Optional[mmap.mmap] = None
        self.place: Optional[_Place] = None
        self.member = 0
        self.group = ""
        # The last copy and its slot. A copy that is equal needs no second check.
        self.checked: Tuple[bytes, Optional[_Slot]] = (b"", None)
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
        magic, checksum, size, boot, member, _, length = _head.unpack_from(head)
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
        return ""

    def read(self) -> Tuple[Optional[_Slot], int, int]:
        """Returns the newest slot and the two clocks at a moment when it was the newest."""
        memory = self.memory
        assert memory is not None
        for _ in range(_TRIES):
            copy = memory[:]
            checked, slot = self.checked
            if copy != checked:
                slot = _newest(copy)
                self.checked = (copy, slot)
            boottime = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            monotonic = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            # The sequences are read after the clocks: no newer state was complete when the clocks were read.
            (first,) = _sequence.unpack_from(memory, _SLOTS[0])
            (second,) = _sequence.unpack_from(memory, _SLOTS[1])
            taken = slot.sequence if slot else 0
            if first <= taken and second <= taken:
                return slot, boottime, monotonic
        return None, 0, 0


def _newest(copy: bytes) -> Optional[_Slot]:
    newest = None
    for at in _SLOTS:
        sequence, checksum, flags, term, boottime, monotonic, length = _slot.unpack_from(copy, at)
        if sequence == 0 or length > _MOST_VALUE or (newest and newest.sequence > sequence):
            continue
        end = at + 48 + length
        if zlib.crc32(copy[at + 12 : end], zlib.crc32(copy[at : at + 8])) == checksum:
            newest = _Slot(sequence, flags, term, boottime, monotonic, copy[at + 48 : end])
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
        _, flags, term, end_boottime, end_monotonic, value = slot
        left = min(end_boottime - boottime, end_monotonic - monotonic)
        if flags & _CLOSED:
            reason = "the writer has ended"
        elif not flags & _LEADER:
            reason = "not leader"
        elif left <= 0:
            reason = "the lease has ended"
        else:
            return State(True, "", term, value, mapping.member, mapping.group, left / 1e9)
        return State(False, reason, term, value, mapping.member, mapping.group, 0.0)

    def _replaced(self) -> bool:
        # A mapping keeps its file, so that no later file has the same number.
        try:
            status = os.stat(self.path)
        except OSError:
            return False
        return self._mapping.reason != "" or self._mapping.place != (status.st_dev, status.st_ino)


def _boottime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)
