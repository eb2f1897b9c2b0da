// How kinds of messages look: a class has a colour and a head, and each kind of a class has dashes of its own.

import type { Header } from "../engine";

/** The dashes of each kind, as the drawings have them: the first of its class is solid, the second dashed, the third dotted, … */
export function dashes(header: Header): number[][] {
  const within: Record<string, number> = {};
  return header.kinds.map((kind) => {
    const nth = (within[kind.class] ?? 0) + (kind.class === "overhead" ? 2 : 0);
    within[kind.class] = (within[kind.class] ?? 0) + 1;
    if (nth === 0) return [];
    if (nth === 1) return [6, 4];
    if (nth === 2) return [2, 3];
    return [9, 3, ...Array.from({ length: nth - 2 }, () => [2, 3]).flat()];
  });
}

export const widths = { election: 1.6, announcement: 2.4, overhead: 1.2 } as const;
