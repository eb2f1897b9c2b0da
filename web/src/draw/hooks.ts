// What drawings need of the browser: sizes, frames, and whether motion is wanted.

import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { RefObject } from "preact";
import { Playback } from "../model/playback";
import { hearTheme } from "./palette";

/** The size of an element in pixels, as it changes. */
export function useSize<E extends HTMLElement>(): [RefObject<E | null>, number, number] {
  const ref = useRef<E>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect;
      setSize((was) => (was.width === width && was.height === height ? was : { width, height }));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, size.width, size.height];
}

/** The size of text relative to the usual one: large windows have large text. */
export function unit(): number {
  return parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
}

/** A number that changes with the theme. */
export function useTheme(): number {
  const [count, next] = useReducer((n: number) => n + 1, 0);
  useEffect(() => hearTheme(() => next(undefined as never)), []);
  return count;
}

/** A canvas of that size in pixels of the style sheet, cleared, or nothing if there is none. */
export function cleared(canvas: HTMLCanvasElement | null, width: number, height: number): CanvasRenderingContext2D | null {
  const context = canvas?.getContext("2d");
  if (!canvas || !context || width === 0 || height === 0) return null;
  const scale = devicePixelRatio;
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Draws at once, and again after each change of the playback. Changes of inputs draw, too. */
export function useDrawing(playback: Playback | undefined, draw: () => void, inputs: unknown[]): void {
  const current = useRef(draw);
  current.current = draw;
  useLayoutEffect(() => current.current(), inputs); // in the frame that has the new inputs
  useLayoutEffect(() => playback?.hear(() => current.current()), [playback]);
}

/** A playback of a run of that length. Frames are requested only while it moves. */
export function usePlayback(length: number, at?: number): Playback {
  const playback = useMemo(() => new Playback(length, at ?? 0), []);
  useMemo(() => playback.resize(length), [length]);
  useLayoutEffect(() => drive(playback), [playback]);
  return playback;
}

/** Lets a playback move with the frames of the browser, until the returned function is called. */
export function drive(playback: Playback): () => void {
  const motion = matchMedia("(prefers-reduced-motion: reduce)");
  let frame = 0;
  let last = 0;
  const tick = (now: number): void => {
    frame = 0;
    const seconds = last === 0 ? 1 / 60 : Math.min(0.25, (now - last) / 1000);
    last = now;
    playback.tick(seconds);
    ask();
  };
  const ask = (): void => {
    playback.still = motion.matches;
    if (!playback.moving) last = 0;
    else if (frame === 0) frame = requestAnimationFrame(tick);
  };
  const stop = playback.hear(ask);
  ask();
  return () => {
    stop();
    cancelAnimationFrame(frame);
  };
}

/** The moment of a playback, and whether it plays; the component is rendered again when these change. */
export function useMoment(playback: Playback): { at: number; playing: boolean } {
  const [, again] = useReducer((n: number) => n + 1, 0);
  const seen = useRef("");
  const now = (): string => `${playback.at} ${playback.playing} ${playback.speed} ${playback.length}`;
  seen.current = now();
  useLayoutEffect(
    () =>
      playback.hear(() => {
        if (now() !== seen.current) again(undefined as never);
      }),
    [playback],
  );
  return { at: playback.at, playing: playback.playing };
}
