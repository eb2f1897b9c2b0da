// A run, indexed so that each question about a moment is answered from the moment itself: nothing is replayed, and a step back costs
// what a step forward costs. A moment is the number of steps taken: 0 is the beginning, length the end.

import { variables } from "./state";
import type { Decision, Header, RunAnswer, RunResult, Step } from "../engine";

export type Role = "asleep" | "undecided" | "follower" | "leader" | "crashed";

/** The moment of what has not happened. */
export const never = 0x7fffffff;

/** Something that lasts: a partition, a cut, a pause. */
export interface Lasting {
  text: string;
  process: number; // -1: of links
  from: number; // index of the step
  to: number; // index of the step that ends it, or never
}

/** A role of a process, and since when. */
export interface Stage {
  from: number; // index of the step, or -1
  role: Role;
  decision?: Decision;
}

/** A process at a moment. */
export interface Life {
  role: Role;
  decision: Decision | undefined;
  state: string; // its variables
  before: string; // the variables before its last step
  last: number; // index of its last step, or -1
  suspects: number[]; // positions
  timers: { name: string; due: string }[];
}

export class RunModel {
  readonly header: Header;
  readonly result: RunResult;
  readonly entered: number[] | undefined; // by phase: the candidates that begin it
  readonly steps: Step[];
  readonly n: number;
  readonly length: number;
  readonly names: string[]; // of processes, by position
  readonly messages: number; // sent in the whole run
  readonly sentAt: Int32Array; // of message m, at m - 1: index of the step
  readonly arrivedAt: Int32Array; // … of its first arrival, or never
  readonly endedAt: Int32Array; // … of its last arrival or loss, or never
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly port: Int32Array;
  readonly kind: Uint8Array; // index into header.kinds
  readonly lost: Uint8Array;
  readonly text: string[];
  readonly lasting: Lasting[] = [];
  readonly stages: Stage[][]; // by process
  readonly previous: Int32Array; // the step before, of the same process, or -1
  private readonly first: Int32Array; // the number of messages before each step
  private readonly oldest: Int32Array; // by block of moments: the first message still under way
  private readonly totals: Uint32Array[]; // of each kind, by the number of messages
  private readonly of: number[][]; // indices of steps, by process
  private readonly initial: string[];
  private changing: Set<string> | undefined;
  private timed = false; // there are timers or suspicions

  constructor(answer: Pick<RunAnswer, "header" | "steps" | "result" | "entered" | "states">) {
    const { header, steps } = answer;
    this.header = header;
    this.result = answer.result;
    this.entered = answer.entered;
    this.steps = steps;
    this.n = header.n;
    this.length = steps.length;
    this.initial = answer.states;
    this.names = namesOf(header);
    this.first = new Int32Array(steps.length + 1);
    let messages = 0;
    for (let i = 0; i < steps.length; i++) {
      this.first[i] = messages;
      messages += steps[i]!.sent?.length ?? 0;
    }
    this.first[steps.length] = messages;
    this.messages = messages;
    this.sentAt = new Int32Array(messages);
    this.arrivedAt = new Int32Array(messages).fill(never);
    this.endedAt = new Int32Array(messages).fill(never);
    this.from = new Int32Array(messages);
    this.to = new Int32Array(messages);
    this.port = new Int32Array(messages);
    this.kind = new Uint8Array(messages);
    this.lost = new Uint8Array(messages);
    this.text = new Array<string>(messages);
    this.previous = new Int32Array(steps.length);
    this.of = Array.from({ length: header.n }, () => []);
    this.stages = Array.from({ length: header.n }, () => [{ from: -1, role: "asleep" }]);
    this.totals = header.kinds.map(() => new Uint32Array(messages + 1));
    this.index();
    this.oldest = this.underWayFrom();
  }

