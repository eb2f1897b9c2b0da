// The members with their states and buttons, the commands of the group, and what happened, in words.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Engine } from "../engine";
import { Sign } from "../draw/symbols";
import { shapeOf, type Chosen } from "./drawing";
import { inState, leaderOf, moment, type Line, type Member, type State } from "./group";

/** Gives commands; text is about the last one. */
export interface Commands {
  text: string;
  failed: boolean;
  give: (line: string) => void;
}

export function useCommands(engine: Engine): Commands {
  const [said, say] = useState({ text: "", failed: false });
  return {
    ...said,
    give: (line) => {
      say({ text: line, failed: false });
      engine.act(line).catch((error: unknown) => say({ text: `${line}: ${error instanceof Error ? error.message : String(error)}`, failed: true }));
    },
  };
}

/** A button that gives a command. Its name is the line that one would type. The second click of two quick ones would meet another button. */
function Act({ line, label, commands, disabled }: { line: string; label?: string; commands: Commands; disabled?: boolean }) {
  return (
    <button type="button" aria-label={line} title={line} disabled={disabled ?? false} onClick={(e) => e.detail < 2 && commands.give(line)}>{label ?? line}</button>
  );
}

export function Members({ state, commands }: { state: State; commands: Commands }) {
  const leader = leaderOf(state);
  return (
    <ul class={state.members.length > 8 ? "live-members many" : "live-members"} aria-label="Members">
      {state.members.map((m) => (
        <li key={m.id} class={m.condition} data-member={m.id} data-state={inState(m)}>
          <span class="id">{m.id}</span>
          <span class="state" title={m.pid === undefined ? m.place : `process ${m.pid}, ${m.place}`}><Sign shape={shapeOf(m)} /> {inState(m)}<Details m={m} /></span>
          <span class="lease" data-lease={m.id} />
          {state.acts && <span class="acts">{verbsOf(m, leader, state).map((verb, i) => <Act key={i} line={verb === "resign" ? verb : `${verb} ${m.id}`} label={verb} commands={commands} />)}</span>}
        </li>
      ))}
    </ul>
  );
}

/** The commands that a member can be given now. What undoes a command takes its place, so that the focus stays there. */
function verbsOf(m: Member, leader: Member | undefined, state: State): string[] {
  if (m.condition === "ended") return ["start"];
  if (m.condition === "paused") return ["kill", "resume"];
  const hands = leader !== undefined && state.algorithm !== "bully";
  return ["kill", "pause", "restart", ...(m.slow ? [] : ["slow"]), ...(hands ? [leader.id === m.id ? "resign" : "transfer"] : [])];
}

/** What else is known of a member. */
function Details({ m }: { m: Member }) {
  const all = [
    m.slow && "slow",
    m.witness && "a witness",
    m.standby && "no vote",
    m.unable !== undefined && `may not lead: ${m.unable}`,
    m.problem,
    m.condition === "running" && m.misses !== undefined && `does not hear from ${m.misses.join(", ")}`,
    ...(m.why ?? []),
  ].filter((text): text is string => typeof text === "string" && text !== "");
  return all.length === 0 ? null : <small>{all.join("; ")}</small>;
}

/** The commands that concern more than one member. */
export function GroupCommands({ state, chosen, clear, commands }: { state: State; chosen: Chosen["ids"]; clear: () => void; commands: Commands }) {
  const input = useRef<HTMLInputElement>(null);
  const ids = state.members.map((m) => m.id);
  const side = ids.filter((id) => chosen.has(id));
  const rest = ids.filter((id) => !chosen.has(id));
  const cut = side.length > 0 && rest.length > 0 ? `cut ${side.join(",")} | ${rest.join(",")}` : undefined;
  const none = leaderOf(state) === undefined;
  return (
    <section class="live-commands" aria-label="Commands">
      <p class="row">
        <Act line="kill leader" commands={commands} disabled={none} />
        <Act line="pause leader" commands={commands} disabled={none} />
        {ids.length > 1 && <Act line="cut leader | rest" commands={commands} disabled={none} />}
        <Act line="heal" commands={commands} />
      </p>
      <p class="row">
        {ids.length < 2 ? null : cut === undefined ? (
          <small>To cut the group in two, choose the members of one side in the drawing. A click on a link cuts it alone.</small>
        ) : (
          <>
            <Act line={cut} commands={commands} />
            {side.length === 2 && <Act line={`cut ${side[0]} | ${side[1]}`} commands={commands} />}
            <button type="button" onClick={clear}>choose none</button>
          </>
        )}
      </p>
      <form
        class="row"
        onSubmit={(e) => {
          e.preventDefault();
          const line = input.current!.value.trim();
          if (line !== "") commands.give(line);
          input.current!.value = "";
        }}
      >
        <label for="live-line">Command</label>
        <input id="live-line" ref={input} maxLength={200} placeholder="kill leader" autocomplete="off" spellcheck={false} />
        <button type="submit">Enter</button>
      </form>
      <p class={commands.failed ? "answer failed" : "answer"} role="status">{commands.text === "" ? "" : commands.failed ? commands.text : `› ${commands.text}`}</p>
    </section>
  );
}

export function Log({ lines }: { lines: Line[] }) {
  const list = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    const box = list.current;
    if (box !== null && atEnd.current) box.scrollTop = box.scrollHeight;
  }, [lines]);
  return (
    <section class="live-log" aria-labelledby="live-log">
      <h2 id="live-log">What happened</h2>
      <div
        ref={list}
        role="log"
        aria-labelledby="live-log"
        tabIndex={0}
        onScroll={(e) => {
          const { scrollTop, clientHeight, scrollHeight } = e.currentTarget;
          atEnd.current = scrollTop + clientHeight > scrollHeight - 8;
        }}
      >
        <ol>
          {lines.map((l) => (
            <li key={l.number} class={l.kind} data-line={l.number}>
              <time>{moment(l.at)}</time> <span>{l.kind === "command" ? `› ${l.text}` : l.text}</span>
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}
