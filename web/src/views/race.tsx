// A race: two or three algorithms on the same ring, side by side, with one clock.

import { useEffect, useMemo } from "preact/hooks";
import type { ViewProps } from "../frame";
import { go, writeAddress, type Address } from "../address";
import type { Engine, Run, RunAnswer } from "../engine";
import { Mark } from "../charts/looks";
import { digits } from "../charts/numbers";
import { drive, useMoment } from "../draw/hooks";
import { Network } from "../draw/network";
import { Playback } from "../model/playback";
import { RunModel } from "../model/run";
import { runAddress } from "./run";
import { clockOf, Course, follow, type Clock } from "../story/race";
import { Failed, Going, useAsked } from "./parts/ask";
import { useCatalogue } from "./run/answers";
import { Chips, Choose, Field, Whole } from "./parts/form";

interface Race {
  labels: string[];
  n: number;
  ids: string; // in place of n and an order
  order: string;
  seed: number;
  clock: Clock;
  at: number;
}

const usual = ["lcr", "ring-bully", "peterson"];
const most = 3;

function read(address: Address): Race {
  const q = address.query;
  const number = (name: string, otherwise: number): number => {
    const value = Number(q.get(name) ?? otherwise);
    return Number.isFinite(value) && value >= 0 ? value : otherwise;
  };
  const labels = q.getAll("a").slice(0, most);
  return {
    labels: labels.length > 0 || q.has("none") ? labels : usual,
    n: Math.max(1, Math.round(number("n", 12))),
    ids: q.get("ids") ?? "",
    order: q.get("order") ?? "random",
    seed: Math.max(1, Math.round(number("seed", 1))),
    clock: q.get("clock") === "steps" ? "steps" : "time",
    at: number("at", 0),
  };
}

function addressOf(r: Race): string {
  const query = new URLSearchParams();
  for (const label of r.labels) query.append("a", label);
  if (r.labels.length === 0) query.set("none", "1");
  if (r.ids !== "") query.set("ids", r.ids);
  else {
    query.set("n", String(r.n));
    query.set("order", r.order);
  }
  if (r.seed !== 1) query.set("seed", String(r.seed));
  if (r.clock !== "time") query.set("clock", r.clock);
  if (r.at > 0) query.set("at", String(r.at));
  return writeAddress({ view: "race", query });
}

function runOf(label: string, r: Race): Run {
  const [name = "", parameters] = label.split(/:(.*)/s);
  const ring = r.ids !== "" ? [`--ids=${r.ids.replaceAll(" ", "")}`] : [`--n=${r.n}`, `--order=${r.order}`];
  return { run: [name, ...ring, `--seed=${r.seed}`, ...(parameters === undefined ? [] : [`--param=${parameters}`])] };
}

export function RaceView({ engine, address }: ViewProps) {
  const r = read(address);
  const catalogue = useCatalogue(engine);
  const rings = (catalogue.answer?.algorithms ?? []).filter((a) => a.topology === "ring").map((a) => a.name);
  const change = (to: Partial<Race>): void => go(addressOf({ ...r, at: 0, ...to }), true);
  const runs = r.labels.map((label) => runOf(label, r));
  const asked = useAsked<RunAnswer[]>(r.labels.length === 0 ? undefined : JSON.stringify(runs), (progress, signal) => ask(engine, runs, progress, signal));
  return (
    <section class="view view-race" aria-label="Race">
      <h1>The same ring, one clock</h1>
      <Failed text={catalogue.error} />
      <div class="options">
        <Chips label="Algorithms" words={r.labels} from={rings} most={most} mark={(i) => <Mark look={i} />} onChange={(labels) => change({ labels })} />
        <div class="fields">
          <Field label="identifiers" hint="Clockwise, such as 5,4,3,2,1; empty: an order of 1 to n">
            <input value={r.ids} placeholder="or an order of n" onChange={(e) => change({ ids: e.currentTarget.value.trim() })} />
          </Field>
          {r.ids === "" && <Whole label="n" value={r.n} least={1} most={64} onChange={(n) => change({ n })} />}
          {r.ids === "" && <Choose label="order" value={r.order} from={catalogue.answer?.orders ?? [r.order]} onChange={(order) => change({ order })} />}
          <Whole label="seed" value={r.seed} least={1} most={2 ** 31} onChange={(seed) => change({ seed })} />
          <Choose label="clock" value={r.clock} from={[["time", "units of delay"], ["steps", "one event each"]]} onChange={(clock) => change({ clock: clock as Clock })} hint="Units of delay compare times; one event each compares work" />
        </div>
      </div>
      <Going asked={asked} />
      <Failed text={asked.error} />
      {r.labels.length === 0 && <p class="empty">Add two or three algorithms for rings.</p>}
      {asked.answer !== undefined && asked.error === undefined && asked.answer.length === r.labels.length && !asked.busy && <Track key={JSON.stringify([runs, r.clock])} r={r} runs={runs} answers={asked.answer} />}
    </section>
  );
}

