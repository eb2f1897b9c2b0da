// The adversary: from a moment of a run on, the reader chooses what happens next.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Engine, Id, Offer, Run, RunAnswer, RunQuestion, SearchAnswer, SearchQuestion } from "../../engine";
import { heldBack } from "../../model/held";
import { keep, textOf } from "./answers";
import { useRun } from "./player";

/** A walk, and what can be asked of it. */
export interface Walk {
  answer: RunAnswer;
  busy: boolean;
  error: string;
  undone: Run[];
  takeOver: (at: number) => void;
  choose: (offer: Offer) => void;
  /** Makes the events of a typed line. */
  say: (line: string) => void;
  undo: () => void;
  redo: () => void;
  /** Goes on so many times with the first event that can come next. */
  goOn: (count: number) => void;
  show: (run: Run, at: number) => void;
}

/** The walk from an answer on; show goes to another walk, and to a moment of it. */
export function useWalk(engine: Engine, answer: RunAnswer | undefined, show: (run: Run, at: number) => void): Walk | undefined {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const [undone, setUndone] = useState<Run[]>([]);
  const words = JSON.stringify(answer?.run.run);
  useEffect(() => {
    setUndone([]);
    setError("");
  }, [words]);
  if (answer === undefined) return undefined;
  const { run } = answer;
  const ask = (question: RunQuestion, left: Run[], moment?: number): void => {
    if (busy) return;
    setBusy(true);
    setError("");
    engine
      .run(question)
      .then(keep)
      .then(
        (next) => {
          setUndone(left);
          show(next.run, moment ?? next.steps.length);
        },
        (failure: unknown) => setError(textOf(failure)),
      )
      .finally(() => setBusy(false));
  };
  return {
    answer,
    busy,
    error,
    undone,
    show,
    takeOver: (at) => ask({ ...run, walk: true, until: at }, []),
    choose: (offer) => ask({ ...run, then: [offer.choice] }, []),
    say: (line) => ask({ ...run, say: line }, []),
    undo: () => ask({ run: run.run, choices: run.choices?.slice(0, -1) ?? [] }, [run, ...undone]),
    redo: () => undone[0] !== undefined && ask(undone[0], undone.slice(1)),
    goOn: (count) => ask({ ...run, go: count }, [], count === 1 ? undefined : answer.steps.length),
  };
}

const mostOffers = 60;
const mostHeld = 6;
const mostGoing = 1000;

export function Adversary({ engine, walk, at }: { engine: Engine; walk: Walk; at: number }) {
  const { answer, busy, error, undone } = walk;
  const { choices } = answer.run;
  if (choices === undefined || at < answer.steps.length) {
    return (
      <section class="adversary" aria-label="You are the adversary">
        <h2>You are the adversary</h2>
        <p class="muted">Choose yourself what happens next: which message is delivered, which process crashes.</p>
        <div class="buttons">
          <button type="button" class="primary" disabled={busy} onClick={() => walk.takeOver(at)}>Take over here{at > 0 && `, after step ${at}`}</button>
          {choices !== undefined && <button type="button" onClick={() => walk.show(answer.run, answer.steps.length)}>To the end of the walk</button>}
        </div>
        {error !== "" && <p class="error" role="alert">{error}</p>}
      </section>
    );
  }
  const next = answer.next ?? [];
  return (
    <section class="adversary" aria-label="You are the adversary" aria-busy={busy}>
      <h2>You are the adversary</h2>
      <div class="buttons">
        <button type="button" disabled={choices.length === 0} onClick={walk.undo} title="Undo the last choice">Undo</button>
        <button type="button" disabled={undone.length === 0} onClick={walk.redo}>Redo</button>
        <button type="button" disabled={next.length === 0} onClick={() => walk.goOn(1)}>Any</button>
        <button type="button" disabled={next.length === 0} onClick={() => walk.goOn(mostGoing)} title="The first event that can come next, again and again">To the end</button>
      </div>
      {error !== "" && <p class="error" role="alert">{error}</p>}
      <h3>What comes next?</h3>
      {next.length === 0 ? <p class="muted">The run is quiescent: only faults are possible.</p> : <Offers offers={next} busy={busy} onChoose={walk.choose} />}
      <Held answer={answer} />
      <Faults offers={answer.faults ?? []} ids={answer.header.ids ?? []} busy={busy} onChoose={walk.choose} onSay={walk.say} />
      <Search engine={engine} walk={walk} />
    </section>
  );
}

function Offers({ offers, busy, onChoose }: { offers: Offer[]; busy: boolean; onChoose: (offer: Offer) => void }) {
  return (
    <ol class="offers">
      {offers.slice(0, mostOffers).map((offer) => (
        <li key={offer.text}><button type="button" disabled={busy} onClick={() => onChoose(offer)}>{offer.text}</button></li>
      ))}
      {offers.length > mostOffers && <li class="muted">… and {offers.length - mostOffers} more: click messages in the network.</li>}
    </ol>
  );
}

