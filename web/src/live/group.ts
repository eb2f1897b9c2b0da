// A running group, as the server of the lab sends it: a stream of states. Times are milliseconds since the observation began, by the
// clock of the server; identifiers and terms are text.

export interface Member {
  id: string;
  place?: string;
  pid?: number;
  condition: "asking" | "running" | "paused" | "ended" | "silent" | "unasked";
  problem?: string;
  role?: string; // leader, follower or electing
  leader?: string;
  term?: string;
  lease?: { left: number; of: number };
  grants?: { by: string; left: number }[]; // on which its lease rests
  slow?: boolean;
  witness?: boolean;
  standby?: boolean;
  unable?: string;
  why?: string[];
  misses?: string[];
}

export interface Reign {
  leader: string;
  term?: string;
  from: number;
  before?: boolean;
  until?: number; // of one that goes on: when its lease ends
  goes?: boolean;
}

export interface Line {
  number: number;
  at: number;
  kind: "command" | "fault" | "change" | "leader" | "remark";
  text: string;
}

export interface State {
  now: number;
  title: string;
  algorithm?: string;
  acts: boolean;
  members: Member[];
  cut?: [string, string][];
  reigns: Reign[];
  lines?: Line[];
  last: number;
}

/** A group and the connection over which it is seen. Views hear of changes; leases that are only renewed are no change of the view. */
export class Group {
  state: State | undefined;
  lines: Line[] = [];
  problem = "Waiting for the group …"; // empty: states arrive
  private begun = Infinity; // performance.now() of the beginning
  private source: EventSource | undefined;
  private retry = 0;
  private shown = "";
  private readonly views = new Set<() => void>();
  private readonly leases = new Set<() => void>();

  constructor(private readonly address: string) {}

  /**
   * Opens the stream while the page is seen; the returned function closes it. A browser has six connections to a server, which streams of pages in
   * the background would take. The server keeps what such a page misses.
   */
  open(): () => void {
    const turned = (): void => {
      this.close();
      if (!document.hidden) this.connect();
    };
    turned();
    document.addEventListener("visibilitychange", turned);
    return () => {
      document.removeEventListener("visibilitychange", turned);
      this.close();
    };
  }

  private close(): void {
    clearTimeout(this.retry);
    this.source?.close();
  }

  private connect(): void {
    const source = new EventSource(this.address);
    this.source = source;
    let first = true; // the first state of a stream has all lines
    source.onopen = () => (first = true);
    source.onmessage = (event: MessageEvent<string>) => {
      this.take(JSON.parse(event.data) as State, first);
      first = false;
    };
    source.onerror = () => {
      this.problem = "The lab does not answer; it may have ended. What follows is its last state.";
      this.changed();
      if (source.readyState !== EventSource.CLOSED) return;
      this.retry = window.setTimeout(() => this.connect(), 2000);
    };
  }

  private take(state: State, first: boolean): void {
    const begun = performance.now() - state.now; // the least is the one with the shortest way
    this.begun = first || begun > this.begun + 1000 ? begun : Math.min(this.begun, begun);
    this.lines = [...(first ? [] : this.lines), ...(state.lines ?? [])].slice(-300);
    this.state = state;
    this.problem = "";
    const { members, cut, reigns, last } = state;
    const shown = JSON.stringify([members.map((m) => ({ ...m, lease: m.lease !== undefined, grants: m.grants?.map((g) => g.by) })), cut, reigns.map((r) => (r.goes ? { ...r, until: 0 } : r)), last, first]);
    if (shown !== this.shown) {
      this.shown = shown;
      this.changed();
    }
    for (const hearer of this.leases) hearer();
  }

  private changed(): void {
    for (const hearer of this.views) hearer();
  }

  /** The time by the clock of the group. */
  now(): number {
    return this.state === undefined ? 0 : Math.max(this.state.now, this.problem === "" ? performance.now() - this.begun : 0);
  }

  /** What is left of the lease of a member, and of how much. */
  lease(id: string): { left: number; of: number } | undefined {
    const lease = this.state?.members.find((m) => m.id === id)?.lease;
    if (lease === undefined || this.state === undefined) return undefined;
    const left = lease.left - (this.now() - this.state.now);
    return left > 0 ? { left, of: lease.of } : undefined;
  }

  /** What is left of the grant of a member to a leader, and of how much. */
  grant(by: string, to: string): { left: number; of: number } | undefined {
    const leader = this.state?.members.find((m) => m.id === to);
    const grant = leader?.grants?.find((g) => g.by === by);
    if (leader === undefined || grant === undefined || this.state === undefined) return undefined;
    const left = grant.left - (this.now() - this.state.now);
    return left > 0 ? { left, of: Math.max(left, leader.lease?.of ?? 0) } : undefined;
  }

  /** Calls back after changes of what is shown, until the returned function is called. */
  hear(hearer: () => void): () => void {
    this.views.add(hearer);
    return () => this.views.delete(hearer);
  }

  /** Calls back after every state. */
  hearLeases(hearer: () => void): () => void {
    this.leases.add(hearer);
    return () => this.leases.delete(hearer);
  }
}

/** A time or a duration in words. */
export function inWords(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  if (ms < 10_000) return `${ms.toFixed(0)} ms`;
  return ms < 600_000 ? `${(ms / 1000).toFixed(1)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

/** A moment, as the output of a demo has it. */
export const moment = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

/** The state of a member in words. */
export function inState(m: Member): string {
  const said: Record<Member["condition"], string> = {
    asking: "is being asked", running: "starting", paused: "paused", ended: "not running", silent: "does not answer", unasked: "named by others; not asked",
  };
  if (m.condition !== "running") return said[m.condition];
  const term = m.term === undefined ? "" : ` in term ${m.term}`;
  if (m.role === "leader") return `leader${term}`;
  if (m.leader !== undefined) return `follower of ${m.leader}${term}`;
  return m.role === undefined ? said.running : "electing";
}

/** The last leader that leads now, as far as it is known. */
export function leaderOf(state: State): Member | undefined {
  return state.members.filter((m) => m.condition === "running" && m.role === "leader").sort((a, b) => Number(a.term ?? 0) - Number(b.term ?? 0)).at(-1);
}

/** A time without a leader, or with two, before a reign. */
export interface Passage {
  reign: Reign;
  end: number; // of the reign, or now
  goes: boolean; // it goes on
  gap: number; // ms without a leader before it; below 0: together with one before
}

/** The reigns and what is between them, by their beginnings. */
export function passages(reigns: Reign[], now: number): Passage[] {
  let covered = 0;
  return reigns.map((reign) => {
    const until = reign.until ?? Infinity;
    const end = Math.max(reign.from, Math.min(now, until));
    const passage = { reign, end, goes: reign.goes === true && now <= until, gap: reign.before ? 0 : reign.from - Math.min(covered, end) };
    covered = Math.max(covered, end);
    return passage;
  });
}
