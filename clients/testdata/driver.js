'use strict';

// Answers the commands of clients_test.go, a line each.

const assert = require('node:assert');
const readline = require('node:readline');
const { Lease } = require('../node');

function shown(state) {
  const term = state.valid ? state.term : 0n;
  return [state.valid, term, state.value.toString('hex'), state.member, state.group, state.reason].join('|');
}

let lease;
let changes;

async function answer(command, argument) {
  switch (command) {
    case 'open':
      lease?.close();
      lease = new Lease(argument);
      changes = undefined;
      return 'opened';
    case 'read': {
      const state = lease.read();
      assert.strictEqual(lease.valid(), state.valid);
      assert.strictEqual(lease.term(), state.valid ? state.term : null);
      assert(lease.value().equals(state.value));
      return shown(state);
    }
    case 'work': {
      const term = lease.term() ?? 0n;
      await new Promise((resolve) => setTimeout(resolve, Number(argument) * 1000));
      return term;
    }
    case 'wait':
      return lease.wait({ timeout: Number(argument) * 1000 }).catch(() => 'timeout');
    case 'change':
      changes ??= lease.changes();
      return shown((await changes.next()).value);
    case 'measure': {
      const start = process.hrtime.bigint();
      for (let n = 0; n < Number(argument); n++) lease.valid();
      return Number(process.hrtime.bigint() - start) / Number(argument);
    }
  }
}

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [command, ...rest] = line.split(' ');
    process.stdout.write(`${await answer(command, rest.join(' '))}\n`);
  }
})();
