// The engine over HTTP: each question is one POST, and the answer is JSON lines: any number of {"progress": TEXT}, then one
// {"answer": VALUE} or {"error": TEXT}. The engine in a worker has the same questions and lines.

import { Failure, type CallAnswer, type Catalogue, type Engine, type InductionAnswer, type Listing, type Model, type Progress, type RunAnswer, type RunQuestion, type SearchAnswer, type SearchQuestion, type Story } from "./engine";
import { whole } from "./model/whole";

/** A way to ask: it hands over the lines of the answer as they come. */
export type Asker = (ask: string, body: string, line: (text: string) => void, signal?: AbortSignal) => Promise<void>;

interface Line {
  progress?: string;
  answer?: unknown;
  error?: string;
}

/** Parses JSON. A whole number that a double cannot hold becomes a text. */
export function parse<T>(text: string): T {
  if (!/[:,[]\d{16}/.test(text)) return JSON.parse(text) as T;
  return JSON.parse(text, function (_key: string, value: unknown, context?: { source?: string }) {
    const source = context?.source;
    return typeof value === "number" && source !== undefined && /^\d{16,}$/.test(source) && !Number.isSafeInteger(value) ? source : value;
  } as (key: string, value: unknown) => unknown) as T;
}

/** Asks over HTTP. */
export const overHTTP: Asker = (ask, body, line, signal) => post(ask, body, "application/json", line, signal);

async function post(ask: string, body: string | Blob, type: string, line: (text: string) => void, signal?: AbortSignal): Promise<void> {
  const reply = await fetch(`api/${ask}`, { method: "POST", headers: { "Content-Type": type }, body, ...(signal ? { signal } : {}) }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Failure("The server of the lab does not answer. Is ringleader lab still running?");
  });
  if (reply.body === null) throw new Failure(`The server answered ${reply.status} without a text.`);
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  const parts: string[] = []; // of the line that has not ended
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = value.split("\n");
    parts.push(lines[0] ?? "");
    for (const next of lines.slice(1)) {
      line(parts.join(""));
      parts.splice(0, parts.length, next);
    }
  }
  const rest = parts.join("");
  if (rest !== "") line(rest);
}

/** Opens a record by the server: see Engine. */
export async function incident(record: Blob | string, signal?: AbortSignal): Promise<string> {
  const [body, type] = typeof record === "string" ? [JSON.stringify({ place: record }), "application/json"] : [record, "application/octet-stream"];
  const found: Line[] = [];
  await post("incident", body, type, (text) => text !== "" && found.push(parse<Line>(text)), signal);
  const failed = found.find((line) => line.error !== undefined);
  if (failed !== undefined) throw new Failure(failed.error);
  const answer = found.find((line) => line.answer !== undefined)?.answer as { page: string } | undefined;
  if (answer === undefined) throw new Failure("The answer ended before it was complete.");
  return answer.page;
}

interface File64 {
  type: string;
  base64: string;
}

const blob = (file: File64): Blob => new Blob([Uint8Array.from(atob(file.base64), (c) => c.charCodeAt(0))], { type: file.type });

/** The engine behind a way to ask. More are stories that are not the engine's. */
export function engineOver(asker: Asker, more: () => Promise<Story[]> = async () => []): Engine {
  async function answer<T>(ask: string, question: unknown, progress?: Progress, signal?: AbortSignal): Promise<T> {
    let found: { value: T } | undefined;
    let failed: string | undefined;
    await asker(
      ask,
      JSON.stringify(question),
      (text) => {
        if (text === "") return;
        const line = parse<Line>(text);
        if (line.progress !== undefined) progress?.(line.progress);
        if (line.error !== undefined) failed = line.error;
        if (line.answer !== undefined) found = { value: line.answer as T };
      },
      signal,
    );
    if (failed !== undefined) throw new Failure(failed);
    if (found === undefined) throw new Failure("The answer ended before it was complete.");
    return found.value;
  }
  return {
    catalogue: async () => {
      const found = await answer<Catalogue>("catalogue", {});
      const algorithms = found.algorithms.map((a) => ({ ...a, parameters: a.parameters ?? [], bounds: a.bounds ?? [] })); // empty lists are null in Go
      return { ...found, algorithms };
    },
    run: async (question: RunQuestion, progress, signal) => whole(await answer<RunAnswer>("run", question, progress, signal)),
    call: (args, progress, signal) => answer<CallAnswer>("call", { args }, progress, signal),
    exhibit: async (name, progress, signal) => {
      const found = await answer<CallAnswer & { answer?: RunAnswer }>("exhibit", { name }, progress, signal);
      return found.answer === undefined ? found : { ...found, answer: whole(found.answer) };
    },
    search: (question: SearchQuestion, progress, signal) => answer<SearchAnswer>("search", question, progress, signal),
    models: () => answer<Model[]>("models", {}),
    induction: (question, progress, signal) => answer<InductionAnswer>("induction", question, progress, signal),
    listing: (algorithm) => answer<Listing>("listing", { algorithm }),
    act: (command) => answer<void>("act", { command }),
    stories: async () => (await Promise.all([answer<Story[]>("stories", {}), more()])).flat(),
    draw: async (question) => blob(await answer<File64>("draw", question)),
    chart: async (chart) => blob(await answer<File64>("chart", chart)),
  };
}
