// Each view has an address that reproduces it: #/run?run=lcr&run=--n%3D5&at=12. The address is the state of the page.

import { useEffect, useState } from "preact/hooks";
import type { Choice, Run } from "./engine";

export interface Address {
  view: string; // the first word of the path: run, costs, race, verify, gallery, proofs, stories, live, incident
  rest: string[]; // the other words
  query: URLSearchParams;
}

export function readAddress(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view = "", ...rest] = path.split("/").map(decoded);
  return { view: view === "" ? "run" : view, rest, query: new URLSearchParams(query) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // as it was typed
  }
}

export function writeAddress(a: { view: string; rest?: string[]; query?: URLSearchParams }): string {
  const path = [a.view, ...(a.rest ?? [])].map(encodeURIComponent).join("/");
  const query = a.query?.toString() ?? "";
  return `#/${path}${query === "" ? "" : "?" + query}`;
}

/** Adds a run to a query. */
export function putRun(query: URLSearchParams, run: Run): void {
  query.delete("run");
  query.delete("walk");
  for (const word of run.run) query.append("run", word);
  query.delete("choices");
  if (run.choices === undefined) return;
  if (run.choices.every((c: unknown) => typeof c === "string")) query.set("walk", run.choices.join(""));
  else query.set("choices", JSON.stringify(run.choices)); // as it was read
}

/** The run in a query, if there is one. */
export function getRun(query: URLSearchParams): Run | undefined {
  const run = query.getAll("run");
  if (run.length === 0) return undefined;
  const walk = query.get("walk");
  if (walk !== null) return { run, choices: walk.match(event) ?? [] };
  const choices = query.get("choices"); // addresses of earlier versions have the events as JSON
  return choices === null ? { run } : { run, choices: parsed(choices) };
}

/** An event in the text of a walk; whatever else is there is one that the engine complains of. */
const event = /[a-z][\d.]*(?:_\d+)?(?:-\d+)?(?:\([^()]*\))?|.+/gs;

function parsed(choices: string): Choice[] {
  try {
    const all: unknown = JSON.parse(choices);
    if (Array.isArray(all)) return all as Choice[];
  } catch {
    // The engine complains of it.
  }
  return [choices];
}

/** The path of an address. */
function place(hash: string): string {
  const { view, rest } = readAddress(hash);
  return [view, ...rest].join("/");
}

/** The address that the page shows, or is about to show. */
let seen = location.hash;

/**
 * Goes to an address; replace keeps the history of the browser as it is. A view that the page has left meanwhile replaces nothing, and an address
 * that the page has not heard of yet is not replaced.
 */
export function go(address: string, replace = false): void {
  if (replace) {
    if (location.hash !== seen || place(address) !== place(location.hash)) return;
    history.replaceState(null, "", address);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = address;
  }
}

/** The address, as it changes. */
export function useAddress(): Address {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = (): void => {
      seen = location.hash;
      setHash(seen);
    };
    changed(); // it may have since the page was drawn
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return readAddress(hash);
}
