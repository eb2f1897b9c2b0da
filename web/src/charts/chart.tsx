// A chart of numbers over numbers. It shows its numbers at the place of the pointer; the table beside it has them for all readers.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { palette } from "../draw/palette";
import { unit, useSize, useTheme } from "../draw/hooks";
import { looks, symbol } from "./looks";
import { tick } from "./numbers";

/** Points with growing x. */
export interface Series {
  name: string;
  look: number;
  style: "marked" | "alone" | "thin" | "dashed"; // markers with a line, markers alone, or a line
  points: [x: number, y: number][];
}

export interface Axis {
  name: string;
  log: boolean;
  whole?: boolean; // ticks at whole numbers only
}

export interface ChartProps {
  series: Series[];
  x: Axis;
  y: Axis;
  label: string; // for those that do not see it
  at?: number; // a place on the x axis, which a line shows
  onAt?: (x: number) => void; // the pointer is there
}

export function Chart(props: ChartProps) {
  const [ref, width] = useSize<HTMLDivElement>();
  const theme = useTheme();
  const now = useRef(props);
  now.current = props;
  const chart = useRef<uPlot | null>(null);
  const height = Math.round(Math.min(0.45 * innerHeight + 220, Math.max(260, width * 0.56), Math.max(260, innerHeight * 0.62)));
  const shape = JSON.stringify([props.series, props.x, props.y]);
  useEffect(() => {
    const on = ref.current;
    if (on === null || width === 0 || props.series.length === 0) return;
    const made = new uPlot(options(now, width, height), joined(props.series), on);
    chart.current = made;
    return () => {
      chart.current = null;
      made.destroy();
    };
  }, [shape, width, height, theme]);
  useEffect(() => chart.current?.redraw(false), [props.at]);
  return <div class="chart" ref={ref} role="img" aria-label={props.label} style={{ minHeight: `${height}px` }} />;
}

/** All series over all places. */
function joined(series: Series[]): uPlot.AlignedData {
  const xs = [...new Set(series.flatMap((s) => s.points.map(([x]) => x)))].sort((a, b) => a - b);
  return [xs, ...series.map((s) => {
    const at = new Map(s.points);
    return xs.map((x) => at.get(x));
  })] as uPlot.AlignedData;
}

function options(now: { current: ChartProps }, width: number, height: number): uPlot.Options {
  const colours = palette();
  const { series, x, y } = now.current;
  const narrow = width < 480;
  const em = unit();
  const font = `${(narrow ? 11 : 13) * em}px system-ui, sans-serif`;
  const axis = (a: Axis, vertical: boolean): uPlot.Axis => ({
    label: a.name,
    labelFont: `${(narrow ? 12 : 14) * em}px system-ui, sans-serif`,
    labelSize: (narrow ? 18 : 24) * em,
    font,
    stroke: colours.muted,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { stroke: colours.axis, width: 1, size: 4 },
    size: (vertical ? (narrow ? 44 : 60) : narrow ? 26 : 32) * em,
    values: (u, ticks) => named(ticks.map((t) => (t === null ? null : tick(t))), vertical || !a.log ? 1 : (ticks.length * 46 * em) / (u.bbox.width / devicePixelRatio)),
    ...(a.log ? { splits: (_u, _axis, least, most) => logarithmic(least, most), filter: (_u, ticks) => ticks } : {}),
    ...(a.whole === true ? { incrs: [1, 2, 5, 10, 20, 50, 100, 1000] } : {}),
  });
  const scale = (a: Axis, room: number): uPlot.Scale => (a.log ? { distr: 3, log: 10, time: false, range: (_u, least, most) => [least / room, most * room] } : { time: false });
  const looked = looks();
  return {
    width,
    height,
    legend: { show: false },
    padding: [12, narrow ? 8 : 20, 0, 0],
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    scales: { x: scale(x, 1.18), y: { ...scale(y, 1.5), ...(y.log ? {} : { range: (_u, _least, most) => [0, most * 1.06 || 1] }) } },
    axes: [axis(x, false), axis(y, true)],
    series: [
      {},
      ...series.map((s): uPlot.Series => ({
        label: s.name,
        stroke: looked[s.look % looked.length]!,
        width: s.style === "thin" ? 1 : s.style === "dashed" ? 1.5 : 2,
        ...(s.style === "dashed" ? { dash: [6, 5] } : {}),
        ...(s.style === "alone" ? { paths: () => null } : {}),
        alpha: s.style === "thin" || s.style === "dashed" ? 0.85 : 1,
        spanGaps: true,
        points: { show: false },
      })),
    ],
    hooks: {
      drawSeries: [(u, i) => mark(u, series[i - 1]!, i)],
      drawAxes: [(u) => rule(u, now.current.at, colours.axis)],
      setCursor: [
        (u) => {
          const at = u.cursor.idx === null || u.cursor.idx === undefined ? undefined : u.data[0][u.cursor.idx];
          if (at !== undefined && at !== now.current.at) now.current.onAt?.(at);
        },
      ],
    },
  };
}

/** Leaves out names of ticks that would meet: all but each k-th, where there are that many times too many. */
function named(names: (string | null)[], times: number): (string | null)[] {
  const k = Math.ceil(times);
  return names.map((name, i) => (i % k === 0 ? name : null));
}

/** The ticks of a logarithmic axis: powers of ten, and if these are few, their doubles and fives. */
function logarithmic(least: number, most: number): number[] {
  const from = Math.floor(Math.log10(least));
  const to = Math.ceil(Math.log10(most));
  const ticks = (factors: number[]): number[] => Array.from({ length: to - from + 1 }, (_, i) => factors.map((f) => f * 10 ** (from + i))).flat().filter((t) => t >= least && t <= most);
  const tens = ticks([1]);
  return tens.length > 2 ? tens : ticks([1, 2, 5]);
}

/** Draws the markers of a series. */
function mark(u: uPlot, s: Series, index: number): void {
  if (s.style !== "marked" && s.style !== "alone") return;
  const scale = devicePixelRatio;
  const em = unit();
  const looked = looks();
  u.ctx.save();
  u.ctx.fillStyle = looked[s.look % looked.length]!;
  u.ctx.strokeStyle = palette().paper;
  u.ctx.lineWidth = scale;
  u.data[index]!.forEach((value, i) => {
    if (value === null || value === undefined) return;
    const path = symbol(s.look, u.valToPos(u.data[0][i]!, "x", true), u.valToPos(value, "y", true), 4.5 * em * scale);
    u.ctx.fill(path);
    u.ctx.stroke(path);
  });
  u.ctx.restore();
}

/** Draws the line at a place. */
function rule(u: uPlot, at: number | undefined, colour: string): void {
  if (at === undefined) return;
  const x = Math.round(u.valToPos(at, "x", true));
  u.ctx.save();
  u.ctx.strokeStyle = colour;
  u.ctx.lineWidth = devicePixelRatio;
  u.ctx.beginPath();
  u.ctx.moveTo(x, u.bbox.top);
  u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
  u.ctx.stroke();
  u.ctx.restore();
}
