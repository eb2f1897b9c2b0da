// The lines, arrows and marks of a space–time diagram, on a canvas.

import { relation, type Cone } from "../model/causality";
import { never, type Role } from "../model/run";
import { time } from "../model/story";
import { values } from "../model/state";
import type { Timeline } from "../model/timeline";
import { dashes, widths } from "./kinds";
import { ending, Labels } from "./labels";
import type { Palette } from "./palette";
import { heads, path2d, symbols, type Shape } from "./symbols";

const mostArrows = 6000;
const faint = 0.14;

/** Draws what is visible. An event that is lit dims all that it is not related to. */
export function drawDiagram(context: CanvasRenderingContext2D, line: Timeline, width: number, colours: Palette, lit: Cone | undefined, selected: number | undefined): void {
  const d = new Drawing(context, line, width, colours, lit);
  d.shades();
  d.axis();
  d.lines(selected);
  d.arrows();
  d.marks();
  d.names(selected);
}

class Drawing {
  constructor(
    private readonly c: CanvasRenderingContext2D,
    private readonly line: Timeline,
    private readonly width: number,
    private readonly colours: Palette,
    private readonly lit: Cone | undefined,
  ) {
    c.lineJoin = "round";
  }

  private font(size: number, weight = 400): string {
    return `${weight} ${size * this.line.unit}px system-ui, sans-serif`;
  }

  private get bottom(): number {
    return this.line.y(this.line.rows - 1);
  }

  shades(): void {
    const { c, line, colours } = this;
    const [from, to] = line.visible;
    for (const l of line.run.lasting) {
      if (l.from > to || l.to < from) continue;
      const x = Math.max(line.margin, line.x(l.from + 0.5));
      const end = Math.min(this.width, line.x(Math.min(line.run.length + 1, l.to + 0.5)));
      const [y, height] = l.process === -1 ? [line.top - 20, this.bottom - line.top + 34] : [line.y(l.process) - Math.min(12, line.gap * 0.4), Math.min(24, line.gap * 0.8)];
      c.fillStyle = l.process === -1 ? colours.shade : colours.band;
      c.fillRect(x, y, end - x, height);
      if (l.process === -1 || line.gap >= 30) {
        c.fillStyle = colours.muted;
        c.font = this.font(11, 600);
        c.textAlign = "left";
        c.textBaseline = "alphabetic";
        c.fillText(l.text, x + 4, l.process === -1 ? line.top - 8 : y - 2, Math.max(20, end - x));
      }
    }
  }

