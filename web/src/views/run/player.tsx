// The player: a run with its network, controls, diagram, rule and costs. Other views use it, or its parts.

import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useLayoutEffect, useMemo, useState } from "preact/hooks";
import type { Algorithm, Engine, Offer, RunAnswer } from "../../engine";
import { useMoment, usePlayback } from "../../draw/hooks";
import { dashes } from "../../draw/kinds";
import { Network } from "../../draw/network";
import { SpaceTime } from "../../draw/spacetime";
import { Head, Sign, type Shape } from "../../draw/symbols";
import type { Playback } from "../../model/playback";
import { RunModel } from "../../model/run";
import { sentence } from "../../model/story";
import { Controls } from "./controls";
import { Costs, Events, Happened, Knows, Rule } from "./parts";

/** The parts that a player can show. */
export type Part = "network" | "controls" | "happened" | "diagram" | "rule" | "knows" | "costs" | "events";

export interface PlayerProps {
  answer: RunAnswer;
  engine: Engine;
  /** The moment at first: the number of steps taken; 0 by default. A change goes there. */
  at?: number | undefined;
  /** Called with the moment whenever the player rests. */
  onRest?: (at: number) => void;
  /** A playback that the caller drives, in place of the player's own; its length is that of the run. */
  playback?: Playback | undefined;
  /** All by default. */
  parts?: readonly Part[];
  algorithm?: Algorithm | undefined;
  /** Messages that can be delivered next, at the end of a walk. */
  offers?: Offer[] | undefined;
  onChoose?: (offer: Offer) => void;
  onMove?: ((from: number, to: number) => void) | undefined;
  /** Below the network, beside the rule. */
  children?: ComponentChildren;
}

const everything: readonly Part[] = ["network", "controls", "happened", "diagram", "rule", "knows", "costs", "events"];

const models = new WeakMap<RunAnswer, RunModel>();

/** The indexed run of an answer. */
export function useRun(answer: RunAnswer): RunModel {
  return useMemo(() => {
    const run = models.get(answer) ?? new RunModel(answer);
    models.set(answer, run);
    return run;
  }, [answer]);
}

export function Player(props: PlayerProps) {
  const { answer, engine, parts = everything } = props;
  const run = useRun(answer);
  const own = usePlayback(props.playback === undefined ? run.length : 0, props.at);
  const playback = props.playback ?? own;
  const { at, playing } = useMoment(playback);
  const [selected, setSelected] = useState<number | undefined>();
  const has = (part: Part): boolean => parts.includes(part);
  useLayoutEffect(() => {
    if (props.at !== undefined && !playback.playing) playback.reach(props.at);
  }, [props.at, playback, run]);
  useEffect(() => {
    if (!playing) props.onRest?.(at);
  }, [at, playing]);
  const select = useCallback((p: number) => setSelected((was) => (was === p ? undefined : p)), []);
  return (
    <div class="player"><div class="grid">
      {has("network") && (
        <section class="stage" aria-label="Network">
          <Network run={run} playback={playback} selected={selected} onSelect={select} offers={props.offers} {...(props.onChoose ? { onChoose: props.onChoose } : {})} onMove={props.onMove} />
          <Legend run={run} />
          {props.onMove !== undefined && <p class="hint">Drag a process, or press Alt with ↑ or ↓ on it, to change the order of the ring.</p>}
          <p class="unseen" aria-live="polite">{playing ? "Playing" : at === 0 ? "The beginning" : `Step ${at}: ${sentence(run, run.steps[at - 1]!)}`}</p>
        </section>
      )}
      {has("controls") && <Controls playback={playback} time={run.time(at)} />}
      <div class="beside">
        {has("happened") && <Happened run={run} at={at} />}
        {props.children}
        {has("costs") && <Costs run={run} at={at} algorithm={props.algorithm} />}
        {has("rule") && <Rule run={run} at={at} engine={engine} />}
      </div>
      {has("diagram") && <SpaceTime run={run} playback={playback} selected={selected} onSelect={select} />}
      {has("knows") && <Knows run={run} at={at} selected={selected} onSelect={select} />}
      {has("events") && <Events run={run} at={at} onGo={(to) => playback.seek(to)} />}
    </div></div>
  );
}

/** What the symbols mean. */
export function Legend({ run }: { run: RunModel }) {
  const lines = useMemo(() => dashes(run.header), [run]);
  const crashes = useMemo(() => run.steps.some((s) => s.event === "crash"), [run]);
  const roles: [Shape, string][] = [["undecided", "undecided"], ["follower", "follower"], ["leader", "leader"]];
  if (crashes) roles.push(["crash", "crashed"]);
  return (
    <ul class="legend" aria-label="Legend">
      {roles.map(([shape, text]) => <li key={text}><Sign shape={shape} />{text}</li>)}
      {run.header.kinds.map((kind, i) => <li key={kind.name}><Head of={kind.class} dashes={lines[i]} />{kind.name}</li>)}
    </ul>
  );
}
