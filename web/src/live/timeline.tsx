// The history of leaders: bars from the beginning of each lead to its end, and the times without a leader between them.

import { useEffect, useReducer, useState } from "preact/hooks";
import { useSize } from "../draw/hooks";
import { inWords, moment, passages, type Group, type Passage, type State } from "./group";

const spans = { "10 s": 10_000, "1 min": 60_000, all: Infinity } as const;
type Span = keyof typeof spans;

/** How often a bar that grows is drawn, in ms. */
const growth = 500;

export function Timeline({ group, state }: { group: Group; state: State }) {
  const [span, setSpan] = useState<Span>("10 s");
  const [box, width] = useSize<HTMLDivElement>();
  useGrowth(group, state);
  const now = group.now();
  const all = passages((group.state ?? state).reigns, now); // leases are renewed between two renderings of the page
  return (
    <section class="live-history" aria-labelledby="live-history">
      <header>
        <h2 id="live-history">Leaders</h2>
        <label>
          <span>the last </span>
          <select value={span} onChange={(e) => setSpan(e.currentTarget.value as Span)}>
            {Object.keys(spans).map((name) => <option value={name}>{name}</option>)}
          </select>
        </label>
      </header>
      <div class="live-bars" ref={box}>{width > 0 && <Bars all={all} now={now} span={Math.min(spans[span], Math.max(1000, now))} width={width} />}</div>
      <Table all={all} />
    </section>
  );
}

/** Renders again while a lead goes on and the page is visible. */
function useGrowth(group: Group, state: State): void {
  const [, again] = useReducer((n: number) => n + 1, 0);
  const grows = state.reigns.some((r) => r.goes) && group.problem === "";
  useEffect(() => {
    if (!grows) return;
    const timer = setInterval(() => {
      if (!document.hidden) again(undefined as never);
    }, growth);
    return () => clearInterval(timer);
  }, [grows]);
}

const row = 26;

function Bars({ all, now, span, width: pixels }: { all: Passage[]; now: number; span: number; width: number }) {
  const scale = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16; // letters grow with those of the page
  const width = pixels / scale;
  const start = now - span;
  const shown = all.filter((p) => p.end >= start);
  const leaders = [...new Set(shown.map((p) => p.reign.leader))].sort((a, b) => a.length - b.length || a.localeCompare(b));
  const left = 14 + 8 * Math.max(1, ...leaders.map((id) => Math.min(8, id.length)));
  const x = (t: number): number => left + ((Math.max(start, t) - start) / span) * (width - left - 4);
  const height = Math.max(1, leaders.length) * row;
  return (
    <svg width={pixels} height={(height + 22) * scale} viewBox={`0 0 ${width} ${height + 22}`} role="img" aria-label="The leaders as bars over time; the table below has the same.">
      {ticks(start, now).map((t) => (
        <g key={t}>
          <line class="tick" x1={x(t)} x2={x(t)} y1={0} y2={height} />
          <text class="tick" x={Math.min(width - 16, Math.max(left + 8, x(t)))} y={height + 16}>{`${+(t / 1000).toFixed(3)} s`}</text>
        </g>
      ))}
      {shown.filter((p) => p.gap > 0).map((p) => {
        const [from, to] = [x(p.reign.from - p.gap), x(p.reign.from)];
        return (
          <g key={`gap ${p.reign.from}`} class="gap">
            <rect x={from} y={0} width={Math.max(1, to - from)} height={height} />
            {to - from > 7 * inWords(p.gap).length && <text x={(from + to) / 2} y={11}>{inWords(p.gap)}</text>}
          </g>
        );
      })}
      {leaders.map((id, i) => <text key={id} class="who" x={left - 8} y={i * row + 17}>{id.length > 8 ? `${id.slice(0, 7)}…` : id}</text>)}
      {shown.map((p) => {
        const [from, to] = [x(p.reign.from), x(p.end)];
        const term = p.reign.term === undefined ? "" : `term ${p.reign.term}`;
        return (
          <g key={`${p.reign.leader} ${p.reign.from}`} class={`bar ${p.goes ? "goes" : ""}`}>
            <rect x={from} y={leaders.indexOf(p.reign.leader) * row + 4} width={Math.max(2, to - from)} height={row - 8} rx={3} />
            {to - from > 8 * term.length + 8 && <text x={from + 6} y={leaders.indexOf(p.reign.leader) * row + 17}>{term}</text>}
          </g>
        );
      })}
    </svg>
  );
}

/** Round times between two times, at most eight. */
function ticks(start: number, end: number): number[] {
  const step = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000, 120_000, 300_000, 600_000, 3_600_000].find((s) => (end - start) / s <= 8) ?? 36_000_000;
  const all: number[] = [];
  for (let t = Math.ceil(Math.max(0, start) / step) * step; t <= end; t += step) all.push(t);
  return all;
}

/** The same in numbers, the last one first. */
function Table({ all }: { all: Passage[] }) {
  if (all.length === 0) return <p class="live-none">No member has led so far.</p>;
  return (
    <div class="live-scroll" tabIndex={0} role="region" aria-label="Leaders in numbers">
      <table>
        <thead>
          <tr><th scope="col">leader</th><th scope="col">term</th><th scope="col">from</th><th scope="col">for</th><th scope="col">gap before</th></tr>
        </thead>
        <tbody>
          {all.toReversed().map((p) => (
            <tr key={`${p.reign.leader} ${p.reign.from}`} data-reign={p.reign.leader} data-from={p.reign.from} data-until={p.goes ? "" : p.end}>
              <th scope="row">{p.reign.leader}</th>
              <td>{p.reign.term ?? "–"}</td>
              <td>{p.reign.before ? "before this began" : moment(p.reign.from)}</td>
              <td>{p.goes ? "leads now" : inWords(p.end - p.reign.from)}</td>
              <td class={p.gap < 0 ? "overlap" : ""}>{p.reign.before ? "–" : p.gap < 0 ? `two leaders for ${inWords(-p.gap)}` : inWords(p.gap)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
