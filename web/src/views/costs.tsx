// What elections cost: messages over the number of processes, phase by phase, and against time. All numbers are the engine's.

import { useState } from "preact/hooks";
import type { ViewProps } from "../frame";
import { go, writeAddress, type Address } from "../address";
import type { Algorithm, CallAnswer, ChartDrawing, Engine } from "../engine";
import { Chart, type Axis, type Series } from "../charts/chart";
import { csv, picture } from "../charts/files";
import { Mark } from "../charts/looks";
import { digits, numberOf } from "../charts/numbers";
import { average, canonical, limit, measured, points, type Of, type Point } from "../charts/points";
import { Failed, Going, useAsked } from "./parts/ask";
import { textOf, useCatalogue, type Asked } from "./run/answers";
import { Check, Chips, Choose, Tabs, Whole } from "./parts/form";
import { useStateOf } from "./parts/state";
import { Command, download } from "./run/export";

/** What the address of the view has. */
interface Costs {
  part: "n" | "phases" | "time";
  labels: string[]; // algorithm:parameter=value
  to: number; // the largest n
  n: number; // of the other parts
  order: string;
  seed: number;
  of: Of;
  each: boolean; // messages per process
  bounds: boolean;
}

const most = 7; // algorithms, as many as there are looks

const usual: Record<Costs["part"], string[]> = {
  n: ["lcr", "ring-bully", "hirschberg-sinclair", "peterson"],
  phases: ["ring-bully", "hirschberg-sinclair", "peterson"],
  time: ["lcr", "peterson", "stop-and-go-p1:c=2", "stop-and-go-p1:c=16", "stop-and-go-p2:a=3/2,c=2", "stop-and-go-p3", "known-size"],
};

const groups: { title: string; labels: string[] }[] = [
  { title: "S1 to S3", labels: usual.n },
  { title: "n log n, one direction", labels: ["peterson", "dolev-klawe-rodeh", "dolev-klawe-rodeh-b", "higham-przytycka", "minmax"] },
  { title: "S5", labels: ["known-size", "stop-and-go-p1", "stop-and-go-p2", "stop-and-go-p3", "stop-and-go-p4", "variable-speeds"] },
];

function read(address: Address): Costs {
  const q = address.query;
  const part = address.rest[0] === "phases" || address.rest[0] === "time" ? address.rest[0] : "n";
  const whole = (name: string, otherwise: number): number => {
    const value = Number(q.get(name));
    return Number.isInteger(value) && value > 0 ? value : otherwise;
  };
  const labels = q.getAll("a").slice(0, most).map(canonical);
  return {
    part,
    labels: labels.length > 0 || q.has("none") ? labels : usual[part],
    to: whole("to", 1 << 20),
    n: whole("n", part === "time" ? 256 : 1024),
    order: q.get("order") ?? "random",
    seed: whole("seed", 1),
    of: q.get("of") === "total" ? "total" : "election",
    each: q.get("each") === "1",
    bounds: q.get("bounds") !== "0",
  };
}

function addressOf(c: Costs): string {
  const query = new URLSearchParams();
  if (c.labels.join() !== usual[c.part].join()) for (const label of c.labels) query.append("a", label);
  if (c.labels.length === 0) query.set("none", "1");
  if (c.part === "n") query.set("to", String(c.to));
  else query.set("n", String(c.n));
  query.set("order", c.order);
  if (c.seed !== 1) query.set("seed", String(c.seed));
  if (c.of === "total") query.set("of", "total");
  if (c.each) query.set("each", "1");
  if (!c.bounds) query.set("bounds", "0");
  return writeAddress({ view: "costs", rest: c.part === "n" ? [] : [c.part], query });
}

