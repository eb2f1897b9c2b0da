// Questions of a view: what they are answered, how far they are, and what went wrong.

import { useEffect, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import type { Progress } from "../../engine";
import { textOf, type Asked } from "../run/answers";

/** Asks whenever the key changes, and not at all without one. A question that is no longer wanted is cancelled. */
export function useAsked<T>(key: string | undefined, ask: (progress: Progress, signal: AbortSignal, part: (answer: T) => void) => Promise<T>): Asked<T> {
  const [asked, setAsked] = useState<Asked<T> & { key?: string }>({ busy: key !== undefined });
  useEffect(() => {
    if (key === undefined) {
      setAsked({ busy: false });
      return;
    }
    const cancel = new AbortController();
    const show = (change: (was: Asked<T>) => Asked<T>): void => {
      if (!cancel.signal.aborted) setAsked((was) => ({ ...change(was), key }));
    };
    show((was) => (was.answer === undefined ? { busy: true } : { answer: was.answer, busy: true }));
    ask(
      (text) => show((was) => ({ ...was, progress: text })),
      cancel.signal,
      (answer) => show(() => ({ answer, busy: true })),
    ).then(
      (answer) => show(() => ({ answer, busy: false })),
      (error: unknown) => show(() => ({ error: textOf(error), busy: false })),
    );
    return () => cancel.abort();
  }, [key]);
  return asked.key === key ? asked : { ...(asked.answer === undefined ? {} : { answer: asked.answer }), busy: key !== undefined };
}

/** How a question goes, while there is something to tell. It takes its room from the beginning, so that nothing moves. */
export function Going({ asked, children }: { asked: Asked<unknown>; children?: ComponentChildren }) {
  return (
    <div class="going" role="status" aria-live="polite">
      {asked.busy && (
        <>
          <span class="spinner" aria-hidden="true" />
          <span>{asked.progress ?? "One moment …"}</span>
          {children}
        </>
      )}
    </div>
  );
}

/** An error, as one clear line. */
export function Failed({ text }: { text: string | undefined }) {
  return text === undefined ? null : <p class="error banner" role="alert">{text}</p>;
}
