// Play, pause, steps, speed, and the slider over the run.

import { useLayoutEffect } from "preact/hooks";
import { useMoment } from "../../draw/hooks";
import { time as shortTime } from "../../model/story";
import { speeds, type Playback } from "../../model/playback";

/** The keys of a player, for people. */
export const keys: [string, string][] = [
  ["Space", "play or pause"],
  ["← →", "a step back or forward"],
  ["Shift ← →", "ten steps"],
  ["Home End", "the beginning, the end"],
  ["< >", "slower, faster"],
  ["↑ ↓", "another process"],
];

export function Controls({ playback, time, keyboard = true }: { playback: Playback; time?: string; keyboard?: boolean }) {
  const { at, playing } = useMoment(playback);
  useLayoutEffect(() => (keyboard ? listen(playback) : undefined), [playback, keyboard]);
  const digits = String(playback.length).length;
  return (
    <div class="controls" role="group" aria-label="Player">
      <button type="button" class="icon" onClick={() => playback.seek(0)} disabled={at === 0} aria-label="To the beginning" title="To the beginning (Home)"><Icon d="M5 4V20M19 5L9 12L19 19Z" /></button>
      <button type="button" class="icon" onClick={() => playback.step(-1)} disabled={at === 0} aria-label="Step back" title="Step back (←)"><Icon d="M17 5L7 12L17 19Z" /></button>
      <button type="button" class="icon play" onClick={() => playback.toggle()} disabled={playback.length === 0} aria-label={playing ? "Pause" : "Play"} title={playing ? "Pause (space)" : "Play (space)"}>
        <Icon d={playing ? "M8 5V19M16 5V19" : "M7 4L20 12L7 20Z"} />
      </button>
      <button type="button" class="icon" onClick={() => playback.step(1)} disabled={at === playback.length} aria-label="Step forward" title="Step forward (→)"><Icon d="M7 5L17 12L7 19Z" /></button>
      <button type="button" class="icon" onClick={() => playback.seek(playback.length)} disabled={at === playback.length} aria-label="To the end" title="To the end (End)"><Icon d="M19 4V20M5 5L15 12L5 19Z" /></button>
      <input
        type="range"
        min="0"
        max={playback.length}
        value={at}
        aria-label="Steps taken"
        aria-valuetext={`step ${at} of ${playback.length}`}
        style={{ "--part": `${playback.length === 0 ? 0 : (100 * at) / playback.length}%` }}
        onInput={(event) => playback.seek(Number(event.currentTarget.value))}
      />
      <output class="place" aria-live="off">
        <span style={{ minWidth: `${digits}ch` }}>{at}</span> / {playback.length}
        {time !== undefined && time !== "" && <small> time {shortTime(time)}</small>}
      </output>
      <label class="speed">
        <span class="unseen">Speed</span>
        <select value={playback.speed} onChange={(event) => playback.setSpeed(Number(event.currentTarget.value))}>
          {speeds.map((s) => <option key={s} value={s}>{s} steps/s</option>)}
        </select>
      </label>
    </div>
  );
}

function Icon({ d }: { d: string }) {
  return <svg viewBox="0 0 24 24" aria-hidden="true"><path d={d} /></svg>;
}

/** Listens to the keyboard, until the returned function is called. Keys in fields belong to the fields. */
function listen(playback: Playback): () => void {
  const pressed = (event: KeyboardEvent): void => {
    const from = event.target as HTMLElement;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(from.tagName) || from.isContentEditable) return;
    const by = event.shiftKey ? 10 : 1;
    const nth = speeds.indexOf(playback.speed);
    const actions: Record<string, () => void> = {
      ArrowLeft: () => playback.step(-by),
      ArrowRight: () => playback.step(by),
      Home: () => playback.seek(0),
      End: () => playback.seek(playback.length),
      "<": () => playback.setSpeed(speeds[Math.max(0, nth - 1)]!),
      ">": () => playback.setSpeed(speeds[Math.min(speeds.length - 1, nth + 1)]!),
    };
    if (!/^(BUTTON|A|SUMMARY)$/.test(from.tagName)) actions[" "] = () => playback.toggle();
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}