export function CostsView({ engine, address }: ViewProps) {
  const c = read(address);
  const catalogue = useCatalogue(engine);
  const known = catalogue.answer?.algorithms ?? [];
  const change = (to: Partial<Costs>): void => go(addressOf({ ...c, ...to }), true);
  const tab = (part: Costs["part"], title: string) => ({
    name: part,
    title,
    href: addressOf({ ...c, part, labels: usual[part], n: part === "time" ? 256 : 1024 }),
  });
  return (
    <section class="view view-costs" aria-label="Costs">
      <div class="bar">
        <h1>What an election costs</h1>
        <Tabs label="Kinds of costs" current={c.part} tabs={[tab("n", "Over n"), tab("phases", "Phase by phase"), tab("time", "Against time")]} />
      </div>
      <Failed text={catalogue.error} />
      <div class="options">
        <Chips label="Algorithms" words={c.labels} from={known.filter((a) => a.count === true).map((a) => a.name)} most={most} mark={(i) => <Mark look={i} />} onChange={(labels) => change({ labels })} />
        <div class="fields">
          {groups.map((g) => <button type="button" class="quiet" onClick={() => change({ labels: g.labels })}>{g.title}</button>)}
          <Choose label="order" value={c.order} from={catalogue.answer?.orders ?? [c.order]} onChange={(order) => change({ order })} hint="The order of identifiers on the ring" />
          {c.order === "random" && <Whole label="seed" value={c.seed} least={1} most={2 ** 31} onChange={(seed) => change({ seed })} />}
          {c.part === "n" ? (
            <Choose label="n up to" value={String(c.to)} from={[[String(1 << 10), "2¹⁰"], [String(1 << 14), "2¹⁴"], [String(1 << 17), "2¹⁷"], [String(1 << 20), "2²⁰"]]} onChange={(to) => change({ to: Number(to) })} />
          ) : (
            <Whole label="n" value={c.n} least={1} most={c.part === "time" ? 1 << 16 : 1 << 20} onChange={(n) => change({ n })} />
          )}
          {c.part === "n" && <Choose label="messages" value={c.of} from={[["election", "of the election"], ["total", "all"]]} onChange={(of) => change({ of: of as Of })} />}
          {c.part === "n" && <Check label="per process" value={c.each} onChange={(each) => change({ each })} />}
          {c.part === "n" && <Check label="bounds" value={c.bounds} onChange={(bounds) => change({ bounds })} hint="The sources' formulas: worst cases dashed, exact averages thin" />}
        </div>
      </div>
      {c.labels.length === 0 ? (
        <p class="empty">Add an algorithm to see what it costs.</p>
      ) : c.part === "n" ? (
        <OverSize engine={engine} c={c} known={known} />
      ) : c.part === "phases" ? (
        <Phases engine={engine} c={c} />
      ) : (
        <AgainstTime engine={engine} c={c} />
      )}
    </section>
  );
}

const compared = (c: Costs, labels: string[], sizes: string, ...more: string[]): string[] => ["compare", ...labels, `--n=${sizes}`, `--order=${c.order}`, "--orders=1", `--seed=${c.seed}`, ...more];

const command = (args: string[]): string => `ringleader ${args.map((word) => word.replace(/^(--[a-z]+)=/, "$1 ")).join(" ")}`;

/** The largest n of algorithms that are simulated, because they have no closed form. */
const simulated = 1024;

/** Asks for the points of all algorithms: small sizes first, so that there is something to see at once. */
async function sized(engine: Engine, c: Costs, known: Algorithm[], signal: AbortSignal, progress: (text: string) => void, part: (found: Point[]) => void): Promise<Point[]> {
  const closed = (label: string): boolean => known.find((a) => a.name === label.split(":")[0])?.count !== false;
  const exact = c.labels.filter(closed);
  const other = c.labels.filter((label) => !closed(label));
  const first = Math.min(c.to, 1 << 14);
  let found: Point[] = [];
  const ask = async (labels: string[], from: number, to: number): Promise<void> => {
    if (labels.length === 0 || from > to) return;
    const answer = await engine.call(compared(c, labels, from === to ? String(to) : `${from}..${to}`), progress, signal);
    found = [...found, ...points(answer.result)];
    part(found);
  };
  await Promise.all([ask(exact, 8, first), ask(other, 8, Math.min(c.to, simulated))]);
  await ask(exact, first * 2, c.to);
  return found;
}

