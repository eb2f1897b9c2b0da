// The stops of a story in a row, and the addresses of them.

import { writeAddress } from "../address";
import type { Chapter, Story } from "../engine";

/** A stop, and where it stands. */
export interface Place {
  chapter: number;
  stop: number;
  of: Chapter;
  step: number;
  moment: string;
  text: string[];
  from: number; // the step at which the way to it begins
}

export function places(story: Story): Place[] {
  return story.chapters.flatMap((of, chapter) =>
    of.stops.map((s, stop): Place => ({ chapter, stop, of, step: s.step, moment: s.moment, text: s.text, from: of.stops[stop - 1]?.step ?? 0 })),
  );
}

/** The address of a stop; stops count from 1. Without one, that of the first. */
export function storyAddress(story: string, stop?: number | "handout"): string {
  return writeAddress({ view: "stories", rest: stop === undefined ? [story] : [story, String(stop)] });
}
