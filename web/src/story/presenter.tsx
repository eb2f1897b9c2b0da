// What a presenter needs: keys for the stops, a black screen, large type, the whole screen.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

export interface Turns {
  next: () => void;
  back: () => void;
  first: () => void;
  last: () => void;
  again: () => void; // shows the way to this stop once more
}

export interface Presenter {
  black: boolean;
  large: boolean;
}

const keys: [key: string, what: string][] = [
  ["→ or Page Down", "next stop"],
  ["← or Page Up", "back"],
  ["Home, End", "first and last stop"],
  ["R", "play the way here again"],
  ["B", "black screen"],
  ["L", "large type"],
  ["F", "full screen"],
];

/** Hears the presenter's keys, unless a control of the page takes them. */
export function usePresenter(turns: Turns): Presenter {
  const [presenter, set] = useState<Presenter>({ black: false, large: false });
  const now = useRef(turns);
  now.current = turns;
  useEffect(() => {
    const actions: Record<string, (turns: Turns) => void> = {
      ArrowRight: (t) => t.next(),
      PageDown: (t) => t.next(),
      ArrowLeft: (t) => t.back(),
      PageUp: (t) => t.back(),
      Home: (t) => t.first(),
      End: (t) => t.last(),
      r: (t) => t.again(),
      b: () => set((p) => ({ ...p, black: !p.black })),
      ".": () => set((p) => ({ ...p, black: !p.black })),
      l: () => set((p) => ({ ...p, large: !p.large })),
      f: () => void (document.fullscreenElement === null ? document.documentElement.requestFullscreen() : document.exitFullscreen()).catch(() => {}),
      Escape: () => set({ black: false, large: false }),
    };
    const press = (event: KeyboardEvent): void => {
      const on = event.target as Element | null;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || on?.closest("input, select, textarea, [data-keys]")) return;
      const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (action === undefined) return;
      event.preventDefault();
      action(now.current);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return presenter;
}

/** The screen as the presenter wants it. */
export function Screen({ presenter, children }: { presenter: Presenter; children: ComponentChildren }) {
  useEffect(() => {
    document.documentElement.classList.toggle("presenting", presenter.large);
    return () => document.documentElement.classList.remove("presenting");
  }, [presenter.large]);
  return (
    <>
      {children}
      {presenter.black && <div class="black" role="status"><span class="unseen">The screen is black; B shows it again.</span></div>}
    </>
  );
}

export function PresenterKeys() {
  return (
    <details class="keys">
      <summary>Keys</summary>
      <dl>
        {keys.map(([key, what]) => (
          <div><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>
        ))}
      </dl>
    </details>
  );
}