function OverSize({ engine, c, known }: { engine: Engine; c: Costs; known: Algorithm[] }) {
  const key = known.length === 0 ? undefined : JSON.stringify([c.labels, c.to, c.order, c.seed]);
  const asked = useAsked<Point[]>(key, (progress, signal, part) => sized(engine, c, known, signal, progress, part));
  const [hovered, setHovered] = useState<number>();
  const all = asked.answer ?? [];
  const sizes = [...new Set(all.map((p) => p.n))].sort((a, b) => a - b);
  const at = hovered !== undefined && sizes.includes(hovered) ? hovered : sizes.at(-1);
  const per = (value: number | undefined, n: number): number | undefined => (value === undefined ? undefined : c.each ? value / n : value);
  const series = c.labels.flatMap((label, look): Series[] => {
    const own = all.filter((p) => p.algorithm === label).sort((a, b) => a.n - b.n);
    const line = (value: (p: Point) => number | undefined): [number, number][] => own.flatMap((p): [number, number][] => {
      const y = per(value(p), p.n);
      return y === undefined || y <= 0 ? [] : [[p.n, y]];
    });
    const curves: Series[] = c.bounds
      ? [
          { name: `${label}, worst case`, look, style: "dashed", points: line((p) => limit(p, c.of)) },
          { name: `${label}, average`, look, style: "thin", points: c.order === "random" ? line((p) => average(p, c.of)) : [] },
        ]
      : [];
    const exact = curves.some((s) => s.style === "thin" && s.points.length > 0);
    return [...curves, { name: label, look, style: exact ? "alone" as const : "marked" as const, points: line((p) => measured(p, c.of)) }].filter((s) => s.points.length > 0);
  });
  const whole = c.labels.join(" ");
  const x: Axis = { name: "n, processes", log: true };
  const y: Axis = { name: `${c.of === "election" ? "election messages" : "all messages"}${c.each ? " per process" : ""}`, log: true };
  return (
    <>
      <Outcome asked={asked} empty={all.length === 0} />
      <Chart
        series={series}
        x={x}
        y={y}
        label={`Messages over the number of processes on logarithmic axes, for ${whole}. The table below has the numbers.`}
        {...(at === undefined ? {} : { at })}
        onAt={setHovered}
      />
      {at !== undefined && <SizeTable c={c} all={all} sizes={sizes} at={at} onAt={setHovered} />}
      {all.length > 0 && <Exports engine={engine} saved={{ name: "costs", title: c.labels.join(", "), columns: sizeColumns, rows: sizeRows(c, all), x, y, series, call: command(compared(c, c.labels, `8..${c.to}`)) }} />}
    </>
  );
}

const sizeColumns = ["algorithm", "n", "order", "messages", "of", "exact average", "worst case", "formula of the worst case", "found"];

function sizeRows(c: Costs, all: Point[]): unknown[][] {
  return all.map((p) => [p.algorithm, p.n, p.order ?? "", measured(p, c.of), c.of, average(p, c.of), limit(p, c.of), p.bound?.formula, p.found]);
}

