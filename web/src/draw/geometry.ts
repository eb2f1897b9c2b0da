// Where a network is on the screen: places of processes, and the ways of messages between them.

import type { RunModel } from "../model/run";
import { isClockwise, isRing, links, nearest, places, type Place } from "../model/layout";
import type { Box } from "./labels";
import type { Traveller } from "../model/travel";

export interface Spot {
  x: number;
  y: number;
  angle: number; // of the heading
}

const gap = 15; // between messages that wait, in units
const letter = 8.4; // the width of a letter of a name beside its process, in units, if its font is wide

export class Geometry {
  readonly ring: boolean;
  readonly middle: Place;
  readonly reach: number; // of the farthest processes from the middle
  readonly apart: number; // the least distance of two processes
  readonly radius: number; // of a process
  readonly places: Place[];
  private readonly lane: number;

  constructor(
    readonly run: RunModel,
    readonly width: number,
    readonly height: number,
    margin: { x: number; y: number },
    readonly unit: number, // the size of text relative to the usual one
  ) {
    this.ring = isRing(run.header);
    const all = places(run.header);
    const [left, right, top, bottom] = this.ring || run.n === 1 ? [-1, 1, -1, 1] : extent(all);
    this.reach = run.n === 1 ? 60 : Math.max(20, Math.min((width - 2 * margin.x) / Math.max(0.01, right - left), (height - 2 * margin.y) / Math.max(0.01, bottom - top)));
    this.middle = { x: width / 2 - (this.reach * (left + right)) / 2, y: height / 2 - (this.reach * (top + bottom)) / 2 };
    const close = run.n === 1 ? 2 : nearest(all);
    this.apart = close * this.reach;
    this.radius = Math.max(2.5, Math.min(26 * unit, 0.36 * close * this.reach));
    this.places = all.map((p) => ({ x: this.middle.x + p.x * this.reach, y: this.middle.y + p.y * this.reach }));
    this.lane = twoWay(run) ? Math.min(7 * unit, this.radius * 0.5) : 0;
  }

  /** Whether identifiers are written into processes. */
  get named(): boolean {
    return this.radius >= 11 * this.unit;
  }

  /** Whether a name is written into its process; else it is beside it. */
  holds(name: string): boolean {
    return this.named && name.length * 7.6 * this.unit <= 2 * this.radius;
  }

  /** What the names beside processes take to each side, if there is room. */
  get beside(): number {
    const length = Math.max(0, ...(this.run.n > 100 ? [] : this.run.names).filter((name) => !this.holds(name)).map((name) => name.length));
    return length === 0 ? 0 : this.radius + (9 + letter * length) * this.unit;
  }

  /** Whether a box is in the drawing. */
  has(box: Box): boolean {
    return 2 * box.x >= box.width && 2 * (this.width - box.x) >= box.width && 2 * box.y >= box.height && 2 * (this.height - box.y) >= box.height;
  }

  /** How many letters of a name have room beside a process. */
  room(p: number, anchor: "start" | "middle" | "end"): number {
    const x = this.places[p]!.x;
    const away = this.radius + 9 * this.unit;
    const free = { start: this.width - x - away, end: x - away, middle: 2 * Math.min(x, this.width - x) }[anchor];
    return Math.floor(free / (letter * this.unit));
  }

  /** The links as a path of an SVG, without those that the filter rejects. */
  path(keep: (from: number, to: number) => boolean = () => true): string {
    const { x, y } = this.middle;
    const r = this.reach;
    if (this.ring && this.run.n === 1) return `M${x} ${y - r}A${r} ${r} 0 1 1 ${x - 0.01} ${y - r}`;
    return links(this.run.header)
      .filter(([p, q]) => keep(p, q))
      .map(([p, q]) => {
        const [a, b] = [this.places[p]!, this.places[q]!];
        return `M${a.x.toFixed(1)} ${a.y.toFixed(1)}` + (this.ring ? `A${r} ${r} 0 0 1 ${b.x.toFixed(1)} ${b.y.toFixed(1)}` : `L${b.x.toFixed(1)} ${b.y.toFixed(1)}`);
      })
      .join("");
  }

