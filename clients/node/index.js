'use strict';

// Reads the lease file of a Ringleader member. index.d.ts documents what is exported.
//
// Node cannot map a file. It reads the file through an open descriptor at each call: Linux keeps one copy of a page for
// reads and mappings, so that a read sees what the writer has stored.

const fs = require('node:fs');

const SIZE = 4096;
const SLOTS = [256, 2176];
const MOST_VALUE = 1024;
const MOST_GROUP = 200;
const LEADER = 1;
const CLOSED = 2;
const TRIES = 100;
const PAUSE = 5; // milliseconds between two readings of a wait
const CENTISECOND = 10_000_000n; // nanoseconds
const EMPTY = Buffer.alloc(0);

const table = new Uint32Array(256).map((_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});

/** The CRC-32 of parts of a buffer, one after the other. */
function checksum(buffer, ...parts) {
  let crc = 0xffffffff;
  for (const [from, to] of parts) {
    for (let at = from; at < to; at++) crc = table[(crc ^ buffer[at]) & 255] ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

const uptimeText = Buffer.alloc(64);
let uptime; // the descriptor of /proc/uptime

/** Opens the clock, and returns why it is of no use, or ''. */
function openClock() {
  try {
    // Node has no CLOCK_BOOTTIME. /proc/uptime is that clock, unless a container system has put another file there.
    const mounts = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    if (mounts.some((line) => line.split(' ')[4] === '/proc/uptime')) return '/proc/uptime is not the clock of the machine';
    uptime ??= fs.openSync('/proc/uptime', 'r');
    return '';
  } catch {
    return '/proc/uptime cannot be read';
  }
}

/** Returns the end of the hundredth of a second in which CLOCK_BOOTTIME is, in nanoseconds: never less than the clock. */
function boottime() {
  const length = fs.readSync(uptime, uptimeText, 0, uptimeText.length, 0);
  let hundredths = 0;
  for (let at = 0; at < length && uptimeText[at] !== 32; at++) {
    if (uptimeText[at] !== 46) hundredths = hundredths * 10 + uptimeText[at] - 48;
  }
  return BigInt(hundredths + 1) * CENTISECOND;
}

/** Returns the number of the time namespace of this process, whose clocks it reads; 0n: it is not known. */
function namespace() {
  try {
    return BigInt(/^time:\[(\d+)\]$/.exec(fs.readlinkSync('/proc/self/ns/time'))?.[1] ?? 0);
  } catch {
    return 0n; // the kernel has no such namespaces
  }
}

/** Decodes the newest slot of a copy of the file, or returns null. */
function newest(copy) {
  let found = null;
  let highest = 0n;
  for (const at of SLOTS) {
    const sequence = copy.readBigUInt64LE(at);
    const length = copy.readUInt16LE(at + 40);
    if (sequence <= highest) continue;
    highest = sequence;
    found = null; // a damaged slot hides an older one
    const end = at + 48 + length;
    if ((sequence % 2n === 1n) !== (at === SLOTS[0])) continue;
    if (length > MOST_VALUE || checksum(copy, [at, at + 8], [at + 12, end]) !== copy.readUInt32LE(at + 8)) continue;
    found = {
      flags: copy.readUInt32LE(at + 12),
      term: copy.readBigUInt64LE(at + 16),
      boottime: copy.readBigInt64LE(at + 24),
      monotonic: copy.readBigInt64LE(at + 32),
      value: Buffer.from(copy.subarray(at + 48, end)),
    };
  }
  return found;
}

/** One open file. Its head does not change. */
class OpenFile {
  constructor(path) {
    this.descriptor = -1;
    this.status = null;
    this.member = 0n;
    this.group = '';
    this.copy = Buffer.alloc(SIZE);
    // The last copy that was checked, and its newest slot.
    this.checked = Buffer.alloc(SIZE);
    this.slot = null;
    try {
      this.reason = this.open(path);
    } catch (error) {
      this.reason = error.code === 'ENOENT' ? 'no such file' : 'the file cannot be read';
    }
  }

  open(path) {
    this.descriptor = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    this.status = fs.fstatSync(this.descriptor, { bigint: true });
    if (!this.status.isFile()) return 'not a lease file';
    if (this.fill(this.copy) < SIZE) return 'the file is shorter than 4096 bytes';
    const head = this.copy;
    const magic = head.toString('latin1', 0, 8);
    if (!/^RLEASE[0-9]{2}$/.test(magic)) return 'not a lease file';
    if (magic !== 'RLEASE01') return `the version of the file is ${magic.slice(6)}, not 01`;
    const length = head.readUInt16LE(48);
    if (checksum(head, [12, 256]) !== head.readUInt32LE(8) || head.readUInt32LE(12) !== SIZE || length > MOST_GROUP) {
      return 'the head of the file is damaged';
    }
    this.member = head.readBigUInt64LE(32);
    this.group = head.toString('utf8', 50, 50 + length);
    let boot;
    try {
      boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim().replaceAll('-', '');
    } catch {
      return 'the boot id of this machine cannot be read';
    }
    if (boot !== head.toString('hex', 16, 32)) return 'the file is of another boot';
    const [theirs, ours] = [head.readBigUInt64LE(40), namespace()];
    if (theirs && ours && theirs !== ours) return 'the file is of another time namespace';
    return openClock();
  }

  fill(buffer) {
    return fs.readSync(this.descriptor, buffer, 0, SIZE, 0);
  }

  close() {
    if (this.descriptor >= 0) fs.closeSync(this.descriptor);
    this.descriptor = -1;
  }

  /** Returns the newest slot and the two clocks at a moment when it was the newest, or null. */
  read() {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const boot = boottime();
      const monotonic = process.hrtime.bigint();
      if (this.fill(this.copy) < SIZE) return null;
      // What was checked before the clocks were read, and is there after, was there when they were read.
      if (this.copy.equals(this.checked)) return this.slot && { slot: this.slot, boottime: boot, monotonic };
      this.slot = newest(this.copy);
      this.copy.copy(this.checked);
    }
    return null;
  }
}

class Lease {
  #file;

  constructor(path = process.env.RINGLEADER_LEASE) {
    if (!path) throw new Error('no path of a lease file, and RINGLEADER_LEASE is not set');
    this.path = path;
    this.#file = new OpenFile(path);
  }

  valid() {
    return this.read().valid;
  }

  term() {
    const state = this.read();
    return state.valid ? state.term : null;
  }

  value() {
    return this.read().value;
  }

  read() {
    let state = this.#state();
    if (!state.valid && this.#replaced()) {
      this.#file.close();
      this.#file = new OpenFile(this.path);
      state = this.#state();
    }
    return state;
  }

  async wait({ timeout, signal } = {}) {
    const end = timeout === undefined ? Infinity : performance.now() + timeout;
    for (;;) {
      signal?.throwIfAborted();
      const state = this.read();
      if (state.valid) return state.term;
      if (performance.now() >= end) throw new Error(`${this.path}: ${state.reason}`);
      await pause();
    }
  }

  async *changes({ signal } = {}) {
    let last;
    while (!signal?.aborted) {
      const state = this.read();
      if (!last || state.valid !== last.valid || state.term !== last.term || !state.value.equals(last.value)) {
        last = state;
        yield state;
      } else {
        await pause();
      }
    }
  }

  close() {
    this.#file.close();
    this.#file.reason = 'the lease is closed';
    this.#file.status = undefined; // undefined: closed for good
  }

  #state() {
    const { reason, member, group } = this.#file;
    const state = { valid: false, reason, term: 0n, value: EMPTY, member, group, remaining: 0 };
    if (reason) return state;
    let found;
    try {
      found = this.#file.read();
    } catch {
      found = null;
    }
    if (!found) return { ...state, reason: 'no state in the file is whole' };
    const { slot } = found;
    state.term = slot.term;
    state.value = slot.value;
    const boot = slot.boottime - found.boottime;
    const monotonic = slot.monotonic - found.monotonic;
    const left = boot < monotonic ? boot : monotonic;
    if (slot.flags & CLOSED) state.reason = 'the writer has ended';
    else if (!(slot.flags & LEADER)) state.reason = 'not leader';
    else if (left <= 0n) state.reason = 'the lease has ended';
    else return { ...state, valid: true, remaining: Number(left) / 1e6 };
    return state;
  }

  /** Reports whether the path leads to another file than the open one. */
  #replaced() {
    const { status, reason } = this.#file;
    if (status === undefined) return false;
    // An open file keeps its number, so that no later file has the same.
    try {
      const now = fs.statSync(this.path, { bigint: true });
      return reason !== '' || now.dev !== status.dev || now.ino !== status.ino;
    } catch {
      return false;
    }
  }
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, PAUSE));
}

module.exports = { Lease };
