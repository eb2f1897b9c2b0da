// A worker of the page: it runs the engines, compiled to WebAssembly by Go, and hands them the questions.

import type { FromWorker, ToWorker } from "./worker";

/** What wasm_exec.js of Go and the engines define. */
const defined = self as unknown as {
  Go?: new () => { importObject: WebAssembly.Imports; run(instance: WebAssembly.Instance): Promise<void> };
  ringleader: (ask: string, body: string, line: (text: string) => void, done: () => void) => void;
};

declare function importScripts(address: string): void;

const glue = "wasm_exec.js"; // a file of its own, which the Go that compiled the engines has; a page from disk hands it over with this script
let ready: Promise<void> | undefined;

async function start(module: WebAssembly.Module): Promise<void> {
  if (defined.Go === undefined) importScripts(glue);
  const go = new defined.Go!();
  const end = (): never => {
    throw new Error("they ended");
  };
  void go.run(await WebAssembly.instantiate(module, go.importObject)).then(() => setTimeout(end)); // an error of the worker
}

function tell(what: FromWorker): void {
  postMessage(what);
}

onmessage = async (event: MessageEvent<ToWorker>) => {
  const what = event.data;
  if ("module" in what) {
    ready = start(what.module);
    ready.catch(() => undefined); // the question that waits for it reports this
    return;
  }
  try {
    await ready;
    defined.ringleader(what.ask, what.body, (line) => tell({ line }), () => tell({ done: true }));
  } catch (error) {
    tell({ line: JSON.stringify({ error: `The engines do not start: ${String(error)}` }) });
    tell({ done: true });
  }
};
