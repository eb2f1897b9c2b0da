// Which events may have caused an event, and which it may have caused: by the order of a process's events, and by messages. Both are
// cuts of the run: of each process a beginning, or an end.

import { never, type RunModel } from "./run";

export interface Cone {
  event: number; // index of the step
  past: Int32Array; // by process: the last event in the past, or -1
  future: Int32Array; // by process: the first event in the future, or never
}

/** The causal past and future of an event, which belongs to both. */
export function cone(run: RunModel, event: number): Cone {
  const past = new Int32Array(run.n).fill(-1);
  const future = new Int32Array(run.n).fill(never);
  const walk = [event];
  for (let i = walk.pop(); i !== undefined; i = walk.pop()) {
    const own = run.steps[i]!.process;
    const known = past[own]!;
    if (i <= known) continue;
    past[own] = i;
    for (let k = i; k > known; k = run.previous[k]!) {
      const step = run.steps[k]!;
      if (step.event === "receive" && step.message !== undefined) walk.push(run.sentAt[step.message - 1]!);
    }
  }
  walk.push(event);
  for (let i = walk.pop(); i !== undefined; i = walk.pop()) {
    const own = run.steps[i]!.process;
    const known = future[own]!;
    if (i >= known) continue;
    future[own] = i;
    for (const k of run.stepsOf(own)) {
      if (k < i) continue;
      if (k >= known) break;
      for (const sent of run.steps[k]!.sent ?? []) {
        const arrival = run.arrivedAt[sent.message - 1]!;
        if (arrival !== never) walk.push(arrival);
      }
    }
  }
  return { event, past, future };
}

/** How an event relates to the event of a cone. */
export function relation(run: RunModel, c: Cone, event: number): "self" | "past" | "future" | "concurrent" {
  if (event === c.event) return "self";
  const process = run.steps[event]!.process;
  if (event <= c.past[process]!) return "past";
  return event >= c.future[process]! ? "future" : "concurrent";
}

/** The number of events in the past, in the future, and in neither. */
export function sizes(run: RunModel, c: Cone): { past: number; future: number; concurrent: number } {
  let past = 0;
  let future = 0;
  for (let i = 0; i < run.length; i++) {
    const related = relation(run, c, i);
    if (related === "past") past++;
    else if (related === "future") future++;
  }
  return { past, future, concurrent: run.length - 1 - past - future };
}
