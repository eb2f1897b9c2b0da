// Where the messages under way are on their links. A message leaves in the middle of the step that sends it and arrives in the middle of
// the step that receives it; what does not arrive waits at the end of its link, in order.

import { never, type RunModel } from "./run";

export interface Traveller {
  message: number; // number less 1
  part: number; // of the way, from 0 to 1
  waits: number; // place among the messages that wait on the link, from 0; -1: it arrives later
  among: number; // the number of these
  lost: boolean; // it is being lost
}

const buffer: number[] = [];

/** The messages on their way at a place in the run, in the order of sending. */
export function travellers(run: RunModel, x: number): Traveller[] {
  const found: Traveller[] = [];
  const queues = new Map<number, Traveller[]>(); // by link
  for (const m of run.underWay(Math.min(run.length, Math.max(0, Math.round(x))), buffer)) {
    const sent = run.sentAt[m]!;
    const ended = run.endedAt[m]!;
    if (ended === never) {
      const queue = at(queues, link(run, m));
      const one = { message: m, part: Math.min(1, 0.5 + x - sent - 0.5), waits: queue.length, among: 0, lost: false };
      queue.push(one);
      found.push(one);
    } else {
      const part = (x - sent - 0.5) / (ended - sent);
      found.push({ message: m, part: Math.min(1, Math.max(0, part)), waits: -1, among: 0, lost: run.lost[m] === 1 && x > ended - 0.4 });
    }
  }
  for (const queue of queues.values()) for (const one of queue) one.among = queue.length;
  return found;
}

function link(run: RunModel, m: number): number {
  const pair = run.from[m]! * run.n + run.to[m]!;
  return run.n <= 2 ? pair + run.port[m]! * run.n * run.n : pair;
}

function at(queues: Map<number, Traveller[]>, key: number): Traveller[] {
  let queue = queues.get(key);
  if (queue === undefined) queues.set(key, (queue = []));
  return queue;
}
