// Answers about runs: asked once, and kept for as long as the page may come back to them.

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Catalogue, Engine, Run, RunAnswer } from "../../engine";

const kept = new Map<string, RunAnswer>();
const most = 24;

const keyOf = (run: Run): string => JSON.stringify([run.run, run.choices]);

/** Keeps an answer under its own question. */
export function keep(answer: RunAnswer): RunAnswer {
  keepFor(answer, answer.run);
  return answer;
}

function keepFor(answer: RunAnswer, ...asked: Run[]): void {
  for (const key of asked.map(keyOf)) {
    kept.delete(key);
    kept.set(key, answer);
  }
  for (const key of kept.keys()) {
    if (kept.size <= most) break;
    kept.delete(key);
  }
}

export interface Asked<T> {
  answer?: T;
  error?: string;
  progress?: string;
  busy: boolean;
}

/** The answer about a run. The last answer remains until the next one has come. */
export function useRunAnswer(engine: Engine, run: Run | undefined): Asked<RunAnswer> {
  const key = run === undefined ? "" : keyOf(run);
  const [asked, setAsked] = useState<Asked<RunAnswer> & { key: string }>({ key: "", busy: true });
  const known = kept.get(key);
  useEffect(() => {
    if (run === undefined || known !== undefined) return;
    const stop = new AbortController();
    setAsked((was) => ({ key, busy: true, ...(was.answer ? { answer: was.answer } : {}) }));
    engine.run(run, (progress) => setAsked((was) => ({ ...was, progress })), stop.signal).then(
      (answer) => {
        keepFor(answer, run, answer.run);
        setAsked({ key, busy: false, answer });
      },
      (error: unknown) => stop.signal.aborted || setAsked({ key, busy: false, error: textOf(error) }),
    );
    return () => stop.abort();
  }, [engine, key]);
  return useMemo(() => {
    if (known !== undefined) return { answer: known, busy: false };
    return asked.key === key ? asked : { busy: true, ...(asked.answer ? { answer: asked.answer } : {}) };
  }, [known, asked, key]);
}

let catalogue: Promise<Catalogue> | undefined;

/** The catalogue, which is asked for once. */
export function useCatalogue(engine: Engine): Asked<Catalogue> {
  const [asked, setAsked] = useState<Asked<Catalogue>>({ busy: true });
  useEffect(() => {
    catalogue ??= engine.catalogue();
    catalogue.then(
      (answer) => setAsked({ answer, busy: false }),
      (error: unknown) => {
        catalogue = undefined;
        setAsked({ error: textOf(error), busy: false });
      },
    );
  }, [engine]);
  return asked;
}

/** An error as one line. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
