// The way from one stop of a story to the next: the run plays, and stops there.

import type { Playback } from "../model/playback";

const seconds = 3.2; // for a long way

/** Plays from a step to another one, or shows it at once if it is not after it or motion is not wanted. It returns how to break off. */
export function travel(playback: Playback, from: number, to: number): () => void {
  const far = to - from;
  if (far <= 0 || far > 400 || playback.still || matchMedia("(prefers-reduced-motion: reduce)").matches) {
    playback.seek(to);
    return () => {};
  }
  playback.seek(from);
  playback.setSpeed(Math.max(2.2, far / seconds));
  playback.play();
  const stop = playback.hear(() => {
    if (!playback.playing) {
      stop(); // the reader has taken over
    } else if (playback.x >= to) {
      stop();
      playback.seek(to);
    }
  });
  return () => {
    stop();
    if (playback.playing) playback.seek(to);
  };
}
