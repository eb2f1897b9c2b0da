// The answers of compare and count, as far as charts need them.

import { numberOf } from "./numbers";

/** A point of ringleader compare --json. */
export interface Point {
  algorithm: string;
  n: number;
  order: string | null;
  found: string;
  messages: { total: unknown; election: { mean: unknown }; announcement: { mean: unknown } };
  time: { elected: { mean: unknown }; quiet: { mean: unknown } } | null;
  bound?: { of: string; formula: string; messages: unknown };
  average?: { formula: string; exact: unknown };
}

/** What is drawn of the messages: those of the election, or all. */
export type Of = "election" | "total";

export function measured(point: Point, of: Of): number | undefined {
  return numberOf(of === "election" ? point.messages.election.mean : point.messages.total);
}

/** The worst case, where one is declared of these messages. One of all messages is one of those of the election, too. */
export function limit(point: Point, of: Of): number | undefined {
  const covers = point.bound !== undefined && (point.bound.of === "total" || point.bound.of === of);
  return covers ? numberOf(point.bound?.messages) : undefined;
}

/** The exact mean over all orders, which is one of the messages of the election. */
export function average(point: Point, of: Of): number | undefined {
  return of === "election" ? numberOf(point.average?.exact) : undefined;
}

/** A label as compare writes it: its parameters are in the order of their names. */
export function canonical(label: string): string {
  const [name = "", parameters] = label.split(/:(.*)/s);
  return parameters === undefined ? name : `${name}:${parameters.split(",").sort().join(",")}`;
}

/** The points of an answer. */
export function points(result: unknown): Point[] {
  return (result as { points: Point[] }).points;
}
