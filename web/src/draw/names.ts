// Where the names are that have no room in their processes: outside a ring. The links of a tree go to all sides, so there a name is where it covers
// no process, no other name, and no link if that is possible. One that has no room is left out.

import { links, type Place } from "../model/layout";
import type { Geometry } from "./geometry";
import { ending, Labels, type Box } from "./labels";

export interface Named {
  text: string;
  side: number; // the way from the process
  away: number; // how far that way
  anchor: "start" | "middle" | "end";
  told: boolean; // whether variables have room beside it
  box?: Box; // of the name and the variables, in a tree
}

const letter = 8.4; // the width of a letter, in units, if its font is wide
const line = 15;
const short = [12, 7, 4]; // letters of a name, if all have no room
const variables = { width: 112, lines: 3 };
const quarter = Math.PI / 2;

const anchorOf = (side: number): Named["anchor"] => (Math.cos(side) > 0.35 ? "start" : Math.cos(side) < -0.35 ? "end" : "middle");

/** The names of all processes; told is whether variables are beside them. */
export function names(geometry: Geometry, told: boolean): Named[] {
  const { run, places } = geometry;
  const all = places.map((_, p) => outside(geometry, p, told));
  if (run.header.topology !== "tree" || run.n > 100 || run.names.every((name) => geometry.holds(name))) return all;
  const { middle, radius } = geometry;
  const body = 1.84 * radius + 12; // with its halo
  const labels = new Labels(places.map(({ x, y }) => ({ x, y, width: body, height: body })));
  const far = (p: number): number => Math.hypot(places[p]!.x - middle.x, places[p]!.y - middle.y);
  for (const p of [...places.keys()].sort((p, q) => far(p) - far(q))) all[p] = free(geometry, p, told, labels) ?? free(geometry, p, false, labels) ?? { ...all[p]!, text: "", told: false };
  return all;
}

function outside(geometry: Geometry, p: number, told: boolean): Named {
  const { middle, places, run } = geometry;
  const [dx, dy] = [places[p]!.x - middle.x, places[p]!.y - middle.y];
  const side = Math.hypot(dx, dy) < 1 ? quarter : Math.atan2(dy, dx);
  const anchor = anchorOf(side);
  return { text: ending(run.names[p]!, geometry.room(p, anchor)), side, away: geometry.radius + 9 * geometry.unit, anchor, told };
}

/** The first place that is free: rather short than on a link. */
function free(geometry: Geometry, p: number, told: boolean, labels: Labels): Named | undefined {
  const { run, places, radius, unit } = geometry;
  const name = run.names[p]!;
  const sides = [outside(geometry, p, told).side, 0, 2 * quarter, quarter, -quarter, quarter / 2, -quarter / 2, 1.5 * quarter, -1.5 * quarter];
  const lengths = [name.length, ...short.filter((length) => length < name.length)];
  const ways = links(run.header).map(([a, b]): [Place, Place] => [places[a]!, places[b]!]);
  for (const onLinks of [false, true]) {
    for (const length of lengths) {
      for (const side of sides) {
        const anchor = anchorOf(side);
        const away = radius + (9 + 4 * Math.abs(Math.sin(side))) * unit;
        const [x, y] = [places[p]!.x + away * Math.cos(side), places[p]!.y + away * Math.sin(side)];
        const of = (width: number, above: number, below: number): Box => ({ x: anchor === "middle" ? x : anchor === "start" ? x + width / 2 : x - width / 2, y: y + (below - above) / 2, width, height: above + below });
        const box = of(letter * unit * (length < name.length ? length + 1 : length), (line / 2) * unit, (line / 2) * unit);
        const more = told ? variables.lines * line * unit : 0;
        const whole = of(Math.max(box.width, told ? variables.width * unit : 0), box.height / 2 + (Math.sin(side) < -0.5 ? more : 0), box.height / 2 + (Math.sin(side) < -0.5 ? 0 : more));
        if (!geometry.has(whole) || (!onLinks && ways.some(([a, b]) => crosses(a, b, whole))) || labels.place(whole) === undefined) continue;
        return { text: ending(name, length), side, away, anchor, told, box: whole };
      }
    }
  }
  return undefined;
}

/** Whether a link goes through a box. */
function crosses(a: Place, b: Place, box: Box): boolean {
  let [from, to] = [0, 1];
  for (const [at, by, middle, size] of [[a.x, b.x - a.x, box.x, box.width], [a.y, b.y - a.y, box.y, box.height]] as const) {
    if (by === 0) {
      if (Math.abs(at - middle) >= size / 2) return false;
      continue;
    }
    const [one, other] = [(middle - size / 2 - at) / by, (middle + size / 2 - at) / by];
    from = Math.max(from, Math.min(one, other));
    to = Math.min(to, Math.max(one, other));
  }
  return from < to;
}
