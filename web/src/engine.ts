// The questions that the page asks, and their answers. The engines of ringleader answer them: over HTTP, or in a worker of the
// page. The page computes nothing itself.

/** A run, as a saved file has it: an algorithm with flags of `ringleader run`, and the events if they were chosen by hand. */
export interface Run {
  run: string[]; // "lcr", "--n=5", "--order=random"
  choices?: Choice[]; // in place of a schedule and faults; [] is a walk before its first event
}

/** An event that a walk chose, as text: "d1.0". The engine makes these; the page only hands them back. */
export type Choice = string;

/** An event that can come next. */
export interface Offer {
  text: string;
  choice: Choice;
  process: number; // position
  message?: number; // of a delivery, loss or duplicate: the number of the message, as Sent has it
}

export interface Kind {
  name: string;
  class: "election" | "announcement" | "overhead";
}

/** The first line of a trace. */
export interface Header {
  algorithm: string;
  title: string;
  topology: string;
  n: number;
  ids?: Id[]; // by position; none on an anonymous network
  edges?: [number, number][]; // of a tree
  timing: string;
  schedule?: string;
  delay?: number;
  unordered?: boolean;
  seed: Id;
  parameters?: Record<string, string>;
  changed?: string[];
  kinds: Kind[];
  clock: boolean; // whether steps have times
}

/** An identifier or a seed: numbers above 2^53 come as text. */
export type Id = number | string;

export interface Sent {
  message: number; // from 1, in the order of sending
  to: number; // position
  port: number;
  kind: string;
  text?: string;
  copies?: number;
}

export interface Decision {
  role: "leader" | "follower" | "undecided";
  leader?: Id;
  term?: Id;
  lease?: string;
}

/** A step of a trace, and what the lab adds to it. An answer leaves out what whole adds. */
export interface Step {
  step: number; // from 1
  time: string; // in units; "0" without a clock
  process: number; // position
  event: "start" | "receive" | "timeout" | "crash" | "recover" | "suspect" | "trust" | "command" | "fault" | "heal" | "lost";
  message?: number;
  from?: number; // the sender's position + 1
  port: number;
  kind?: string;
  text?: string;
  drew?: { value: number; among: number }[]; // its random choices
  sent?: Sent[];
  timers?: { timer: string; after?: string }[];
  decided?: Decision[];
  state?: string; // after the step: "ID=5 Participant=true"
  broken?: string;
  lines?: number[]; // of the listing, from 1: where the step sent, set timers and decided, or else where its function begins
}

/** What a run is, and all that happened in it. */
export interface RunAnswer {
  run: Run; // the question in full: with all choices of a walk
  call: string; // the command that does the same
  result: RunResult;
  entered?: number[]; // by phase: the candidates that begin it
  header: Header;
  steps: Step[];
  states: string[]; // by position, before the first step
  next?: Offer[]; // of a walk
  faults?: Offer[]; // of a walk
}

/** The object of `ringleader run --json`: the fields that the page reads. */
export interface RunResult {
  leader: Id | null;
  leaders: Id[];
  agreed: boolean;
  complete: boolean;
  messages: { total: number; election: number; announcement: number; overhead: number; by_kind: Record<string, number> };
  by_phase?: number[];
  bound?: { of: string; messages: number; formula: string; holds: boolean };
  violations?: string[];
  [field: string]: unknown;
}

/** A question about a run. */
export interface RunQuestion extends Run {
  walk?: boolean; // turn a scheduled run into a walk: the answer has its events as choices
  until?: number; // … only its first so many steps
  then?: Choice[]; // further events of a walk
  say?: string; // then the events of a line: "partition 1,2 | 3,4,5", "cut 1 -> 2", "transfer 3 to 2", "weigh 3 as 7"
  go?: number; // then that many times the first event that can come next; faults are never
}

/** The answer of a command that prints one JSON object. */
export interface CallAnswer {
  call: string;
  status: 0 | 1 | 3; // 1: the answer is no; 3: stopped at a limit
  result: unknown;
  run?: Run; // of a counterexample, or of the worst case that was found
}

export interface Algorithm {
  name: string;
  title: string;
  year: number;
  source: string;
  about: string;
  topology: string;
  timing: string;
  parameters: { name: string; about: string; default: string; choices?: string[]; whole?: boolean; least?: string; above?: boolean }[];
  bounds: { of: string; case: string; one_start: boolean; formula: string; source: string }[]; // one_start: with a single initiator
  kinds: Kind[];
  [field: string]: unknown;
}

