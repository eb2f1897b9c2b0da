// Which links a fault in force blocks: "cut 1 -> 2", "partition 1,2 | 3,4", "partition 1 | others".

import type { RunModel } from "./run";

type Blocks = (from: number, to: number) => boolean;

/** Whether the faults at a moment block a link, or nothing if they block none. */
export function blocked(run: RunModel, moment: number): Blocks | undefined {
  const all = run.faults(moment).flatMap((l) => (l.process === -1 ? [blocks(run, l.text)] : []));
  return all.length === 0 ? undefined : (from, to) => all.some((b) => b(from, to));
}

function blocks(run: RunModel, text: string): Blocks {
  const position = new Map(run.names.map((name, p) => [name, p]));
  const cut = /^cut (\S+) -> (\S+)/.exec(text);
  if (cut !== null) return (from, to) => from === position.get(cut[1]!) && to === position.get(cut[2]!);
  const side = new Array<number>(run.n).fill(-1);
  let rest = -1;
  text.replace(/^partition /, "").split("|").forEach((members, i) => {
    for (const name of members.trim().split(/[,\s]+/)) {
      const p = position.get(name);
      if (p !== undefined) side[p] = i;
      else if (name === "others") rest = i;
    }
  });
  if (rest !== -1) side.forEach((s, p) => { if (s === -1) side[p] = rest; });
  return (from, to) => side[from] !== -1 && side[to] !== -1 && side[from] !== side[to];
}
