// Each view has an address that reproduces it: #/run?run=lcr&run=--n%3D5&at=12. The address is the state of the page.

import { useEffect, useState } from "preact/hooks";
import type { Choice, Run } from "./engine";

export interface Address {
  view: string; // the first word of the path: run, costs, race, verify, gallery, stories, live
  rest: string[]; // the other words
  query: URLSearchParams;
}

export function readAddress(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [view = "", ...rest] = path.split("/").map(decodeURIComponent);
  return { view: view === "" ? "run" : view, rest, query: new URLSearchParams(query) };
}

export function writeAddress(a: { view: string; rest?: string[]; query?: URLSearchParams }): string {
  const path = [a.view, ...(a.rest ?? [])].map(encodeURIComponent).join("/");
  const query = a.query?.toString() ?? "";
  return `#/${path}${query === "" ? "" : "?" + query}`;
}

/** Adds a run to a query. */
export function putRun(query: URLSearchParams, run: Run): void {
  query.delete("run");
  query.delete("choices");
  for (const word of run.run) query.append("run", word);
  if (run.choices !== undefined) query.set("choices", JSON.stringify(run.choices));
}

/** The run in a query, if there is one. */
export function getRun(query: URLSearchParams): Run | undefined {
  const run = query.getAll("run");
  if (run.length === 0) return undefined;
  const choices = query.get("choices");
  if (choices === null) return { run };
  try {
    const parsed: unknown = JSON.parse(choices);
    return Array.isArray(parsed) ? { run, choices: parsed as Choice[] } : { run };
  } catch {
    return { run };
  }
}

/** The path of an address. */
function place(hash: string): string {
  const { view, rest } = readAddress(hash);
  return [view, ...rest].join("/");
}

/** Goes to an address; replace keeps the history of the browser as it is. A view that the page has left meanwhile replaces nothing. */
export function go(address: string, replace = false): void {
  if (replace) {
    if (place(address) !== place(location.hash)) return;
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
    const changed = (): void => setHash(location.hash);
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return readAddress(hash);
}
