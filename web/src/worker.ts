// The engines in workers of the page, which may be a file: the same questions and lines as over HTTP. A worker computes one question at a time. It cannot be
// interrupted, so a question that is cancelled ends its worker; the next one starts from the compiled module.

import { Failure, type Story } from "./engine";
import { parse, type Asker } from "./http";

/** What the page tells a worker: the engines first, then questions. */
export type ToWorker = { module: WebAssembly.Module } | { ask: string; body: string };

/** What a worker tells the page. */
export type FromWorker = { line: string } | { done: true };

/** The number of questions that are computed at a time. */
const most = 2;

/** Whether the page was opened as a file, from which browsers fetch nothing and start no worker. */
const fromDisk = location.protocol === "file:";

/** What a page from disk has in a script, in place of the files that it cannot fetch. */
interface Held {
  worker: string; // the script of a worker
  engines: string; // lab.wasm.gz, in base64
  stories: Story[];
}

let holding: Promise<Held> | undefined;

/** What lab-disk.js holds. */
function held(): Promise<Held> {
  holding ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "lab-disk.js";
    script.onload = () => resolve((window as unknown as { lab: Held }).lab);
    script.onerror = () => {
      holding = undefined;
      reject(new Failure("This page is a file, and lab-disk.js is not beside it. Keep the files of the site together, or serve their folder: python3 -m http.server"));
    };
    document.head.append(script);
  });
  return holding;
}

export function overWorkers(): Asker {
  let module: Promise<WebAssembly.Module> | undefined;
  const idle: Worker[] = [];
  const waiting: (() => void)[] = [];
  let used = 0;

  /** Waits for a place, and returns a worker. */
  async function take(loading: () => void): Promise<Worker> {
    if (used >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else used++;
    const kept = idle.pop();
    if (kept !== undefined) return kept;
    if (module === undefined) {
      loading();
      module = compile();
      module.catch(() => (module = undefined));
    }
    const worker = new Worker(fromDisk ? URL.createObjectURL(new Blob([(await held()).worker], { type: "text/javascript" })) : "lab-worker.js");
    worker.postMessage({ module: await module } satisfies ToWorker);
    return worker;
  }

  /** Hands the place on. */
  function leave(): void {
    const next = waiting.shift();
    if (next !== undefined) next();
    else used--;
  }

  return async (ask, body, line, signal) => {
    try {
      const worker = await take(() => line(JSON.stringify({ progress: "loading the engines" })));
      const kept = await answered(worker, ask, body, line, signal);
      if (kept) idle.push(worker);
      else worker.terminate();
      signal?.throwIfAborted();
    } finally {
      leave();
    }
  };
}

/** Asks a worker, and reports whether it can be asked again. */
function answered(worker: Worker, ask: string, body: string, line: (text: string) => void, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const abort = (): void => end(false);
    const end = (kept: boolean): void => {
      signal?.removeEventListener("abort", abort);
      worker.onmessage = worker.onerror = null;
      resolve(kept);
    };
    if (signal?.aborted) return end(true);
    signal?.addEventListener("abort", abort);
    worker.onmessage = (event: MessageEvent<FromWorker>) => {
      if ("line" in event.data) line(event.data.line);
      else end(true);
    };
    worker.onerror = (event) => {
      line(JSON.stringify({ error: `The engines stopped: ${event.message}` }));
      end(false);
    };
    worker.postMessage({ ask, body } satisfies ToWorker);
  });
}

/** The stories that were exported with the page. */
export async function exportedStories(): Promise<Story[]> {
  if (fromDisk) return (await held()).stories;
  const reply = await fetch("stories.json").catch(() => undefined);
  if (reply === undefined || !reply.ok) throw new Failure("The stories of this site, stories.json, cannot be loaded.");
  return parse<Story[]>(await reply.text());
}

/** Loads the engines, which a host may send compressed or not. */
async function compile(): Promise<WebAssembly.Module> {
  const bytes = new Blob([fromDisk ? Uint8Array.from(atob((await held()).engines), (c) => c.charCodeAt(0)) : await fetched()]);
  const start = new Uint8Array(await bytes.slice(0, 2).arrayBuffer());
  const packed = start[0] === 0x1f && start[1] === 0x8b;
  const plain = packed ? bytes.stream().pipeThrough(new DecompressionStream("gzip")) : bytes.stream();
  return WebAssembly.compileStreaming(new Response(plain, { headers: { "Content-Type": "application/wasm" } }));
}

async function fetched(): Promise<ArrayBuffer> {
  const reply = await fetch("lab.wasm.gz").catch(() => undefined);
  if (reply === undefined || !reply.ok) throw new Failure("The engines, lab.wasm.gz, cannot be loaded.");
  return reply.arrayBuffer();
}