  private index(): void {
    const kinds = new Map(this.header.kinds.map((k, i) => [k.name, i]));
    const open: Lasting[] = [];
    for (let i = 0; i < this.length; i++) {
      const step = this.steps[i]!;
      if (step.message !== undefined) {
        if (step.event === "receive" && this.arrivedAt[step.message - 1] === never) this.arrivedAt[step.message - 1] = i;
        this.endedAt[step.message - 1] = i;
        this.lost[step.message - 1] = step.event === "lost" ? 1 : 0;
      }
      this.timed ||= step.timers !== undefined || step.event === "suspect";
      const ofLinks = (step.event === "fault" || step.event === "heal") && /^(partition|cut) /.test(step.text ?? "");
      if (step.event === "fault") open.push({ text: step.text ?? "", process: ofLinks ? -1 : step.process, from: i, to: never });
      if (step.event === "heal") {
        const ended = open.find((l) => l.text === step.text && l.to === never);
        if (ended !== undefined) ended.to = i;
      }
      const own = this.of[step.process]!;
      this.previous[i] = own.at(-1) ?? -1;
      if (!ofLinks) {
        own.push(i);
        this.enter(step, i);
      }
      let m = this.first[i]!;
      for (const sent of step.sent ?? []) {
        this.sentAt[m] = i;
        this.from[m] = step.process;
        this.to[m] = sent.to;
        this.port[m] = sent.port;
        this.kind[m] = kinds.get(sent.kind) ?? 0;
        this.text[m] = sent.text ?? "";
        m++;
      }
    }
    this.lasting.push(...open);
    this.totals.forEach((total, kind) => {
      for (let m = 0; m < this.messages; m++) total[m + 1] = total[m]! + (this.kind[m] === kind ? 1 : 0);
    });
  }

  private enter(step: Step, i: number): void {
    const stages = this.stages[step.process]!;
    const decision = step.decided?.at(-1);
    const was = stages.at(-1)!.role;
    if (step.event === "crash") stages.push({ from: i, role: "crashed" });
    else if (decision !== undefined) stages.push({ from: i, role: decision.role, decision });
    else if (step.event === "recover") stages.push({ from: i, role: "undecided" });
    else if (was === "asleep" && step.state !== undefined) stages.push({ from: i, role: "undecided" });
  }

  private underWayFrom(): Int32Array {
    const oldest = new Int32Array((this.length >> blockBits) + 1);
    let m = 0;
    for (let block = 0; block < oldest.length; block++) {
      const moment = block << blockBits;
      while (m < this.messages && this.sentAt[m]! < moment && this.endedAt[m]! < moment) m++;
      oldest[block] = m;
    }
    return oldest;
  }

  /** The number of messages that were sent before a moment. */
  sentBefore(moment: number): number {
    return this.first[Math.min(Math.max(0, moment), this.length)]!;
  }

  /** The messages under way at a moment, by number less 1, in the order of sending. */
  underWay(moment: number, into: number[] = []): number[] {
    into.length = 0;
    const past = this.sentBefore(moment);
    for (let m = this.oldest[Math.max(0, moment) >> blockBits] ?? 0; m < past; m++) {
      if (this.endedAt[m]! >= moment) into.push(m);
    }
    return into;
  }

  /** The number of messages sent before a moment, by kind. */
  counts(moment: number): number[] {
    const sent = this.sentBefore(moment);
    return this.totals.map((total) => total[sent]!);
  }

  /** The number of messages sent before a moment, by class. Overhead is in no total. */
  classes(moment: number): Record<"election" | "announcement" | "overhead" | "total", number> {
    const sum = { election: 0, announcement: 0, overhead: 0, total: 0 };
    this.counts(moment).forEach((count, kind) => {
      const { class: of } = this.header.kinds[kind]!;
      sum[of] += count;
      if (of !== "overhead") sum.total += count;
    });
    return sum;
  }

  /** The total of the whole run. */
  get total(): number {
    return this.classes(this.length).total;
  }

  /** The indices of the steps of a process. */
  stepsOf(process: number): readonly number[] {
    return this.of[process]!;
  }

  /** The index of the last step of a process before a moment, or -1. */
  lastBefore(process: number, moment: number): number {
    const own = this.of[process]!;
    return own[below(own, moment) - 1] ?? -1;
  }

  /** The role of a process at a moment. */
  role(process: number, moment: number): Role {
    return this.stage(process, moment).role;
  }

