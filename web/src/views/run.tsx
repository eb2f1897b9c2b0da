// A run: its form, its player, and the adversary.

import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { getRun, go, putRun, readAddress, writeAddress } from "../address";
import { useMoment, usePlayback } from "../draw/hooks";
import type { Algorithm, Catalogue, Engine, Offer, Run, RunAnswer, RunResult } from "../engine";
import type { ViewProps } from "../frame";
import type { Playback } from "../model/playback";
import type { RunModel } from "../model/run";
import { list } from "../model/story";
import { moved, formOf, split, wordsOf } from "../model/words";
import { Adversary, useWalk } from "./run/adversary";
import { useCatalogue, useRunAnswer } from "./run/answers";
import { Command, Export } from "./run/export";
import { algorithmOf, RunForm } from "./run/form";
import { Player, useRun } from "./run/player";
import { StartHere } from "./run/start";

const first: Run = { run: ["lcr", "--n=8", "--order=random"] };

/** The address of a run, at a moment. */
export function runAddress(run: Run, at?: number): string {
  const query = new URLSearchParams();
  putRun(query, run);
  if (at !== undefined && at > 0) query.set("at", String(at));
  return writeAddress({ view: "run", query });
}

export function RunView({ engine, address }: ViewProps) {
  const run = getRun(address.query) ?? first;
  const moment = /^\d+$/.test(address.query.get("at") ?? "") ? Number(address.query.get("at")) : 0;
  const { answer: catalogue, error: lost } = useCatalogue(engine);
  const { answer, error, progress, busy } = useRunAnswer(engine, run);
  const [open, setOpen] = useState(() => matchMedia("(min-width: 1500px)").matches);
  const waiting = useRef(0);
  const [at, setAt] = useState(moment);
  const query = address.query.toString();
  const current = useRef({ run, query, busy });
  current.current = { run, query, busy };
  const wrote = useRef<string | undefined>(undefined); // the address, if the player has written it
  if (query !== wrote.current) wrote.current = undefined;

  const rest = useCallback((now: number) => {
    const { run, query, busy } = current.current;
    if (busy) return; // the player shows the run before
    setAt(now);
    clearTimeout(waiting.current);
    waiting.current = window.setTimeout(() => {
      if (readAddress(location.hash).query.toString() !== query) return; // the player goes where the new address says
      const to = runAddress(run, now);
      wrote.current = readAddress(to).query.toString();
      go(to, true);
    }, 300);
  }, []);
  useEffect(() => () => clearTimeout(waiting.current), []);

  const show = (next: Run, to = 0): void => {
    clearTimeout(waiting.current);
    setAt(to); // before the player has come there
    go(runAddress(next, to));
  };
  const walk = useWalk(engine, answer, show);
  const walking = answer?.run.choices !== undefined;
  const ids = answer?.header.ids;
  const move = !walking && answer?.header.topology === "ring" && ids !== undefined && ids.length > 1
    ? (from: number, to: number): void => {
        const form = formOf(answer.run.run);
        show({ run: wordsOf({ ...form, ids: moved(ids, from, to).join(","), n: "", order: "" }) });
      }
    : undefined;

  return (
    <div class={`runview${open ? " open" : ""}`}>
      <aside class="setup" aria-label="Choose a run">
        <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>Choose a run</summary>
          {catalogue !== undefined ? (
            <>
              <Scenarios catalogue={catalogue} onRun={show} />
              <RunForm catalogue={catalogue} run={run} onRun={show} />
            </>
          ) : (
            <p class={lost === undefined ? "muted" : "error"}>{lost ?? "Loading …"}</p>
          )}
        </details>
      </aside>
      <div class="shown" aria-busy={busy}>
        {error !== undefined && <p class="error banner" role="alert">{error}</p>}
        {error !== undefined && <p class="ways">This address shows no run. <a href="#/run">Begin with the first one</a>, or choose a run above.</p>}
        {answer === undefined && error === undefined && <p class="loading" role="status">{progress ?? "Running …"}</p>}
        {answer !== undefined && walk !== undefined && error === undefined && (
          <PlayedRun
            key={JSON.stringify(answer.run.run)}
            answer={answer}
            engine={engine}
            catalogue={catalogue}
            at={busy || query === wrote.current ? undefined : moment}
            onRest={rest}
            onChoose={walk.choose}
            onMove={move}
            {...(JSON.stringify(answer.run) === JSON.stringify(first) ? { onOther: () => setOpen(true) } : {})}
          >
            <Adversary engine={engine} walk={walk} at={Math.min(at, answer.steps.length)} />
          </PlayedRun>
        )}
      </div>
    </div>
  );
}

