// Why messages under way at the end of a walk cannot arrive next.

import type { Offer } from "../engine";
import type { RunModel } from "./run";

const starting = "Initiators begin before any message arrives; with “any” as initiators, you choose when. Waiting:";
const rounds = "A synchronous run delivers the messages of one unit in a fixed order, by receiver and port; those sent in this unit arrive in the next. Waiting:";
const behind = "A link delivers in the order of sending (FIFO), and an earlier message is on the same link. Waiting:";
const travelling = "A message takes at least one unit of time, and no time has passed since it was sent. Waiting:";

/** The messages that are not offered, by number less 1, under the reason for it. */
export function heldBack(run: RunModel, offers: readonly Offer[]): Map<string, number[]> {
  const offered = new Set(offers.map((o) => o.message));
  const starts = offers.some((o) => o.message === undefined && o.choice.startsWith("s")) && !offers.some((o) => o.message !== undefined);
  const ahead = new Set<string>(); // links with a message under way
  const held = new Map<string, number[]>();
  for (const m of run.underWay(run.length)) {
    const link = `${run.from[m]} ${run.port[m]}`;
    if (!offered.has(m + 1)) {
      const why = run.header.timing === "synchronous" ? rounds : starts ? starting : ahead.has(link) && !run.header.unordered ? behind : travelling;
      held.set(why, [...(held.get(why) ?? []), m]);
    }
    ahead.add(link);
  }
  return held;
}
