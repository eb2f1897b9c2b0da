// What of a run a space–time diagram shows: a stretch of steps from left to right, and a row for each process. On a ring the row of the
// first process is repeated below the last, so that each message joins neighbouring rows.

import { isClockwise, isRing } from "./layout";
import { never, type RunModel } from "./run";

const [nearestScale, farthestScale] = [90, 0.002];

export class Timeline {
  left = 0; // the step at the margin
  scale: number; // pixels a step
  readonly margin: number; // for names
  readonly top: number; // y of the first row
  readonly gap: number; // between rows
  readonly rows: number;
  readonly ring: boolean;
  private readonly room: number; // pixels for steps

  constructor(
    readonly run: RunModel,
    readonly width: number,
    readonly unit = 1, // the size of text relative to the usual one
  ) {
    this.ring = isRing(run.header) && run.n > 1;
    this.rows = run.n + (this.ring ? 1 : 0);
    this.gap = unit * (run.n <= 5 ? 46 : run.n <= 9 ? 36 : run.n <= 16 ? 26 : Math.max(8, Math.min(20, 640 / run.n)));
    this.margin = 20 + Math.min(Math.max(120 * unit, width / 5), 9 * unit * Math.max(...run.names.slice(0, 2000).map((name) => name.length)));
    this.top = 44 * unit;
    this.room = Math.max(50, width - this.margin - 12);
    this.scale = Math.min(48, Math.max(14, this.room / (run.length + 1)));
  }

  get height(): number {
    return this.top + (this.rows - 1) * this.gap + 22;
  }

  /** The first and the last step that are visible. */
  get visible(): [number, number] {
    return [Math.max(0, Math.floor(this.left)), Math.min(this.run.length, Math.ceil(this.left + this.room / this.scale))];
  }

  x(moment: number): number {
    return this.margin + (moment - this.left) * this.scale;
  }

  y(row: number): number {
    return this.top + row * this.gap;
  }

  moment(x: number): number {
    return Math.min(this.run.length, Math.max(0, this.left + (x - this.margin) / this.scale));
  }

  row(event: number): number {
    return this.run.steps[event]!.process;
  }

  process(y: number): number | undefined {
    const row = Math.round((y - this.top) / this.gap);
    return row < 0 || row >= this.rows ? undefined : row % this.run.n;
  }

  /** The event at a place, or near it. */
  event(x: number, y: number): number | undefined {
    const process = this.process(y);
    if (process === undefined || x < this.margin) return undefined;
    const moment = this.left + (x - this.margin) / this.scale;
    const before = this.run.lastBefore(process, Math.ceil(moment));
    const own = this.run.stepsOf(process);
    const next = own.find((i) => i > before);
    const reach = 14 / this.scale;
    let found: number | undefined;
    for (const i of [before, next ?? -1]) {
      if (i >= 0 && Math.abs(i + 0.5 - moment) <= reach && (found === undefined || Math.abs(i + 0.5 - moment) < Math.abs(found + 0.5 - moment))) found = i;
    }
    return found;
  }

  /** The event nearest to another one, of a process so many rows below. */
  beside(event: number, by: number): number {
    const process = (this.run.steps[Math.max(0, event)]!.process + by + this.run.n) % this.run.n;
    const own = this.run.stepsOf(process);
    let found = Math.max(0, event);
    let distance = Infinity;
    for (const i of own) {
      if (Math.abs(i - event) < distance) {
        distance = Math.abs(i - event);
        found = i;
      }
    }
    return found;
  }

  /** The rows that a message joins. */
  joins(m: number): [number, number] {
    const [from, to] = [this.run.from[m]!, this.run.to[m]!];
    if (!this.ring) return [from, to];
    return isClockwise(this.run.n, from, to, this.run.port[m]!) ? [from, from + 1] : [from === 0 ? this.run.n : from, from === 0 ? this.run.n - 1 : from - 1];
  }

  /** The messages that are visible, by number less 1: at most so many, of each stride the first. */
  messages(most: number): { shown: number[]; stride: number } {
    const [from, to] = this.visible;
    const shown = this.run.underWay(from);
    const [first, past] = [this.run.sentBefore(from), this.run.sentBefore(to)];
    const stride = Math.max(1, Math.ceil((shown.length + past - first) / most));
    const all = stride === 1 ? shown : shown.filter((_, i) => i % stride === 0);
    for (let m = first; m < past; m += stride) all.push(m);
    return { shown: all, stride };
  }

  /** The place at which a message ends: beyond the run, if it waits. */
  end(m: number): number {
    const ended = this.run.endedAt[m]!;
    return ended === never ? this.run.length + 1 : ended + 0.5;
  }

  go(left: number): void {
    const most = Math.max(0, this.run.length + 1 - this.room / this.scale);
    this.left = Math.min(most, Math.max(0, left));
  }

  pan(by: number): void {
    this.go(this.left + by);
  }

  zoom(by: number, x: number): void {
    const at = this.left + (x - this.margin) / this.scale;
    this.scale = Math.min(nearestScale, Math.max(farthestScale, this.scale * by, this.room / (this.run.length + 1) / 2));
    this.go(at - (x - this.margin) / this.scale);
  }

  fit(): void {
    this.scale = Math.min(nearestScale, this.room / (this.run.length + 1));
    this.left = 0;
  }

  /** Moves so that a moment is visible, and reports whether it moved. */
  follow(moment: number, moving: boolean): boolean {
    const was = this.left;
    const wide = this.room / this.scale;
    if (moment < this.left) this.go(moment - wide * (moving ? 0.9 : 0.3));
    else if (moment > this.left + wide * (moving ? 0.92 : 0.98)) this.go(moment - wide * (moving ? 0.1 : 0.6)); // like a page that is turned
    return this.left !== was;
  }
}