  /** Which way the messages of a one-way ring go, as a path. */
  get ways(): string {
    if (!this.ring || this.lane > 0 || this.run.n < 2 || this.run.n > 40) return "";
    const turn = (2 * Math.PI) / this.run.n;
    const wing = 5 * this.unit;
    return this.places
      .map((_, p) => {
        const angle = (p + 0.5) * turn - Math.PI / 2;
        const [x, y] = [this.middle.x + this.reach * Math.cos(angle), this.middle.y + this.reach * Math.sin(angle)];
        const back = (by: number): string => `${(x + wing * Math.cos(angle - Math.PI / 2 + by)).toFixed(1)} ${(y + wing * Math.sin(angle - Math.PI / 2 + by)).toFixed(1)}`;
        return `M${back(0.7)}L${x.toFixed(1)} ${y.toFixed(1)}L${back(-0.7)}`;
      })
      .join("");
  }

  /** Where a message is. */
  spot(t: Traveller): Spot {
    const m = t.message;
    const [from, to, port] = [this.run.from[m]!, this.run.to[m]!, this.run.port[m]!];
    let part = t.part;
    if (t.waits >= 0) {
      const length = this.length(from, to);
      const apart = Math.min(gap * this.unit, length / (t.among + 1));
      part = Math.min(1, part) * Math.max(0, 1 - (t.waits * apart + Math.min(14 * this.unit, length / 4)) / Math.max(1, length));
    } else if (this.run.lost[m] === 1) {
      part *= 0.75;
    }
    return this.along(from, to, port, part);
  }

  private length(from: number, to: number): number {
    if (this.ring) return Math.max(1, (2 * Math.PI * this.reach) / this.run.n - 2 * this.radius - 6);
    const [a, b] = [this.places[from]!, this.places[to]!];
    return Math.max(1, Math.hypot(a.x - b.x, a.y - b.y) - 2 * this.radius - 6);
  }

  private along(from: number, to: number, port: number, part: number): Spot {
    const trim = this.radius + 3;
    if (this.ring) {
      const way = isClockwise(this.run.n, from, to, port) ? 1 : -1;
      const turn = (2 * Math.PI) / this.run.n;
      const start = from * turn - Math.PI / 2;
      const cut = Math.min(turn / 3, trim / this.reach);
      const angle = start + way * (cut + part * (turn - 2 * cut));
      const r = this.reach + way * this.lane;
      return { x: this.middle.x + r * Math.cos(angle), y: this.middle.y + r * Math.sin(angle), angle: angle + (way * Math.PI) / 2 };
    }
    const [a, b] = [this.places[from]!, this.places[to]!];
    const distance = Math.max(1, Math.hypot(b.x - a.x, b.y - a.y));
    const [dx, dy] = [(b.x - a.x) / distance, (b.y - a.y) / distance];
    const cut = Math.min(distance / 3, trim);
    const along = cut + part * (distance - 2 * cut);
    return { x: a.x + dx * along - dy * this.lane, y: a.y + dy * along + dx * this.lane, angle: Math.atan2(dy, dx) };
  }

  /** The position on a ring that is nearest to a point. */
  position(x: number, y: number): number {
    const turn = (Math.atan2(y - this.middle.y, x - this.middle.x) + Math.PI / 2) / (2 * Math.PI);
    return ((Math.round(turn * this.run.n) % this.run.n) + this.run.n) % this.run.n;
  }
}

/** What places take: the least and the greatest x, and the least and the greatest y. */
function extent(all: Place[]): [left: number, right: number, top: number, bottom: number] {
  const [xs, ys] = [all.map((p) => p.x), all.map((p) => p.y)];
  return [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
}

/** Whether messages go both ways on a link. */
function twoWay(run: RunModel): boolean {
  if (!isRing(run.header)) return true;
  for (let m = 0; m < run.messages; m++) if (!isClockwise(run.n, run.from[m]!, run.to[m]!, run.port[m]!)) return true;
  return false;
}