export interface Catalogue {
  version: string;
  algorithms: Algorithm[];
  orders: string[];
  schedules: string[];
  scenarios: { name: string; source: string; about: string; run: string[] }[];
  gallery: { name: string; broken: string; property: string; command: string }[];
  live: boolean; // a group is shown, so live() works
  limits: { processes: number; steps: number; seconds: number };
}

/** A search from the configuration that a walk has reached. */
export interface SearchQuestion extends Run {
  goal: "two-leaders" | "worst";
  faults?: Partial<Record<"crash" | "recover" | "lose" | "duplicate" | "cut" | "suspect-falsely" | "resign", number>>; // further ones, at most
}

export interface SearchAnswer {
  found: boolean;
  exhausted: boolean; // the search saw all that can happen, so that found: false is a proof
  states: number;
  detail: string;
  run?: Run; // the walk, continued to the goal
}

/** The file of an algorithm, for reading beside its run. */
export interface Listing {
  name: string;
  lines: string[];
}

/** A guided story. */
export interface Story {
  name: string;
  title: string;
  source: string;
  about: string;
  chapters: Chapter[];
}

/** A part of a story: a run, and the moments at which it stops. */
export interface Chapter {
  title: string;
  run: Run;
  stops: { moment: string; step: number; text: string[] }[]; // paragraphs
}

/** Something that has a name and a meaning; a formula has its term, too. */
export interface Named {
  name: string;
  words: string;
  term?: string;
}

/** A model that is proved for every number of processes. */
export interface Model {
  name: string;
  title: string;
  theorem: string;
  source: string;
  ring: boolean; // small rings can be searched
  states: Named[];
  actions: Named[];
  invariants: Named[];
  safety: Named[];
  proved: { solver: string; version: string; obligations: number }[];
}

/** A model without some invariants, on a ring of n processes. */
export interface InductionQuestion {
  model: string;
  without: string[];
  n: number;
}

/** A fact of a state, and the position of the process where it is shown; -1: none. */
export interface Fact {
  text: string;
  words: string;
  at: number;
}

/** The smallest counterexample to induction. Without any there is a detail in place of the ring. */
export interface InductionAnswer {
  call: string;
  detail?: string;
  tried?: number; // states
  ring?: string[]; // identifiers, going right
  state?: Fact[];
  step?: Named;
  change?: Fact[];
  broken?: Named[];
  excluding?: Named[]; // of what was left out: what does not hold in the state
}

/** A failed question: its text is one line for people. */
export class Failure extends Error {}

/** Numbers over numbers, to be drawn. */
export interface ChartDrawing {
  title: string;
  subtitle: string;
  notes: string; // small, below
  x: { name: string; log: boolean };
  y: { name: string; log: boolean };
  series: { name: string; look: number; line: "joined" | "thin" | "dashed" | "alone"; marked: boolean; points: [x: number, y: number][] }[];
}

export type Progress = (text: string) => void;

/** All that the page asks. */
export interface Engine {
  catalogue(): Promise<Catalogue>;
  run(question: RunQuestion, progress?: Progress, signal?: AbortSignal): Promise<RunAnswer>;
  /** Calls count, compare, verify or worst; args are words of the command line without --json. */
  call(args: string[], progress?: Progress, signal?: AbortSignal): Promise<CallAnswer>;
  /** Checks one exhibit of the gallery. */
  exhibit(name: string, progress?: Progress, signal?: AbortSignal): Promise<CallAnswer & { answer?: RunAnswer }>;
  search(question: SearchQuestion, progress?: Progress, signal?: AbortSignal): Promise<SearchAnswer>;
  listing(algorithm: string): Promise<Listing>;
  models(): Promise<Model[]>;
  induction(question: InductionQuestion, progress?: Progress, signal?: AbortSignal): Promise<InductionAnswer>;
  stories(): Promise<Story[]>;
  /** Gives a command to the live group, as one would type it. It fails with the reason where it is not obeyed. */
  act(command: string): Promise<void>;
  /** Draws a run as ringleader run --draw and --draw-topology do; gif is the network, step by step. */
  draw(question: Run & { what: "diagram" | "network"; format: "svg" | "png" | "gif" | "jsonl" | "html"; from?: number; to?: number }): Promise<Blob>;
  /** Opens the record of a group: the bytes of a file, or the record of a place that the server reaches; "" is the group that is shown. The answer is the address of a page that plays it. An engine in the page has no such question. */
  incident?: (record: Blob | string, signal?: AbortSignal) => Promise<string>;
  /** Draws a chart with the look of ringleader compare --draw, in SVG. */
  chart(chart: ChartDrawing): Promise<Blob>;
}
