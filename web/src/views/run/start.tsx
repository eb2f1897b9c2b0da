// Where a newcomer starts: what the first run is, and what can be done with it.

import { useState } from "preact/hooks";
import { useMoment } from "../../draw/hooks";
import type { Playback } from "../../model/playback";

const kept = "started"; // the reader has closed the hint

export function StartHere({ playback, onOther }: { playback: Playback; onOther: () => void }) {
  const { at, playing } = useMoment(playback);
  const [closed, setClosed] = useState(known);
  if (closed) return null;
  const close = (): void => {
    setClosed(true);
    try {
      localStorage.setItem(kept, "yes");
    } catch {
      // Without storage the hint comes again.
    }
  };
  return (
    <section class="starthere" aria-label="Start here">
      <h2>Start here <button type="button" class="icon close" onClick={close} aria-label="Hide this" title="Hide this">×</button></h2>
      <p>Eight processes stand in a ring. Each knows only its own number, and sends messages to the next one. They must agree on one leader. Watch how they do it.</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => playback.toggle()}>{playing ? "Pause" : at === 0 ? "▶ Play this election" : "▶ Play on"}</button>
        <button type="button" onClick={() => playback.step(1)} disabled={at === playback.length}>One step</button>
        <button type="button" onClick={onOther}>Choose another</button>
        <a href="#/stories/1-swallowing">Follow a story</a>
      </div>
    </section>
  );
}

function known(): boolean {
  try {
    return localStorage.getItem(kept) !== null;
  } catch {
    return false;
  }
}