  /** The axis has times if there is a clock, and otherwise numbers of steps. */
  axis(): void {
    const { c, line, colours } = this;
    const { run } = line;
    const [from, to] = line.visible;
    c.font = this.font(11);
    c.fillStyle = colours.muted;
    c.strokeStyle = colours.grid;
    c.lineWidth = 1;
    c.textAlign = "left";
    c.textBaseline = "alphabetic";
    let free = line.margin;
    const tick = (x: number, text: string, rule: boolean): void => {
      if (rule) {
        c.beginPath();
        c.moveTo(x, 20 * line.unit);
        c.lineTo(x, this.bottom + 12);
        c.stroke();
      }
      if (x < free) return;
      c.fillText(text, x + 3, 15 * line.unit);
      free = x + 3 + c.measureText(text).width + 10;
    };
    if (run.header.clock) {
      for (let i = from; i < to; i++) {
        if (i === 0 || run.steps[i]!.time !== run.steps[i - 1]!.time) tick(line.x(i), `${i === 0 ? "time " : ""}${time(run.steps[i]!.time)}`, line.scale > 1);
      }
    } else {
      const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000].find((n) => n * line.scale >= 50) ?? 100000;
      for (let i = Math.ceil(from / every) * every; i <= to; i += every) tick(line.x(i), i === 0 ? "step 0" : String(i), true);
    }
  }

  lines(selected: number | undefined): void {
    const { c, line, colours } = this;
    const { run } = line;
    const end = line.x(run.length + 1);
    for (let row = 0; row < line.rows; row++) {
      const p = row % run.n;
      const y = line.y(row);
      if (p === selected) {
        c.fillStyle = colours.raised;
        c.fillRect(line.margin, y - line.gap / 2, this.width, line.gap);
      }
      run.stages[p]!.forEach((stage, k, stages) => {
        const x = Math.max(line.margin, line.x(stage.from + 0.5));
        const past = Math.min(this.width, k + 1 < stages.length ? line.x(stages[k + 1]!.from + 0.5) : end);
        if (past > x) this.stretch(stage.role, x, past, y, row === run.n);
      });
      if (this.lit !== undefined && row < run.n) this.lightLine(p, y);
    }
  }

  private stretch(role: Role, x: number, past: number, y: number, repeated: boolean): void {
    const { c, colours, line } = this;
    if (role === "leader") {
      c.fillStyle = colours.star;
      c.globalAlpha = repeated ? 0.4 : 1;
      c.fillRect(x, y - Math.min(4, line.gap / 5), past - x, Math.min(8, (line.gap * 2) / 5));
    }
    c.globalAlpha = repeated ? 0.5 : 1;
    c.strokeStyle = role === "crashed" ? colours.pale : colours.alive;
    c.lineWidth = role === "asleep" ? 0.8 : 1.4;
    c.setLineDash(role === "crashed" ? [2, 5] : []);
    c.beginPath();
    c.moveTo(x, y);
    c.lineTo(past, y);
    c.stroke();
    c.setLineDash([]);
    c.globalAlpha = 1;
  }

  private lightLine(p: number, y: number): void {
    const { c, line, lit, colours } = this;
    if (lit === undefined) return;
    c.strokeStyle = colours.accent;
    c.globalAlpha = 0.45;
    c.lineWidth = Math.min(7, line.gap * 0.5);
    c.beginPath();
    if (lit.past[p]! >= 0) {
      c.moveTo(Math.max(line.margin, line.x(0)), y);
      c.lineTo(Math.max(line.margin, line.x(lit.past[p]! + 0.5)), y);
    }
    if (lit.future[p] !== never) {
      c.moveTo(Math.max(line.margin, line.x(lit.future[p]! + 0.5)), y);
      c.lineTo(line.x(line.run.length + 1), y);
    }
    c.stroke();
    c.globalAlpha = 1;
  }

  /** Whether a message carries the influence of the lit event, or brought some to it. */
  private bright(m: number): boolean {
    const { lit, line } = this;
    if (lit === undefined) return true;
    const { run } = line;
    const arrival = run.arrivedAt[m]!;
    const sent = run.sentAt[m]!;
    if (arrival !== never && arrival <= lit.past[run.to[m]!]!) return true;
    return sent >= lit.future[run.from[m]!]!;
  }

  arrows(): void {
    const { c, line, colours, width } = this;
    const { run } = line;
    const { shown, stride } = line.messages(mostArrows);
    const fine = line.scale >= 4;
    const kinds = dashes(run.header);
    for (const [kind, { class: of }] of run.header.kinds.entries()) {
      c.strokeStyle = colours[of];
      c.fillStyle = colours[of];
      c.lineWidth = fine && line.gap > 10 ? widths[of] : 0.8;
      c.setLineDash(fine ? kinds[kind]! : []);
      for (const bright of [false, true]) {
        c.globalAlpha = bright ? 1 : faint;
        c.beginPath();
        for (const m of shown) if (run.kind[m] === kind && this.bright(m) === bright) this.arrow(m);
        c.stroke();
      }
      c.setLineDash([]);
      if (fine) for (const m of shown) if (run.kind[m] === kind) this.head(m);
    }
    c.globalAlpha = 1;
    if (line.scale >= 30 && line.gap >= 36) for (const m of shown) this.label(m);
    if (stride > 1) {
      c.fillStyle = colours.muted;
      c.font = this.font(11);
      c.textAlign = "right";
      c.fillText(`1 of ${stride} messages is drawn: zoom in`, width - 8, this.bottom + 16);
    }
  }

  private ends(m: number): [number, number, number, number] {
    const { line } = this;
    const [from, to] = line.joins(m);
    const [x1, y1, y2] = [line.x(line.run.sentAt[m]! + 0.5), line.y(from), line.y(to)];
    const x2 = line.x(line.end(m));
    const part = line.run.endedAt[m] === never ? 0.8 : line.run.lost[m] === 1 ? 0.8 : 1;
    return [x1, y1, x1 + (x2 - x1) * part, y1 + (y2 - y1) * part];
  }

  private arrow(m: number): void {
    const [x1, y1, x2, y2] = this.ends(m);
    this.c.moveTo(x1, y1);
    this.c.lineTo(x2, y2);
  }

  private head(m: number): void {
    const { c, line, colours } = this;
    const [x1, y1, x2, y2] = this.ends(m);
    if (x2 < line.margin || x2 > this.width + 20) return;
    const head = heads[line.run.header.kinds[line.run.kind[m]!]!.class];
    c.save();
    c.globalAlpha = this.bright(m) ? 1 : faint;
    c.translate(x2, y2);
    c.rotate(Math.atan2(y2 - y1, x2 - x1));
    const scale = (line.gap >= 20 * line.unit ? 0.8 : 0.5) * line.unit;
    if (line.run.lost[m] === 1) {
      c.strokeStyle = colours.wrong;
      c.lineWidth = 2;
      c.stroke(path2d(symbols.lost.path));
    } else {
      c.translate(line.run.endedAt[m] === never ? 0 : -3 * scale, 0);
      c.scale(scale, scale);
      const shape = path2d(head.path);
      if (head.fill) c.fill(shape);
      else {
        if (head.width > 2.1) {
          c.fillStyle = colours.paper;
          c.fill(shape);
        }
        c.lineWidth = head.width;
        c.stroke(shape);
      }
    }
    c.restore();
  }

  private readonly labels = new Labels();

  private label(m: number): void {
    const { c, line, colours } = this;
    const text = values(line.run.text[m]!);
    if (text === "" || text.length > 12 || !this.bright(m)) return;
    const [x1, y1, x2, y2] = this.ends(m);
    const x = x1 + (x2 - x1) * 0.5;
    if (x < line.margin + 10) return;
    c.font = this.font(11, 600);
    c.textAlign = "center";
    c.textBaseline = "middle";
    const y = y1 + (y2 - y1) * 0.5;
    const width = c.measureText(text).width, height = 11 * line.unit;
    if (this.labels.place({ x, y, width, height }) === undefined) return;
    c.fillStyle = colours.paper; // so that the arrow does not show between the words
    c.fillRect(x - width / 2 - 2, y - height / 2 - 2, width + 4, height + 4);
    c.fillStyle = colours[line.run.header.kinds[line.run.kind[m]!]!.class];
    c.fillText(text, x, y);
  }

  marks(): void {
    const { c, line, colours, lit } = this;
    const { run } = line;
    const [from, to] = line.visible;
    const scale = Math.max(0.35, Math.min(line.unit, line.gap / 26, line.scale / 16));
    const all = line.scale >= 3;
    const stride = Math.max(1, Math.floor((to - from) / 20000));
    for (let i = from; i < to; i += stride) {
      const step = run.steps[i]!;
      const shapes = shapesOf(step.event, step.decided?.at(-1)?.role, /^(partition|cut) /.test(step.text ?? ""));
      for (const shape of shapes) {
        if (!all && (shape === "receive" || shape === "follower" || shape === "undecided")) continue;
        c.save();
        c.globalAlpha = lit === undefined || relation(run, lit, i) !== "concurrent" ? 1 : faint;
        c.translate(line.x(i + 0.5), line.y(step.process));
        if (lit?.event === i) {
          c.strokeStyle = colours.accent;
          c.lineWidth = 3;
          c.beginPath();
          c.arc(0, 0, Math.max(7, 11 * scale), 0, 2 * Math.PI);
          c.stroke();
        }
        c.scale(scale, scale);
        this.symbol(shape);
        c.restore();
      }
    }
  }

  private symbol(shape: Shape): void {
    const { c, colours } = this;
    const look = symbols[shape];
    const path = path2d(look.path);
    if (look.fill !== "none") {
      c.fillStyle = colours[look.fill];
      c.fill(path);
    }
    c.strokeStyle = colours.ink;
    if (look.line > 0) {
      c.lineWidth = look.line;
      c.stroke(path);
    }
    if (look.inside !== undefined) {
      c.lineWidth = 1.6;
      c.stroke(path2d(look.inside));
    }
  }

  names(selected: number | undefined): void {
    const { c, line, colours } = this;
    c.fillStyle = colours.paper;
    c.fillRect(0, 0, line.margin - 4, this.bottom + 30);
    c.textAlign = "right";
    c.textBaseline = "middle";
    const every = Math.ceil((12 * line.unit) / line.gap);
    for (let row = 0; row < line.rows; row++) {
      const p = row % line.run.n;
      if (row % every !== 0 && p !== selected) continue;
      c.font = this.font(line.gap >= 16 * line.unit ? 13 : 11, p === selected ? 700 : 600);
      c.fillStyle = row === line.run.n ? colours.muted : p === selected ? colours.accent : colours.ink;
      const name = line.run.names[p]!;
      const part = (line.margin - 12) / c.measureText(name).width;
      c.fillText(part < 1 ? ending(name, Math.floor(part * name.length)) : name, line.margin - 10, line.y(row));
    }
  }
}

/** The marks of an event: what happened, or what was decided. */
function shapesOf(event: string, decided: string | undefined, ofLinks: boolean): Shape[] {
  if (ofLinks) return [];
  if (decided === "leader" || decided === "follower" || decided === "undecided") return event === "receive" ? [decided] : [event as Shape, decided];
  return [event as Shape];
}