  private stage(process: number, moment: number): Stage {
    const stages = this.stages[process]!;
    let k = stages.length - 1;
    for (let low = 0; low < k; ) { // the last stage that began before the moment
      const middle = (low + k + 1) >> 1;
      if (stages[middle]!.from < moment) low = middle;
      else k = middle - 1;
    }
    return stages[k]!;
  }

  /** All about a process at a moment. */
  life(process: number, moment: number): Life {
    const own = this.of[process]!;
    const past = below(own, moment);
    const { state, before } = this.states(process, past);
    const stage = this.stage(process, moment);
    const suspects = new Set<number>();
    const timers = new Map<string, string>();
    for (let k = 0; this.timed && k < past; k++) {
      const step = this.steps[own[k]!]!;
      if (step.event === "suspect") suspects.add((step.from ?? 0) - 1);
      if (step.event === "trust") suspects.delete((step.from ?? 0) - 1);
      if (step.event === "crash") timers.clear();
      if (step.event === "timeout") timers.delete(step.text ?? "");
      for (const t of step.timers ?? []) {
        if (t.after === undefined) timers.delete(t.timer);
        else timers.set(t.timer, due(step.time, t.after));
      }
    }
    return {
      role: stage.role,
      decision: stage.decision,
      state,
      before,
      last: own[past - 1] ?? -1,
      suspects: [...suspects],
      timers: [...timers].map(([name, at]) => ({ name: name.replace(/ timeout$/, ""), due: at })),
    };
  }

  private states(process: number, past: number): { state: string; before: string } {
    const own = this.of[process]!;
    const before = (k: number): string => {
      for (let i = k - 1; i >= 0; i--) {
        const { state } = this.steps[own[i]!]!;
        if (state !== undefined) return state;
      }
      return this.initial[process] ?? "";
    };
    return { state: before(past), before: before(past - 1) };
  }

  /** The names of the variables that change in the run, as far as its beginning shows. */
  get varying(): ReadonlySet<string> {
    if (this.changing === undefined) {
      const first = new Map<string, string>();
      const found = new Set<string>();
      for (const step of this.steps.slice(0, 2000)) {
        const now = new Map(variables(step.state ?? "").map((v) => [v.name, v.value]));
        for (const [name, value] of now) {
          const key = `${step.process} ${name}`;
          const was = first.get(key);
          if (was === undefined) first.set(key, value);
          if ((was ?? value) !== value || this.seen(step.process, name, value)) found.add(name);
        }
      }
      this.changing = found;
    }
    return this.changing;
  }

  /** Whether a variable differs from its value at the beginning. */
  private seen(process: number, name: string, value: string): boolean {
    const initial = this.initial[process] ?? "";
    return initial !== "" && variables(initial).find((v) => v.name === name)?.value !== value;
  }

  /** The faults in force at a moment. */
  faults(moment: number): Lasting[] {
    return this.lasting.filter((l) => l.from < moment && l.to >= moment);
  }

  /** The time after so many steps, as the header's clock has it, or "". */
  time(moment: number): string {
    return this.header.clock && moment > 0 ? String(this.steps[moment - 1]!.time) : "";
  }

  /** The name of a message: "probe 5 2". */
  label(m: number): string {
    const kind = this.header.kinds[this.kind[m]!]!.name;
    return this.text[m] === "" ? kind : `${kind} ${this.text[m]}`;
  }
}

const blockBits = 8;

/** The number of elements of an ascending list that are below a bound. */
function below(list: readonly number[], bound: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]! < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

function due(time: string, after: string): string {
  const sum = Number(time) + Number(after);
  return Number.isFinite(sum) ? String(Math.round(sum * 1000) / 1000) : after;
}

/** The names of processes: identifiers, with the position where others have the same one. */
function namesOf(header: Header): string[] {
  const ids = header.ids;
  if (ids === undefined || ids.length === 0) return Array.from({ length: header.n }, (_, p) => `p${p}`);
  const seen = new Map<string, number>();
  for (const id of ids) seen.set(String(id), (seen.get(String(id)) ?? 0) + 1);
  return ids.map((id, p) => (seen.get(String(id))! > 1 ? `${id}@${p}` : String(id)));
}