/** The messages that are under way and cannot arrive now, by the reason. */
function Held({ answer }: { answer: RunAnswer }) {
  const run = useRun(answer);
  const held = useMemo(() => [...heldBack(run, answer.next ?? [])], [run]);
  if (held.length === 0) return null;
  return (
    <details class="held" open>
      <summary>Under way, but not next</summary>
      {held.map(([why, messages]) => (
        <p key={why}>
          {why} <span class="muted">{messages.slice(0, mostHeld).map((m) => `${run.label(m)} from ${run.names[run.from[m]!]} to ${run.names[run.to[m]!]}`).join("; ")}{messages.length > mostHeld && ` … and ${messages.length - mostHeld} more`}</span>
        </p>
      ))}
    </details>
  );
}

const groups: [string, RegExp][] = [
  ["Crash and recover", / (crashes|recovers)$/],
  ["Suspect and trust", / (suspects|trusts) /],
  ["Lose and duplicate", /^(lose|duplicate) /],
  ["Cut and heal", /^(partition|cut) /],
  ["Ask", /./],
];

function Faults({ offers, ids, busy, onChoose, onSay }: { offers: Offer[]; ids: readonly Id[]; busy: boolean; onChoose: (offer: Offer) => void; onSay: (line: string) => void }) {
  const [search, setSearch] = useState("");
  if (offers.length === 0) return null;
  const words = search.toLowerCase().split(/\s+/);
  const left = new Set(offers);
  return (
    <details class="faults">
      <summary>Faults</summary>
      {offers.length > 12 && <input type="search" value={search} placeholder="3 crashes, cut 1 -> 2" aria-label="Search the faults" onInput={(event) => setSearch(event.currentTarget.value)} />}
      {groups.map(([name, pattern]) => {
        const own = [...left].filter((o) => pattern.test(o.text));
        for (const o of own) left.delete(o);
        const found = own.filter((o) => words.every((w) => o.text.toLowerCase().includes(w)));
        if (found.length === 0) return null;
        return (
          <details key={name} open={search !== "" || offers.length <= 12}>
            <summary>{name} <small>{found.length}</small></summary>
            <Offers offers={found} busy={busy} onChoose={onChoose} />
          </details>
        );
      })}
      {ids.length > 2 && <Divide ids={ids} busy={busy} onSay={onSay} />}
    </details>
  );
}

/** A field for cuts that are not in the list: those into two or more groups. */
function Divide({ ids, busy, onSay }: { ids: readonly Id[]; busy: boolean; onSay: (line: string) => void }) {
  const half = Math.floor(ids.length / 2);
  const example = `partition ${ids.slice(0, half).join(",")} | ${ids.slice(half).join(",")}`;
  const [line, setLine] = useState("");
  return (
    <form
      class="divide"
      onSubmit={(event) => {
        event.preventDefault();
        onSay(line.trim() === "" ? example : line.trim());
      }}
    >
      <label for="divide">Another cut</label>
      <input id="divide" value={line} placeholder={example} maxLength={2000} autocomplete="off" spellcheck={false} onInput={(event) => setLine(event.currentTarget.value)} />
      <button type="submit" disabled={busy}>Cut</button>
    </form>
  );
}

const goals: Record<SearchQuestion["goal"], string> = { worst: "Worst from here", "two-leaders": "Two leaders from here?" };

function Search({ engine, walk }: { engine: Engine; walk: Walk }) {
  const { answer } = walk;
  const [goal, setGoal] = useState<SearchQuestion["goal"] | undefined>();
  const [progress, setProgress] = useState("");
  const [found, setFound] = useState<SearchAnswer | string | undefined>();
  const stop = useRef<AbortController | undefined>(undefined);
  const key = JSON.stringify(answer.run);
  useEffect(() => {
    setFound(undefined);
    return () => stop.current?.abort();
  }, [key]);
  const search = async (wanted: SearchQuestion["goal"]): Promise<void> => {
    const own = new AbortController();
    stop.current?.abort();
    stop.current = own;
    setGoal(wanted);
    setFound(undefined);
    setProgress("");
    try {
      setFound(await engine.search({ ...answer.run, goal: wanted }, setProgress, own.signal));
    } catch (failure) {
      if (!own.signal.aborted) setFound(textOf(failure));
    }
    if (stop.current === own) setGoal(undefined);
  };
  return (
    <div class="search">
      <h3>Ask the checker</h3>
      <div class="buttons">
        {(Object.keys(goals) as SearchQuestion["goal"][]).map((g) => (
          <button type="button" key={g} disabled={goal !== undefined} onClick={() => search(g)}>{goals[g]}</button>
        ))}
        {goal !== undefined && <button type="button" onClick={() => { stop.current?.abort(); setGoal(undefined); }}>Stop</button>}
      </div>
      <div aria-live="polite">
        {goal !== undefined && <p class="muted busy">{progress === "" ? "Searching …" : progress}</p>}
        {typeof found === "string" && <p class="error">{found}</p>}
        {typeof found === "object" && (
          <p>
            {found.detail} <small class="muted">{found.states.toLocaleString("en")} states{found.exhausted ? ", all that can happen" : ""}</small>
          </p>
        )}
      </div>
      {typeof found === "object" && found.run !== undefined && (
        <button type="button" class="primary" onClick={() => walk.show(found.run!, answer.steps.length)}>Show it</button>
      )}
    </div>
  );
}
