/** What the file said at one moment. */
export interface State {
  /** This process leads at the moment of the reading. */
  readonly valid: boolean;
  /** Why it does not lead; "" if it does. */
  readonly reason: string;
  /** The term in the file, as a hint; a fencing term is Lease.term(). */
  readonly term: bigint;
  /** What the leader published, as a hint. */
  readonly value: Buffer;
  readonly member: bigint;
  readonly group: string;
  /** Milliseconds until the lease ends; 0 if not valid. */
  readonly remaining: number;
}

/** The lease file of one member. Linux only. */
export class Lease {
  /**
   * Reads the file at a path, or at $RINGLEADER_LEASE. The file may appear later, and may be replaced. Throws if there
   * is no path.
   */
  constructor(path?: string);
  readonly path: string;
  /** Reports whether this process leads now. It throws nothing: without a readable file, it does not lead. */
  valid(): boolean;
  /** Returns the fencing term if this process leads now, or null. */
  term(): bigint | null;
  /** Returns what the leader published, as this member knows it. */
  value(): Buffer;
  /** Returns all that the file says now. */
  read(): State;
  /** Resolves to the term when this process leads. Rejects after so many milliseconds, or when the signal aborts. */
  wait(options?: { timeout?: number; signal?: AbortSignal }): Promise<bigint>;
  /**
   * Yields the state now, and then each time that validity, term or value has changed, until the signal aborts. It looks
   * every 5 milliseconds: it may miss a state that is shorter.
   */
  changes(options?: { signal?: AbortSignal }): AsyncGenerator<State, void, void>;
  /** Closes the file. The lease is not valid from then on. */
  close(): void;
}
