// A live group: its drawing, its members, the history of its leaders, and what happened.

import { useEffect, useMemo, useReducer, useState } from "preact/hooks";
import type { Engine } from "../engine";
import type { ViewProps } from "../frame";
import { Absent } from "../live/absent";
import { Sign } from "../draw/symbols";
import { Drawing } from "../live/drawing";
import { Group, leaderOf, type State } from "../live/group";
import { GroupCommands, Log, Members, useCommands } from "../live/panel";
import { Timeline } from "../live/timeline";

export function LiveView({ engine }: ViewProps) {
  const [live, setLive] = useState<boolean | string>("…");
  useEffect(() => {
    engine.catalogue().then((c) => setLive(c.live), (error: unknown) => setLive(error instanceof Error ? error.message : String(error)));
  }, [engine]);
  if (live === false) return <Absent />;
  return live === true ? <Shown engine={engine} /> : <p role="status">{live}</p>;
}

function Shown({ engine }: { engine: Engine }) {
  const group = useMemo(() => new Group("api/live"), []);
  const [, again] = useReducer((n: number) => n + 1, 0);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const commands = useCommands(engine);
  useEffect(() => {
    const stop = group.hear(() => again(undefined as never));
    const close = group.open();
    return () => {
      close();
      stop();
    };
  }, [group]);
  const { state } = group;
  if (state === undefined) return <p role="status">{group.problem}</p>;
  const toggle = (id: string): void => setChosen((was) => new Set(was.has(id) ? [...was].filter((other) => other !== id) : [...was, id]));
  return (
    <div class={`live ${group.problem === "" ? "" : "lost"}`}>
      <header>
        <h1>{state.title}</h1>
        <p class="summary" data-summary>
          {summary(state)} {state.algorithm !== undefined && <small>{state.algorithm === "bully" ? "bully: no leases, and each side of a cut has a leader" : state.algorithm}</small>}
        </p>
        {group.problem !== "" && <p class="problem" role="alert">{group.problem}</p>}
      </header>
      <div class="live-grid">
        <section class="live-picture" aria-label="Drawing">
          <Drawing group={group} state={state} chosen={{ ids: chosen, toggle }} onLink={(a, b, isCut) => commands.give(isCut ? "heal" : `cut ${a} | ${b}`)} />
          <Legend state={state} />
        </section>
        <section class="live-panel" aria-label="Members and commands">
          <Members state={state} commands={commands} />
          {state.acts && <GroupCommands state={state} chosen={chosen} clear={() => setChosen(new Set())} commands={commands} />}
        </section>
        <Timeline group={group} state={state} />
        <Log lines={group.lines} />
      </div>
    </div>
  );
}

function Legend({ state }: { state: State }) {
  return (
    <ul class="legend" aria-label="Symbols">
      <li><Sign shape="leader" /> leader</li>
      {state.members.some((m) => m.lease !== undefined) && <li><span class="ring" /> what is left of its lease, until it is renewed</li>}
      {state.members.some((m) => m.grants !== undefined) && <li><span class="line" /> and of each vote for it</li>}
      <li><span class="line thin" /> follows</li>
      <li><Sign shape="paused" /> paused</li>
      <li><Sign shape="crashed" /> not running</li>
    </ul>
  );
}

/** The group in a sentence. */
function summary(state: State): string {
  const leaders = state.members.filter((m) => m.condition === "running" && m.role === "leader");
  const leader = leaderOf(state);
  if (leaders.length > 1) return `${leaders.map((m) => m.id).join(" and ")} lead, on their word.`;
  if (leader === undefined) return "No member is known to lead.";
  const followers = state.members.filter((m) => m.condition === "running" && m.leader === leader.id && m.id !== leader.id).length;
  const term = leader.term === undefined ? "" : ` in term ${leader.term}`;
  if (state.members.length === 1) return `${leader.id} leads${term}, alone.`;
  return `${leader.id} leads${term}; ${followers} of ${state.members.length - 1} ${state.members.length === 2 ? "other member follows" : "other members follow"} it.`;
}
