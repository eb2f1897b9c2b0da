// Where a player is in a run. It knows no clock and no screen: a frame hands it the time that has passed.

/** Steps a second. */
export const speeds = [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 512, 2048, 8192];

const glide = 0.28; // seconds for a step that was asked for

export class Playback {
  /** The place in the run, in steps: between two whole numbers, a step is happening. */
  x: number;
  playing = false;
  speed: number;
  /** Whether a step jumps to its end, because motion is not wanted. */
  still = false;
  private goal: number | undefined;
  private readonly hearers = new Set<() => void>();

  constructor(
    public length: number,
    at = length,
    speed?: number,
  ) {
    this.x = clamp(at, length);
    this.speed = speed ?? speeds.find((s) => s >= length / 60 && s >= 2) ?? speeds.at(-1)!;
  }

  /** The number of steps taken: a step counts from its middle on, when its message has arrived. */
  get at(): number {
    return Math.round(this.x);
  }

  /** Whether frames must follow: it plays, or glides to where it was asked to go. */
  get moving(): boolean {
    return this.playing || this.goal !== undefined;
  }

  /** The place that it is at, or glides to. */
  get target(): number {
    return this.goal ?? this.at;
  }

  play(): void {
    if (this.length === 0) return;
    if (this.x >= this.length) this.x = 0;
    this.goal = undefined;
    this.playing = true;
    this.changed();
  }

  pause(): void {
    if (!this.playing) return;
    this.playing = false;
    this.go(Math.ceil(this.x), true);
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  /** Goes so many steps forward, or back. */
  step(by: number): void {
    this.playing = false;
    this.go(this.target + by, Math.abs(by) === 1);
  }

  /** Jumps to a moment. */
  seek(at: number): void {
    this.playing = false;
    this.go(at, false);
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.changed();
  }

  /** Takes the length of another run, or of the same one after it has grown. Hearers are not called. */
  resize(length: number): void {
    this.length = length;
    this.x = clamp(this.x, length);
    this.goal = undefined;
  }

  /** Goes to a moment: a step on, it glides. */
  reach(at: number): void {
    if (at === this.target) return;
    if (at === this.target + 1) this.step(1);
    else this.seek(at);
  }

  /** Lets seconds pass. */
  tick(seconds: number): void {
    if (this.goal !== undefined) {
      const by = seconds / glide;
      const rest = this.goal - this.x;
      if (Math.abs(rest) <= by) {
        this.x = this.goal;
        this.goal = undefined;
      } else {
        this.x += Math.sign(rest) * by * Math.max(1, Math.abs(rest));
      }
    } else if (this.playing) {
      this.x = this.still ? this.jumped(seconds) : this.x + seconds * this.speed;
      if (this.x >= this.length) {
        this.x = this.length;
        this.playing = false;
      }
    } else {
      return;
    }
    this.changed();
  }

  /** Calls back after each change, until the returned function is called. */
  hear(hearer: () => void): () => void {
    this.hearers.add(hearer);
    return () => this.hearers.delete(hearer);
  }

  private waited = 0;

  private jumped(seconds: number): number {
    this.waited += seconds * this.speed;
    const whole = Math.floor(this.waited);
    this.waited -= whole;
    return this.at + whole;
  }

  private go(to: number, gliding: boolean): void {
    const goal = clamp(to, this.length);
    if (gliding && !this.still) {
      this.goal = goal;
    } else {
      this.x = goal;
      this.goal = undefined;
    }
    this.changed();
  }

  private changed(): void {
    for (const hearer of [...this.hearers]) hearer();
  }
}

function clamp(at: number, length: number): number {
  return Number.isFinite(at) ? Math.min(Math.max(0, at), length) : length;
}