function SizeTable({ c, all, sizes, at, onAt }: { c: Costs; all: Point[]; sizes: number[]; at: number; onAt: (n: number) => void }) {
  const row = (label: string): Point | undefined => all.find((p) => p.algorithm === label && p.n === at);
  return (
    <div class="readout">
      <label class="slide">
        <span>n = <b>{digits(at)}</b></span>
        <input type="range" min={0} max={sizes.length - 1} value={sizes.indexOf(at)} style={{ "--part": `${(100 * sizes.indexOf(at)) / Math.max(1, sizes.length - 1)}%` }} aria-label="n" aria-valuetext={`n = ${at}`} onInput={(e) => onAt(sizes[e.currentTarget.valueAsNumber]!)} />
      </label>
      <div class="scroll" role="region" aria-label="Numbers" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">algorithm</th>
              <th scope="col" class="number">{c.of === "election" ? "election messages" : "all messages"}</th>
              <th scope="col" class="number">exact average</th>
              <th scope="col" class="number">worst case</th>
              <th scope="col">formula of the worst case</th>
              <th scope="col">found</th>
            </tr>
          </thead>
          <tbody>
            {c.labels.map((label, look) => {
              const p = row(label);
              return (
                <tr>
                  <th scope="row"><Mark look={look} /> {label}</th>
                  <td class="number">{p === undefined ? "–" : digits(measured(p, c.of))}</td>
                  <td class="number">{p === undefined || c.order !== "random" ? "" : digits(average(p, c.of))}</td>
                  <td class="number">{p === undefined ? "" : digits(limit(p, c.of))}</td>
                  <td class="formula">{p !== undefined && limit(p, c.of) !== undefined ? p.bound?.formula : ""}</td>
                  <td class="muted">{p?.found ?? "not at this n"}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** The words of count for an algorithm with parameters. */
function counted(label: string, c: Costs): string[] {
  const [name = "", parameters] = label.split(/:(.*)/s);
  return ["count", name, `--n=${c.n}`, `--order=${c.order}`, `--seed=${c.seed}`, ...(parameters === undefined ? [] : [`--param=${parameters}`])];
}

interface Counted {
  label: string;
  phases?: number[]; // messages
  entered?: number[]; // the candidates that begin each phase
  total?: number;
  failed?: string;
}

async function counting(engine: Engine, label: string, c: Costs, signal: AbortSignal): Promise<Counted> {
  try {
    const result = (await engine.call(counted(label, c), undefined, signal)).result as { by_phase?: unknown[]; entered_by_phase?: unknown[]; messages?: { election?: unknown } };
    const total = numberOf(result.messages?.election);
    const numbers = (all: unknown[] | undefined): number[] => (all ?? []).map((m) => numberOf(m) ?? 0);
    return { label, ...(result.by_phase ? { phases: numbers(result.by_phase), entered: numbers(result.entered_by_phase) } : {}), ...(total === undefined ? {} : { total }) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { label, failed: textOf(error) };
  }
}

function Phases({ engine, c }: { engine: Engine; c: Costs }) {
  const asked = useAsked<Counted[]>(JSON.stringify([c.labels, c.n, c.order, c.seed]), (_, signal) => Promise.all(c.labels.map((label) => counting(engine, label, c, signal))));
  const all = asked.answer ?? [];
  const [at, setAt] = useState<number>();
  const longest = Math.max(0, ...all.map((r) => r.phases?.length ?? 0));
  const charts = [
    { name: "phases", what: "Messages of each phase", numbers: (r: Counted) => r.phases, y: { name: "election messages of the phase", log: false } },
    { name: "candidates", what: "Candidates that begin each phase", numbers: (r: Counted) => r.entered, y: { name: "candidates that begin the phase", log: true } },
  ];
  const x: Axis = { name: "phase", log: false, whole: true };
  const cells = (numbers: number[] | undefined) => Array.from({ length: longest }, (_, i) => <td class={`number${i === at ? " here" : ""}`}>{digits(numbers?.[i])}</td>);
  return (
    <>
      <Outcome asked={asked} empty={all.length === 0} />
      <div class="charts">
        {longest > 0 && charts.map(({ name, what, numbers, y }) => {
          const series = all.flatMap((r, look): Series[] => {
            const shown = (numbers(r) ?? []).map((m, i): [number, number] => [i, m]).filter(([, m]) => m > 0);
            return shown.length === 0 ? [] : [{ name: r.label, look, style: "marked", points: shown }];
          });
          const rows = all.flatMap((r) => (numbers(r) ?? []).map((m, phase) => [r.label, c.n, c.order, phase, m]));
          return (
            <figure key={name}>
              <Chart series={series} x={x} y={y} label={`${what} on a ring of ${c.n}, for ${c.labels.join(" ")}. The table below has the numbers.`} {...(at === undefined ? {} : { at })} onAt={setAt} />
              <Exports engine={engine} saved={{ name, title: `${what}, n = ${c.n}`, columns: ["algorithm", "n", "order", "phase", y.name], rows, x, y, series }} />
            </figure>
          );
        })}
      </div>
      {all.length > 0 && (
        <div class="readout scroll" role="region" aria-label="Numbers" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">algorithm</th>
                <th scope="col">in each phase</th>
                <th scope="col" class="number">all phases</th>
                {Array.from({ length: longest }, (_, i) => <th scope="col" class={`number${i === at ? " here" : ""}`}>{i}</th>)}
              </tr>
            </thead>
            {all.map((r, look) => (
              <tbody key={r.label}>
                <tr>
                  <th scope="rowgroup" rowSpan={r.phases === undefined ? 1 : 2}><Mark look={look} /> {r.label}</th>
                  <td>messages</td>
                  <td class="number">{digits(r.total)}</td>
                  {r.phases === undefined ? <td class="muted" colSpan={Math.max(1, longest)}>{r.failed ?? "has no phases"}</td> : cells(r.phases)}
                </tr>
                {r.phases !== undefined && <tr class="candidates"><td>candidates</td><td />{cells(r.entered)}</tr>}
              </tbody>
            ))}
          </table>
        </div>
      )}
    </>
  );
}

function AgainstTime({ engine, c }: { engine: Engine; c: Costs }) {
  const args = compared(c, c.labels, String(c.n));
  const asked = useAsked<CallAnswer>(JSON.stringify([c.labels, c.n, c.order, c.seed]), (progress, signal) => engine.call(args, progress, signal));
  const all = asked.answer === undefined ? [] : points(asked.answer.result);
  const place = (p: Point): [number, number][] => {
    const x = numberOf(p.time?.quiet.mean);
    const y = numberOf(p.messages.total);
    return x === undefined || y === undefined || x <= 0 || y <= 0 ? [] : [[x, y]];
  };
  const series = c.labels.map((label, look): Series => ({ name: label, look, style: "alone", points: all.filter((p) => p.algorithm === label).flatMap(place) })).filter((s) => s.points.length > 0);
  const x: Axis = { name: "time until quiet, units of delay", log: true };
  const y: Axis = { name: "messages, including announcements", log: true };
  const [at, setAt] = useState<number>();
  return (
    <>
      <Outcome asked={asked} empty={all.length === 0} />
      {all.length > 0 && (
        <Chart
          series={series}
          x={x}
          y={y}
          label={`Messages against time on a ring of ${c.n}, for ${c.labels.join(" ")}. The table below has the numbers.`}
          {...(at === undefined ? {} : { at })}
          onAt={setAt}
        />
      )}
      {all.length > 0 && (
        <div class="readout scroll" role="region" aria-label="Numbers" tabIndex={0}>
          <p class="muted">Lower left is better: S5 buys fewer messages with more time.</p>
          <table>
            <thead>
              <tr>
                <th scope="col">algorithm</th>
                <th scope="col" class="number">messages</th>
                <th scope="col" class="number">time until elected</th>
                <th scope="col" class="number">until quiet</th>
                <th scope="col">formula of the worst case</th>
                <th scope="col">found</th>
              </tr>
            </thead>
            <tbody>
              {c.labels.map((label, look) => {
                const p = all.find((q) => q.algorithm === label);
                return (
                  <tr class={p !== undefined && at !== undefined && numberOf(p.time?.quiet.mean) === at ? "here" : ""}>
                    <th scope="row"><Mark look={look} /> {label}</th>
                    <td class="number">{digits(numberOf(p?.messages.total))}</td>
                    <td class="number">{digits(numberOf(p?.time?.elected.mean))}</td>
                    <td class="number">{digits(numberOf(p?.time?.quiet.mean))}</td>
                    <td class="formula">{p?.bound === undefined ? "" : `${p.bound.of}: ${p.bound.formula}`}</td>
                    <td class="muted">{p?.found ?? ""}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {all.length > 0 && (
        <Exports
          engine={engine}
          saved={{
            name: "trade",
            title: `Messages against time, n = ${c.n}`,
            columns: ["algorithm", "n", "order", "messages", "time until elected", "time until quiet", "found"],
            rows: all.map((p) => [p.algorithm, p.n, p.order, numberOf(p.messages.total), p.time?.elected.mean, p.time?.quiet.mean, p.found]),
            x,
            y,
            series,
            call: command([...args, "--against=time"]),
          }}
        />
      )}
    </>
  );
}

function Outcome({ asked, empty }: { asked: Asked<unknown>; empty: boolean }) {
  return (
    <>
      <Going asked={asked} />
      <Failed text={asked.error} />
      {!asked.busy && asked.error === undefined && empty && <p class="empty">There is nothing to draw.</p>}
    </>
  );
}

/** What can be saved: a table, and a chart. */
interface Saved {
  name: string;
  title: string;
  columns: string[];
  rows: unknown[][];
  x: Axis;
  y: Axis;
  series: Series[];
  call?: string; // the command that finds the same
}

/** Files of what is shown. The drawing is the engine's, with the look of ringleader compare --draw. */
function Exports({ engine, saved }: { engine: Engine; saved: Saved }) {
  const [failed, setFailed] = useStateOf<string | undefined>(JSON.stringify([saved.title, saved.call]), () => undefined);
  const { name, title, x, y } = saved;
  const drawing: ChartDrawing = {
    title,
    subtitle: saved.series.some((s) => s.style === "dashed" || s.style === "thin") ? "Dashed: worst cases · thin lines: exact averages." : "",
    notes: saved.call ?? "",
    x: { name: x.name, log: x.log },
    y: { name: y.name, log: y.log },
    series: saved.series.map((s) => ({
      name: s.style === "thin" ? "" : s.name,
      look: s.look,
      line: s.style === "marked" ? "joined" : s.style,
      marked: s.style === "marked" || s.style === "alone",
      points: s.points,
    })),
  };
  const draw = async (format: "svg" | "png"): Promise<void> => {
    try {
      const drawn = await engine.chart(drawing);
      download(format === "svg" ? drawn : await picture(drawn), `${name}.${format}`);
    } catch (error) {
      setFailed(textOf(error));
    }
  };
  return (
    <div class="exports">
      <span>Save as</span>
      <button type="button" onClick={() => download(csv(saved.columns, saved.rows), `${name}.csv`)}>CSV</button>
      <button type="button" onClick={() => void draw("svg")}>SVG</button>
      <button type="button" onClick={() => void draw("png")}>PNG</button>
      {saved.call !== undefined && <Command call={saved.call} />}
      <Failed text={failed} />
    </div>
  );
}