const ask = (engine: Engine, runs: Run[], progress: (text: string) => void, signal: AbortSignal): Promise<RunAnswer[]> => Promise.all(runs.map((run) => engine.run(run, progress, signal)));

function Track({ r, runs, answers }: { r: Race; runs: Run[]; answers: RunAnswer[] }) {
  const courses = useMemo(() => answers.map((a) => new Course(new RunModel(a), r.clock)), [answers]);
  const clock = useMemo(() => clockOf(courses, r.at), [courses]);
  const lanes = useMemo(() => courses.map((c) => new Playback(c.run.length, 0)), [courses]);
  useEffect(() => {
    const stop = follow(clock, courses, lanes);
    const still = drive(clock);
    return () => {
      stop();
      still();
    };
  }, [clock]);
  const { at, playing } = useMoment(clock);
  const usual = useMemo(() => clock.speed, [clock]);
  useEffect(() => {
    if (!playing && at !== r.at) go(addressOf({ ...r, at }), true);
  }, [at, playing]);
  const order = ranks(courses);
  const all = Math.max(1, ...courses.map((c) => c.run.total));
  return (
    <>
      <div class="clock" role="group" aria-label="Clock">
        <button type="button" class="primary" aria-label={playing ? "Pause" : "Play"} onClick={() => clock.toggle()}>{playing ? "❚❚" : "▶"}</button>
        <button type="button" aria-label="Back" onClick={() => clock.step(-1)}>−</button>
        <button type="button" aria-label="Forward" onClick={() => clock.step(1)}>+</button>
        <input type="range" min={0} max={clock.length} step={1} value={at} style={{ "--part": `${(100 * at) / Math.max(1, clock.length)}%` }} aria-label={r.clock === "time" ? "Time" : "Events"} onInput={(e) => clock.seek(e.currentTarget.valueAsNumber)} />
        <label class="speed">
          <span class="unseen">Speed</span>
          <select value={clock.speed / usual} onChange={(e) => clock.setSpeed(usual * Number(e.currentTarget.value))}>
            {paces.map(([pace, text]) => <option value={pace}>{text}</option>)}
          </select>
        </label>
        <output>{r.clock === "time" ? `t = ${digits(at)}` : `${digits(at)} events`} <span class="muted">of {digits(clock.length)}</span></output>
      </div>
      <div class={`lanes of-${courses.length}`}>
        {courses.map((course, i) => (
          <Lane key={i} label={r.labels[i]!} look={i} course={course} lane={lanes[i]!} rank={order[i]!} all={all} at={at} run={runs[i]!} />
        ))}
      </div>
    </>
  );
}

/** Speeds, in that at which a race takes a quarter of a minute. */
const paces: [pace: number, text: string][] = [[0.25, "¼ speed"], [0.5, "½ speed"], [1, "speed 1"], [4, "speed 4"], [16, "speed 16"]];

const places = ["first", "second", "third"];

/** The place of each run: which is done first, with fewer messages if at the same time. */
function ranks(courses: Course[]): number[] {
  const better = (a: Course, b: Course): boolean => a.length < b.length || (a.length === b.length && a.run.total < b.run.total);
  return courses.map((c) => courses.filter((other) => better(other, c)).length);
}

function Lane({ label, look, course, lane, rank, all, at, run }: { label: string; look: number; course: Course; lane: Playback; rank: number; all: number; at: number; run: Run }) {
  const model = course.run;
  const moment = Math.floor(course.x(at));
  const sent = model.classes(moment);
  const done = moment >= model.length;
  const leader = Array.from({ length: model.n }, (_, p) => p).find((p) => model.role(p, moment) === "leader");
  return (
    <section class={`lane${done ? " done" : ""}`} aria-label={label}>
      <h2><Mark look={look} /> {label}</h2>
      <p class="count"><b>{digits(sent.total)}</b> of {digits(model.total)} messages</p>
      <div class="meter" role="img" aria-label={`${sent.total} messages`} title="The line is where this run ends">
        <span style={{ width: `${(100 * sent.total) / all}%`, background: `var(--look-${look})` }} />
        <i style={{ left: `${(100 * model.total) / all}%` }} />
      </div>
      <p class="standing" role="status">
        {done ? `Done ${places[rank] ?? ""}: ${model.names[leader ?? -1] ?? "nothing"} leads, ${digits(sent.election)} election messages` : leader !== undefined ? `${model.names[leader]} leads and announces it` : moment === 0 ? "Not begun" : "Electing"}
      </p>
      <Network run={model} playback={lane} variables={false} />
      <p class="more"><a href={runAddress(run, moment)}>Open this run</a></p>
    </section>
  );
}