interface PlayedProps {
  answer: RunAnswer;
  engine: Engine;
  catalogue?: Catalogue | undefined;
  at: number | undefined;
  onRest?: (at: number) => void;
  onChoose?: (offer: Offer) => void;
  onMove?: ((from: number, to: number) => void) | undefined;
  /** Opens the form; with it, the page tells a newcomer where to start. */
  onOther?: () => void;
  children?: ComponentChildren;
}

/** A run with its title, its command and its player. */
export function PlayedRun({ answer, engine, catalogue, at, onOther, ...player }: PlayedProps) {
  const run = useRun(answer);
  const playback = usePlayback(run.length, at);
  const algorithm = catalogue && algorithmOf(catalogue, answer.header.algorithm);
  return (
    <>
      <Title run={run} playback={playback} algorithm={algorithm} />
      {onOther !== undefined && <StartHere playback={playback} onOther={onOther} />}
      <div class="bar">
        <Command call={answer.call} />
        {catalogue !== undefined && <Export engine={engine} answer={answer} />}
      </div>
      {answer.call.endsWith(" replay walk.json") && <p class="hint">This walk is too long for a command. First save walk.json: Export, The run for ringleader replay.</p>}
      <Player answer={answer} engine={engine} playback={playback} at={at} algorithm={algorithm} offers={answer.run.choices === undefined ? undefined : answer.next} {...player} />
    </>
  );
}

function Title({ run, playback, algorithm }: { run: RunModel; playback: Playback; algorithm: Algorithm | undefined }) {
  const { header, result } = run;
  const { at } = useMoment(playback);
  const wrong = at === run.length && ((result.violations ?? []).length > 0 || result.leaders.length > 1);
  return (
    <div class="title">
      <h1>{header.title}</h1>
      <p>
        {header.timing} {header.topology} of {header.n}
        {header.schedule !== undefined && `, schedule ${header.schedule}`}
        {algorithm !== undefined && <> · {algorithm.source}</>} · <b class={wrong ? "wrong" : ""}>{standing(run, at)}</b>
      </p>
    </div>
  );
}

/** How a run stands at a moment, in a few words. */
function standing(run: RunModel, at: number): string {
  if (at === 0) return "nothing is decided yet";
  if (at === run.length) return outcome(run.result);
  const leaders = run.names.filter((_, p) => run.role(p, at) === "leader");
  return leaders.length === 0 ? "no leader yet" : `${leaders.length > 1 ? "leaders" : "leader"} ${list(leaders)} so far`;
}

/** How a run ended, in a few words. */
function outcome(result: RunResult): string {
  const [violation] = result.violations ?? [];
  if (violation !== undefined) return violation;
  if (result.leaders.length > 1) return `leaders ${list(result.leaders.map(String))}`;
  if (result.leader !== null) return `leader ${result.leader}${result.agreed ? ", agreed" : ", not agreed"}`;
  return result.complete ? "no leader" : "no leader yet";
}

function Scenarios({ catalogue, onRun }: { catalogue: Catalogue; onRun: (run: Run) => void }) {
  return (
    <details class="scenarios">
      <summary>Scenarios of the sources</summary>
      <ul>
        {catalogue.scenarios.map((s) => (
          <li key={s.name}>
            <button type="button" onClick={() => onRun({ run: s.run.length === 1 ? split(s.run[0]!) : s.run })}>
              <b>{s.source}</b>
              <span>{s.about}</span>
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}
