// Labels that do not cover each other: one that has no room is left out.

export interface Box {
  x: number; // of the middle
  y: number;
  width: number;
  height: number;
}

/** A name in so many characters: its end, by which long identifiers differ. */
export function ending(name: string, characters: number): string {
  return name.length <= characters ? name : `…${name.slice(name.length - Math.max(1, characters - 1))}`;
}

export class Labels {
  private readonly taken: Box[];

  /** Labels beside things that are there. */
  constructor(things: Box[] = []) {
    this.taken = things;
  }

  /** Takes the first of these places that is free, if one is. */
  place(...places: Box[]): Box | undefined {
    const free = places.find((box) => !this.taken.some((other) => overlap(box, other)));
    if (free !== undefined) this.taken.push(free);
    return free;
  }
}

function overlap(a: Box, b: Box): boolean {
  return 2 * Math.abs(a.x - b.x) < a.width + b.width && 2 * Math.abs(a.y - b.y) < a.height + b.height;
}
