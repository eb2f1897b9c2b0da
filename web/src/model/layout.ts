// Where processes are: those of rings and complete graphs on a circle, clockwise from the top; those of a tree around its middle.

import type { Header } from "../engine";

export interface Place {
  x: number; // from -1 to 1
  y: number;
}

export const isRing = (header: Header): boolean => header.topology === "ring";

/** The places of all processes. */
export function places(header: Header): Place[] {
  if (header.n === 1) return [{ x: 0, y: isRing(header) ? -1 : 0 }];
  if (header.topology === "tree" && header.edges !== undefined) return treePlaces(header.n, header.edges);
  return Array.from({ length: header.n }, (_, p) => polar(1, p / header.n));
}

function polar(radius: number, turn: number): Place {
  const angle = 2 * Math.PI * turn - Math.PI / 2;
  return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
}

/** The links, as pairs of positions; those of a large complete graph are a background only. */
export function links(header: Header): [number, number][] {
  const { n } = header;
  if (n < 2) return [];
  if (isRing(header)) return n === 2 ? [[0, 1], [1, 0]] : Array.from({ length: n }, (_, p) => [p, (p + 1) % n]);
  if (header.topology === "tree") return header.edges ?? [];
  const all: [number, number][] = [];
  for (let p = 0; p < n; p++) for (let q = 0; q < p; q++) all.push([q, p]);
  return all;
}

/** Whether a message on a ring goes clockwise: on a ring of two, both links lead to the same process. */
export function isClockwise(n: number, from: number, to: number, port: number): boolean {
  return n <= 2 ? port === 0 : to === (from + 1) % n;
}

interface Walk {
  order: number[];
  parent: number[]; // -1: unlinked
}

function breadthFirst(neighbours: number[][], root: number): Walk {
  const parent = neighbours.map(() => -1);
  parent[root] = root;
  const order = [root];
  for (const p of order) {
    for (const q of neighbours[p]!) {
      if (parent[q] === -1) {
        parent[q] = p;
        order.push(q);
      }
    }
  }
  return { order, parent };
}

/** The middle of a longest path is in the middle; the distance is the number of links; a branch has a sector by its leaves. */
function treePlaces(n: number, edges: [number, number][]): Place[] {
  const neighbours: number[][] = Array.from({ length: n }, () => []);
  for (const [p, q] of edges) {
    neighbours[p]!.push(q);
    neighbours[q]!.push(p);
  }
  const end = breadthFirst(neighbours, 0).order.at(-1)!;
  const across = breadthFirst(neighbours, end);
  const path = [across.order.at(-1)!];
  while (path.at(-1) !== end) path.push(across.parent[path.at(-1)!]!);
  const root = path[path.length >> 1]!;
  const { order, parent } = breadthFirst(neighbours, root);
  const leaves = new Array<number>(n).fill(0);
  for (const p of order.toReversed()) {
    leaves[p] = Math.max(1, leaves[p]!);
    if (p !== root) leaves[parent[p]!]! += leaves[p]!;
  }
  const depth = new Array<number>(n).fill(0);
  const begin = new Array<number>(n).fill(0);
  const next = new Array<number>(n).fill(0);
  for (const p of order) {
    if (p !== root) {
      depth[p] = depth[parent[p]!]! + 1;
      begin[p] = next[parent[p]!]!;
      next[parent[p]!]! += leaves[p]!;
    }
    next[p] = begin[p]!;
  }
  const farthest = Math.max(1, ...depth);
  return depth.map((d, p) => polar(d / farthest, (begin[p]! + leaves[p]! / 2) / leaves[root]!));
}

/** The least distance of two places. */
export function nearest(all: Place[]): number {
  let least = 2;
  for (let p = 0; p < all.length; p++) {
    for (let q = 0; q < p; q++) least = Math.min(least, Math.hypot(all[p]!.x - all[q]!.x, all[p]!.y - all[q]!.y));
  }
  return least;
}
