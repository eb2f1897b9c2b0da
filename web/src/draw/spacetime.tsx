// The space–time diagram: a line for each process, time to the right, an arrow for each message. Only what is visible is drawn.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { cone, sizes, type Cone } from "../model/causality";
import type { Step } from "../engine";
import type { Playback } from "../model/playback";
import type { RunModel } from "../model/run";
import { sentence, time } from "../model/story";
import { Timeline } from "../model/timeline";
import { drawDiagram } from "./diagram";
import { cleared, unit, useDrawing, useMoment, useSize, useTheme } from "./hooks";
import { palette } from "./palette";
import { Sign } from "./symbols";

export interface SpaceTimeProps {
  run: RunModel;
  playback: Playback;
  selected?: number | undefined;
  onSelect?: (process: number) => void;
}

export function SpaceTime({ run, playback, selected, onSelect }: SpaceTimeProps) {
  const [box, width] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  const [, setView] = useState(0);
  const [hovered, setHovered] = useState<number | undefined>();
  const [focused, setFocused] = useState(false);
  const line = useMemo(() => new Timeline(run, width, unit()), [run, width]);
  const { at } = useMoment(playback);
  const shown = hovered ?? (focused && at > 0 ? at - 1 : undefined);
  const lit = useMemo(() => (shown === undefined ? undefined : cone(run, shown)), [run, shown]);

  useLayoutEffect(() => {
    const context = cleared(canvas.current, width, line.height);
    if (context !== null) drawDiagram(context, line, width, palette(), lit, selected);
  }, [line, line.left, line.scale, theme, lit, selected]);
  const last = useRef<{ line?: Timeline; x: number }>({ x: -1 });
  useDrawing(
    playback,
    () => {
      if (head.current !== null) head.current.style.transform = `translateX(${Math.max(-2, line.x(playback.x) - line.margin)}px)`;
      const { line: was, x } = last.current;
      last.current = { line, x: playback.x };
      if ((was !== line || x !== playback.x) && line.follow(playback.x, playback.moving)) setView((n) => n + 1);
    },
    [line, line.left, line.scale],
  );

  const marks = useMemo(() => [...new Set(run.steps.map((step) => step.event))].filter((event) => event !== "receive"), [run]);

  const move = (change: () => void): void => {
    change();
    setView((n) => n + 1);
  };
  const zoom = (by: number, x = line.x(playback.x)): void => move(() => line.zoom(by, x));

  const drag = useRef<{ x: number; left: number; moved: boolean } | undefined>(undefined);
  const spot = (event: PointerEvent | WheelEvent): { x: number; y: number } => {
    const bounds = canvas.current!.getBoundingClientRect();
    return { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
  };
  useEffect(() => {
    const element = canvas.current;
    const wheel = (event: WheelEvent): void => {
      if (event.ctrlKey || event.metaKey || document.activeElement === box.current) {
        event.preventDefault();
        zoom(Math.exp(-event.deltaY / 300), spot(event).x);
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        move(() => line.pan((event.shiftKey ? event.deltaY : event.deltaX) / line.scale));
      }
    };
    element?.addEventListener("wheel", wheel, { passive: false });
    return () => element?.removeEventListener("wheel", wheel);
  }, [line]);

  const key = (event: KeyboardEvent): void => {
    const actions: Record<string, () => void> = {
      "+": () => zoom(1.5),
      "=": () => zoom(1.5),
      "-": () => zoom(1 / 1.5),
      "0": () => move(() => line.fit()),
      ArrowUp: () => playback.seek(line.beside(at - 1, -1) + 1),
      ArrowDown: () => playback.seek(line.beside(at - 1, 1) + 1),
    };
    const action = actions[event.key];
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  };

  return (
    <section class="spacetime" aria-label="Space–time diagram">
      <div class="tools">
        <h2>Space–time</h2>
        <span class="hint" aria-live="polite">{lit === undefined ? "hover an event for its causal past and future" : influence(run, lit)}</span>
        <button type="button" onClick={() => zoom(1 / 1.5)} aria-label="Zoom out" title="Zoom out (−)">−</button>
        <button type="button" onClick={() => zoom(1.5)} aria-label="Zoom in" title="Zoom in (+)">+</button>
        <button type="button" onClick={() => move(() => line.fit())} title="The whole run (0)">All</button>
      </div>
      <div
        class="plane"
        ref={box}
        tabIndex={0}
        role="group"
        aria-label={`Diagram of ${run.length} events of ${run.n} processes. Left and right step; up and down go to the nearest event of the process above or below; plus and minus zoom.`}
        style={{ height: `${line.height}px` }}
        onKeyDown={key}
        onFocus={() => setFocused(box.current?.matches(":focus-visible") ?? false)}
        onBlur={() => setFocused(false)}
      >
        <canvas
          ref={canvas}
          style={{ width: `${width}px`, height: `${line.height}px` }}
          aria-hidden="true"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            drag.current = { x: event.clientX, left: line.left, moved: false };
          }}
          onPointerMove={(event) => {
            const from = drag.current;
            if (from === undefined) {
              const { x, y } = spot(event);
              setHovered(line.event(x, y));
            } else if (from.moved || Math.abs(event.clientX - from.x) > 4) {
              from.moved = true;
              move(() => line.go(from.left - (event.clientX - from.x) / line.scale));
            }
          }}
          onPointerUp={(event) => {
            const { x, y } = spot(event);
            if (!drag.current?.moved) {
              const event_ = line.event(x, y);
              const row = line.process(y);
              if (x < line.margin) {
                if (row !== undefined) onSelect?.(row);
              } else {
                playback.seek(event_ === undefined ? Math.round(line.moment(x)) : event_ + 1);
                if (event_ !== undefined) onSelect?.(run.steps[event_]!.process);
              }
            }
            drag.current = undefined;
          }}
          onPointerLeave={() => setHovered(undefined)}
        />
        <div class="ahead" style={{ left: `${line.margin}px` }} aria-hidden="true"><div class="head" ref={head} /></div>
        {hovered !== undefined && lit !== undefined && <Tip line={line} lit={lit} width={width} />}
      </div>
      <ul class="legend" aria-label="Events">
        {marks.map((event) => <li key={event}><Sign shape={event} />{eventNames[event]}</li>)}
      </ul>
    </section>
  );
}

const eventNames: Record<Step["event"], string> = {
  start: "starts", receive: "receives", timeout: "timer expires", crash: "crashes", recover: "recovers", suspect: "suspects", trust: "trusts again",
  command: "is asked", fault: "fault", heal: "healed", lost: "message lost",
};

/** How many events are in the past and the future of an event. */
function influence(run: RunModel, lit: Cone): string {
  const { past, future, concurrent } = sizes(run, lit);
  return `step ${lit.event + 1}: ${past} events before it, ${future} after it, ${concurrent} concurrent`;
}

function Tip({ line, lit, width }: { line: Timeline; lit: Cone; width: number }) {
  const { run } = line;
  const step = run.steps[lit.event]!;
  const x = Math.min(Math.max(8, line.x(lit.event + 0.5) + 14), Math.max(8, width - 300));
  const y = line.y(line.row(lit.event)) + 14;
  return (
    <div class="tip" style={{ left: `${x}px`, top: `${y}px` }}>
      <b>{step.step}{run.header.clock ? ` · time ${time(step.time)}` : ""}</b> {sentence(run, step)}
      <small>{influence(run, lit)}</small>
    </div>
  );
}
