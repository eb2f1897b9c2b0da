// The clock of a race: several runs move with it, each as far as it has come by then.

import { Playback } from "../model/playback";
import type { RunModel } from "../model/run";

export type Clock = "time" | "steps";

/** Where a run is, at each place of the clock. */
export class Course {
  private readonly times: number[]; // of the steps, not falling
  constructor(
    readonly run: RunModel,
    readonly clock: Clock,
  ) {
    this.times = run.steps.map((s, i) => (clock === "time" ? Number(s.time) : i + 1));
  }

  /** The place of the clock at which the run ends. */
  get length(): number {
    return this.times.at(-1) ?? 0;
  }

  /** The number of steps up to a place of the clock. Between two times, the steps of the second one happen. */
  x(at: number): number {
    const done = this.upTo(at);
    if (done === this.times.length || done === 0) return done;
    const [from, to] = [this.times[done - 1]!, this.times[done]!];
    return done + ((at - from) / (to - from)) * (this.upTo(to) - done);
  }

  private upTo(at: number): number {
    let [low, high] = [0, this.times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle]! <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Makes the lanes follow the clock, until the returned function is called. */
export function follow(clock: Playback, courses: Course[], lanes: Playback[]): () => void {
  const set = (): void => lanes.forEach((lane, i) => {
    const course = courses[i]!;
    lane.seek(course.x(clock.x));
  });
  set();
  return clock.hear(set);
}

/** The clock of a race: it takes some seconds, however long the runs are. */
export function clockOf(courses: Course[], at: number): Playback {
  const length = Math.max(0, ...courses.map((c) => c.length));
  return new Playback(length, Math.min(at, length), Math.max(0.5, length / 15));
}
